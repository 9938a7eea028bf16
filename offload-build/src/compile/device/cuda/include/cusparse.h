// Declarations of cuSPARSE; functions for the host that name it are checked and left out of images. A program that calls it
// links the library: https://docs.nvidia.com/cuda/cusparse/
#pragma once
#include <offload_names_begin.h>
#include <cuComplex.h>
#include <library_types.h>
typedef struct cusparseContext *cusparseHandle_t;
typedef struct cusparseMatDescr *cusparseMatDescr_t;
typedef struct csrilu02Info *csrilu02Info_t;
typedef struct csric02Info *csric02Info_t;
typedef struct cusparseSpVecDescr *cusparseSpVecDescr_t;
typedef struct cusparseDnVecDescr *cusparseDnVecDescr_t;
typedef struct cusparseSpMatDescr *cusparseSpMatDescr_t;
typedef struct cusparseDnMatDescr *cusparseDnMatDescr_t;
typedef const struct cusparseSpVecDescr *cusparseConstSpVecDescr_t;
typedef const struct cusparseDnVecDescr *cusparseConstDnVecDescr_t;
typedef const struct cusparseSpMatDescr *cusparseConstSpMatDescr_t;
typedef const struct cusparseDnMatDescr *cusparseConstDnMatDescr_t;
typedef struct cusparseSpSVDescr *cusparseSpSVDescr_t;
typedef struct cusparseSpSMDescr *cusparseSpSMDescr_t;
typedef struct cusparseSpGEMMDescr *cusparseSpGEMMDescr_t;
typedef enum {
  CUSPARSE_STATUS_SUCCESS = 0,
  CUSPARSE_STATUS_NOT_INITIALIZED = 1,
  CUSPARSE_STATUS_ALLOC_FAILED = 2,
  CUSPARSE_STATUS_INVALID_VALUE = 3,
  CUSPARSE_STATUS_ARCH_MISMATCH = 4,
  CUSPARSE_STATUS_MAPPING_ERROR = 5,
  CUSPARSE_STATUS_EXECUTION_FAILED = 6,
  CUSPARSE_STATUS_INTERNAL_ERROR = 7,
  CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
  CUSPARSE_STATUS_ZERO_PIVOT = 9,
  CUSPARSE_STATUS_NOT_SUPPORTED = 10,
  CUSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11
} cusparseStatus_t;
typedef enum { CUSPARSE_POINTER_MODE_HOST, CUSPARSE_POINTER_MODE_DEVICE } cusparsePointerMode_t;
typedef enum { CUSPARSE_ACTION_SYMBOLIC, CUSPARSE_ACTION_NUMERIC } cusparseAction_t;
typedef enum {
  CUSPARSE_MATRIX_TYPE_GENERAL,
  CUSPARSE_MATRIX_TYPE_SYMMETRIC,
  CUSPARSE_MATRIX_TYPE_HERMITIAN,
  CUSPARSE_MATRIX_TYPE_TRIANGULAR
} cusparseMatrixType_t;
typedef enum { CUSPARSE_FILL_MODE_LOWER, CUSPARSE_FILL_MODE_UPPER } cusparseFillMode_t;
typedef enum { CUSPARSE_DIAG_TYPE_NON_UNIT, CUSPARSE_DIAG_TYPE_UNIT } cusparseDiagType_t;
typedef enum { CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_INDEX_BASE_ONE } cusparseIndexBase_t;
typedef enum {
  CUSPARSE_OPERATION_NON_TRANSPOSE,
  CUSPARSE_OPERATION_TRANSPOSE,
  CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE
} cusparseOperation_t;
typedef enum { CUSPARSE_SOLVE_POLICY_NO_LEVEL, CUSPARSE_SOLVE_POLICY_USE_LEVEL } cusparseSolvePolicy_t;
typedef enum { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 } cusparseIndexType_t;
typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 } cusparseOrder_t;
typedef enum { CUSPARSE_SPMAT_FILL_MODE, CUSPARSE_SPMAT_DIAG_TYPE } cusparseSpMatAttribute_t;
typedef enum {
  CUSPARSE_SPMV_ALG_DEFAULT = 0,
  CUSPARSE_SPMV_COO_ALG1 = 1,
  CUSPARSE_SPMV_CSR_ALG1 = 2,
  CUSPARSE_SPMV_CSR_ALG2 = 3,
  CUSPARSE_SPMV_COO_ALG2 = 4
} cusparseSpMVAlg_t;
typedef enum {
  CUSPARSE_SPMM_ALG_DEFAULT = 0,
  CUSPARSE_SPMM_COO_ALG1 = 1,
  CUSPARSE_SPMM_COO_ALG2 = 2,
  CUSPARSE_SPMM_COO_ALG3 = 3,
  CUSPARSE_SPMM_CSR_ALG1 = 4,
  CUSPARSE_SPMM_CSR_ALG2 = 6,
  CUSPARSE_SPMM_CSR_ALG3 = 12
} cusparseSpMMAlg_t;
typedef enum { CUSPARSE_SPSV_ALG_DEFAULT } cusparseSpSVAlg_t;
typedef enum { CUSPARSE_SPSM_ALG_DEFAULT } cusparseSpSMAlg_t;
typedef enum { CUSPARSE_SDDMM_ALG_DEFAULT } cusparseSDDMMAlg_t;
typedef enum {
  CUSPARSE_SPGEMM_DEFAULT = 0,
  CUSPARSE_SPGEMM_ALG1 = 3,
  CUSPARSE_SPGEMM_ALG2 = 4,
  CUSPARSE_SPGEMM_ALG3 = 5
} cusparseSpGEMMAlg_t;
typedef enum {
  CUSPARSE_SPARSETODENSE_ALG_DEFAULT
} cusparseSparseToDenseAlg_t;
typedef enum { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT } cusparseDenseToSparseAlg_t;
#define __OFFLOAD_CUSPARSE extern __attribute__((host)) cusparseStatus_t
extern "C" {
extern __attribute__((host)) const char *cusparseGetErrorString(cusparseStatus_t status);
extern __attribute__((host)) const char *cusparseGetErrorName(cusparseStatus_t status);
__OFFLOAD_CUSPARSE cusparseCreate(cusparseHandle_t *handle);
__OFFLOAD_CUSPARSE cusparseDestroy(cusparseHandle_t handle);
__OFFLOAD_CUSPARSE cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream);
__OFFLOAD_CUSPARSE cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode);
__OFFLOAD_CUSPARSE cusparseCreateMatDescr(cusparseMatDescr_t *matrix);
__OFFLOAD_CUSPARSE cusparseDestroyMatDescr(cusparseMatDescr_t matrix);
__OFFLOAD_CUSPARSE cusparseSetMatType(cusparseMatDescr_t matrix, cusparseMatrixType_t type);
__OFFLOAD_CUSPARSE cusparseSetMatFillMode(cusparseMatDescr_t matrix, cusparseFillMode_t mode);
__OFFLOAD_CUSPARSE cusparseSetMatDiagType(cusparseMatDescr_t matrix, cusparseDiagType_t type);
__OFFLOAD_CUSPARSE cusparseSetMatIndexBase(cusparseMatDescr_t matrix, cusparseIndexBase_t base);
__OFFLOAD_CUSPARSE cusparseCreateCsrilu02Info(csrilu02Info_t *info);
__OFFLOAD_CUSPARSE cusparseDestroyCsrilu02Info(csrilu02Info_t info);
__OFFLOAD_CUSPARSE cusparseCreateCsric02Info(csric02Info_t *info);
__OFFLOAD_CUSPARSE cusparseDestroyCsric02Info(csric02Info_t info);
__OFFLOAD_CUSPARSE cusparseXcsrilu02_zeroPivot(cusparseHandle_t handle, csrilu02Info_t info, int *position);
__OFFLOAD_CUSPARSE cusparseXcsric02_zeroPivot(cusparseHandle_t handle, csric02Info_t info, int *position);
#define __OFFLOAD_SPARSE(NAME, INFO, T, L) \
  __OFFLOAD_CUSPARSE cusparse##L##NAME##_bufferSize(cusparseHandle_t handle, int m, int nnz, \
                                                    const cusparseMatDescr_t matrix, T *values, const int *rows, \
                                                    const int *columns, INFO info, int *size); \
  __OFFLOAD_CUSPARSE cusparse##L##NAME##_analysis(cusparseHandle_t handle, int m, int nnz, \
                                                  const cusparseMatDescr_t matrix, const T *values, const int *rows, \
                                                  const int *columns, INFO info, cusparseSolvePolicy_t policy, \
                                                  void *memory); \
  __OFFLOAD_CUSPARSE cusparse##L##NAME(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t matrix, \
                                       T *values, const int *rows, const int *columns, INFO info, \
                                       cusparseSolvePolicy_t policy, void *memory);
__OFFLOAD_SPARSE(csrilu02, csrilu02Info_t, float, S) __OFFLOAD_SPARSE(csrilu02, csrilu02Info_t, double, D)
__OFFLOAD_SPARSE(csric02, csric02Info_t, float, S) __OFFLOAD_SPARSE(csric02, csric02Info_t, double, D)
#undef __OFFLOAD_SPARSE
__OFFLOAD_CUSPARSE cusparseCreateSpVec(cusparseSpVecDescr_t *vector, long size, long nnz, void *indices, void *values,
                                       cusparseIndexType_t type, cusparseIndexBase_t base, cudaDataType values_type);
__OFFLOAD_CUSPARSE cusparseDestroySpVec(cusparseConstSpVecDescr_t vector);
__OFFLOAD_CUSPARSE cusparseCreateDnVec(cusparseDnVecDescr_t *vector, long size, void *values, cudaDataType type);
__OFFLOAD_CUSPARSE cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector);
__OFFLOAD_CUSPARSE cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void *values);
__OFFLOAD_CUSPARSE cusparseCreateCsr(cusparseSpMatDescr_t *matrix, long rows, long columns, long nnz, void *offsets,
                                     void *indices, void *values, cusparseIndexType_t offsets_type,
                                     cusparseIndexType_t indices_type, cusparseIndexBase_t base,
                                     cudaDataType values_type);
__OFFLOAD_CUSPARSE cusparseCreateCsc(cusparseSpMatDescr_t *matrix, long rows, long columns, long nnz, void *offsets,
                                     void *indices, void *values, cusparseIndexType_t offsets_type,
                                     cusparseIndexType_t indices_type, cusparseIndexBase_t base,
                                     cudaDataType values_type);
__OFFLOAD_CUSPARSE cusparseCreateCoo(cusparseSpMatDescr_t *matrix, long rows, long columns, long nnz, void *row_indices,
                                     void *indices, void *values, cusparseIndexType_t type, cusparseIndexBase_t base,
                                     cudaDataType values_type);
__OFFLOAD_CUSPARSE cusparseCsrSetPointers(cusparseSpMatDescr_t matrix, void *offsets, void *indices, void *values);
__OFFLOAD_CUSPARSE cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix);
__OFFLOAD_CUSPARSE cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, long *rows, long *columns, long *nnz);
__OFFLOAD_CUSPARSE cusparseSpMatSetAttribute(cusparseSpMatDescr_t matrix, cusparseSpMatAttribute_t attribute, void *data,
                                             size_t size);
__OFFLOAD_CUSPARSE cusparseCreateDnMat(cusparseDnMatDescr_t *matrix, long rows, long columns, long ld, void *values,
                                       cudaDataType type, cusparseOrder_t order);
__OFFLOAD_CUSPARSE cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix);
#define __OFFLOAD_SPMV \
  cusparseHandle_t handle, cusparseOperation_t op, const void *alpha, cusparseConstSpMatDescr_t a, \
      cusparseConstDnVecDescr_t x, const void *beta, cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t algorithm
__OFFLOAD_CUSPARSE cusparseSpMV_bufferSize(__OFFLOAD_SPMV, size_t *size);
__OFFLOAD_CUSPARSE cusparseSpMV_preprocess(__OFFLOAD_SPMV, void *memory);
__OFFLOAD_CUSPARSE cusparseSpMV(__OFFLOAD_SPMV, void *memory);
#undef __OFFLOAD_SPMV
#define __OFFLOAD_SPMM \
  cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void *alpha, \
      cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseDnMatDescr_t c, \
      cudaDataType type, cusparseSpMMAlg_t algorithm
__OFFLOAD_CUSPARSE cusparseSpMM_bufferSize(__OFFLOAD_SPMM, size_t *size);
__OFFLOAD_CUSPARSE cusparseSpMM_preprocess(__OFFLOAD_SPMM, void *memory);
__OFFLOAD_CUSPARSE cusparseSpMM(__OFFLOAD_SPMM, void *memory);
#undef __OFFLOAD_SPMM
#define __OFFLOAD_SDDMM \
  cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void *alpha, \
      cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseSpMatDescr_t c, \
      cudaDataType type, cusparseSDDMMAlg_t algorithm
__OFFLOAD_CUSPARSE cusparseSDDMM_bufferSize(__OFFLOAD_SDDMM, size_t *size);
__OFFLOAD_CUSPARSE cusparseSDDMM_preprocess(__OFFLOAD_SDDMM, void *memory);
__OFFLOAD_CUSPARSE cusparseSDDMM(__OFFLOAD_SDDMM, void *memory);
#undef __OFFLOAD_SDDMM
#define __OFFLOAD_SPSV \
  cusparseHandle_t handle, cusparseOperation_t op, const void *alpha, cusparseConstSpMatDescr_t a, \
      cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y, cudaDataType type, cusparseSpSVAlg_t algorithm, \
      cusparseSpSVDescr_t descriptor
__OFFLOAD_CUSPARSE cusparseSpSV_createDescr(cusparseSpSVDescr_t *descriptor);
__OFFLOAD_CUSPARSE cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descriptor);
__OFFLOAD_CUSPARSE cusparseSpSV_bufferSize(__OFFLOAD_SPSV, size_t *size);
__OFFLOAD_CUSPARSE cusparseSpSV_analysis(__OFFLOAD_SPSV, void *memory);
__OFFLOAD_CUSPARSE cusparseSpSV_solve(__OFFLOAD_SPSV);
#undef __OFFLOAD_SPSV
#define __OFFLOAD_SPGEMM \
  cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void *alpha, \
      cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void *beta, cusparseSpMatDescr_t c, \
      cudaDataType type, cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descriptor
__OFFLOAD_CUSPARSE cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t *descriptor);
__OFFLOAD_CUSPARSE cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descriptor);
__OFFLOAD_CUSPARSE cusparseSpGEMM_workEstimation(__OFFLOAD_SPGEMM, size_t *size, void *memory);
__OFFLOAD_CUSPARSE cusparseSpGEMM_compute(__OFFLOAD_SPGEMM, size_t *size, void *memory);
__OFFLOAD_CUSPARSE cusparseSpGEMM_copy(__OFFLOAD_SPGEMM);
#undef __OFFLOAD_SPGEMM
__OFFLOAD_CUSPARSE cusparseSparseToDense_bufferSize(cusparseHandle_t handle, cusparseConstSpMatDescr_t a,
                                                    cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t algorithm,
                                                    size_t *size);
__OFFLOAD_CUSPARSE cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b,
                                         cusparseSparseToDenseAlg_t algorithm, void *memory);
__OFFLOAD_CUSPARSE cusparseDenseToSparse_bufferSize(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                    cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t algorithm,
                                                    size_t *size);
__OFFLOAD_CUSPARSE cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                  cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t algorithm,
                                                  void *memory);
__OFFLOAD_CUSPARSE cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                 cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t algorithm,
                                                 void *memory);
}
#undef __OFFLOAD_CUSPARSE
#include <offload_names_end.h>
