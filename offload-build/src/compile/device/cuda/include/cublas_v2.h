// Declarations of cuBLAS that functions for the host in files with kernels commonly name; they are checked and left out of
// images. A program that calls them links the library, where the names without `_v2` are those of an older interface:
// https://docs.nvidia.com/cuda/cublas/#new-and-legacy-cublas-api
#pragma once
#include <offload_names_begin.h>
#include <cuComplex.h>
#include <library_types.h>
typedef struct cublasContext *cublasHandle_t;
typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C } cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT } cublasSideMode_t;
typedef enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE } cublasPointerMode_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 } cublasGemmAlgo_t;
#define CUBLAS_GEMM_DFALT CUBLAS_GEMM_DEFAULT
#define CUBLAS_GEMM_DFALT_TENSOR_OP CUBLAS_GEMM_DEFAULT_TENSOR_OP

#define __OFFLOAD_CUBLAS extern __attribute__((host)) cublasStatus_t
extern "C" {
__OFFLOAD_CUBLAS cublasCreate(cublasHandle_t *handle) __asm__("cublasCreate_v2");
__OFFLOAD_CUBLAS cublasDestroy(cublasHandle_t handle) __asm__("cublasDestroy_v2");
__OFFLOAD_CUBLAS cublasGetVersion(cublasHandle_t handle, int *version) __asm__("cublasGetVersion_v2");
__OFFLOAD_CUBLAS cublasSetStream(cublasHandle_t handle, cudaStream_t stream) __asm__("cublasSetStream_v2");
__OFFLOAD_CUBLAS cublasGetStream(cublasHandle_t handle, cudaStream_t *stream) __asm__("cublasGetStream_v2");
__OFFLOAD_CUBLAS cublasSetWorkspace(cublasHandle_t handle, void *memory, size_t size) __asm__("cublasSetWorkspace_v2");
__OFFLOAD_CUBLAS cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
__OFFLOAD_CUBLAS cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
__OFFLOAD_CUBLAS cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) __asm__("cublasSetPointerMode_v2");
__OFFLOAD_CUBLAS cublasSetMatrix(int rows, int columns, int size, const void *a, int lda, void *b, int ldb);
__OFFLOAD_CUBLAS cublasGetMatrix(int rows, int columns, int size, const void *a, int lda, void *b, int ldb);
__OFFLOAD_CUBLAS cublasSetVector(int n, int size, const void *x, int step_x, void *y, int step_y);
__OFFLOAD_CUBLAS cublasGetVector(int n, int size, const void *x, int step_x, void *y, int step_y);
__attribute__((host)) const char *cublasGetStatusString(cublasStatus_t status);
__attribute__((host)) const char *cublasGetStatusName(cublasStatus_t status);
#define __OFFLOAD_BLAS(T, L) \
  __OFFLOAD_CUBLAS cublas##L##axpy(cublasHandle_t handle, int n, const T *alpha, const T *x, int step_x, T *y, int step_y) __asm__("cublas" #L "axpy_v2"); \
  __OFFLOAD_CUBLAS cublas##L##copy(cublasHandle_t handle, int n, const T *x, int step_x, T *y, int step_y) __asm__("cublas" #L "copy_v2"); \
  __OFFLOAD_CUBLAS cublas##L##swap(cublasHandle_t handle, int n, T *x, int step_x, T *y, int step_y) __asm__("cublas" #L "swap_v2"); \
  __OFFLOAD_CUBLAS cublas##L##scal(cublasHandle_t handle, int n, const T *alpha, T *x, int step_x) __asm__("cublas" #L "scal_v2"); \
  __OFFLOAD_CUBLAS cublas##L##gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n, const T *alpha, const T *a, \
                                   int lda, const T *x, int step_x, const T *beta, T *y, int step_y) __asm__("cublas" #L "gemv_v2"); \
  __OFFLOAD_CUBLAS cublas##L##gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, \
                                   int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, \
                                   int ldc) __asm__("cublas" #L "gemm_v2"); \
  __OFFLOAD_CUBLAS cublas##L##gemmBatched(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, \
                                          int n, int k, const T *alpha, const T *const a[], int lda, const T *const b[], \
                                          int ldb, const T *beta, T *const c[], int ldc, int count); \
  __OFFLOAD_CUBLAS cublas##L##gemmStridedBatched( \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const T *alpha, \
      const T *a, int lda, long long stride_a, const T *b, int ldb, long long stride_b, const T *beta, T *c, int ldc, \
      long long stride_c, int count); \
  __OFFLOAD_CUBLAS cublas##L##geam(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, \
                                   const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc); \
  __OFFLOAD_CUBLAS cublas##L##trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, \
                                   cublasOperation_t op, cublasDiagType_t diagonal, int m, int n, const T *alpha, \
                                   const T *a, int lda, T *b, int ldb) __asm__("cublas" #L "trsm_v2"); \
  __OFFLOAD_CUBLAS cublas##L##trsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, \
                                          cublasOperation_t op, cublasDiagType_t diagonal, int m, int n, const T *alpha, \
                                          const T *const a[], int lda, T *const b[], int ldb, int count); \
  __OFFLOAD_CUBLAS cublas##L##getrfBatched(cublasHandle_t handle, int n, T *const a[], int lda, int *pivots, int *info, \
                                           int count); \
  __OFFLOAD_CUBLAS cublas##L##getriBatched(cublasHandle_t handle, int n, const T *const a[], int lda, const int *pivots, \
                                           T *const c[], int ldc, int *info, int count); \
  __OFFLOAD_CUBLAS cublas##L##gelsBatched(cublasHandle_t handle, cublasOperation_t op, int m, int n, int columns, \
                                          T *const a[], int lda, T *const c[], int ldc, int *info, int *infos, int count);
__OFFLOAD_BLAS(float, S) __OFFLOAD_BLAS(double, D) __OFFLOAD_BLAS(cuComplex, C) __OFFLOAD_BLAS(cuDoubleComplex, Z)
#undef __OFFLOAD_BLAS
#define __OFFLOAD_BLAS(T, L, I) \
  __OFFLOAD_CUBLAS cublas##L##dot(cublasHandle_t handle, int n, const T *x, int step_x, const T *y, int step_y, T *result) __asm__("cublas" #L "dot_v2"); \
  __OFFLOAD_CUBLAS cublas##L##nrm2(cublasHandle_t handle, int n, const T *x, int step, T *result) __asm__("cublas" #L "nrm2_v2"); \
  __OFFLOAD_CUBLAS cublas##L##asum(cublasHandle_t handle, int n, const T *x, int step, T *result) __asm__("cublas" #L "asum_v2"); \
  __OFFLOAD_CUBLAS cublasI##I##amax(cublasHandle_t handle, int n, const T *x, int step, int *result) __asm__("cublasI" #I "amax_v2"); \
  __OFFLOAD_CUBLAS cublasI##I##amin(cublasHandle_t handle, int n, const T *x, int step, int *result) __asm__("cublasI" #I "amin_v2"); \
  __OFFLOAD_CUBLAS cublas##L##symv(cublasHandle_t handle, cublasFillMode_t fill, int n, const T *alpha, const T *a, \
                                   int lda, const T *x, int step_x, const T *beta, T *y, int step_y) __asm__("cublas" #L "symv_v2");
__OFFLOAD_BLAS(float, S, s) __OFFLOAD_BLAS(double, D, d)
#undef __OFFLOAD_BLAS
__OFFLOAD_CUBLAS cublasAxpyEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType type_alpha, const void *x,
                              cudaDataType type_x, int step_x, void *y, cudaDataType type_y, int step_y,
                              cudaDataType execution);
__OFFLOAD_CUBLAS cublasScalEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType type_alpha, void *x,
                              cudaDataType type_x, int step_x, cudaDataType execution);
__OFFLOAD_CUBLAS cublasDotEx(cublasHandle_t handle, int n, const void *x, cudaDataType type_x, int step_x, const void *y,
                             cudaDataType type_y, int step_y, void *result, cudaDataType type, cudaDataType execution);
__OFFLOAD_CUBLAS cublasNrm2Ex(cublasHandle_t handle, int n, const void *x, cudaDataType type_x, int step_x, void *result,
                              cudaDataType type, cudaDataType execution);
__OFFLOAD_CUBLAS cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                              const void *alpha, const void *a, cudaDataType type_a, int lda, const void *b,
                              cudaDataType type_b, int ldb, const void *beta, void *c, cudaDataType type_c, int ldc,
                              cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
__OFFLOAD_CUBLAS cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
                                     int k, const void *alpha, const void *const a[], cudaDataType type_a, int lda,
                                     const void *const b[], cudaDataType type_b, int ldb, const void *beta,
                                     void *const c[], cudaDataType type_c, int ldc, int count,
                                     cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
__OFFLOAD_CUBLAS cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const void *alpha,
    const void *a, cudaDataType type_a, int lda, long long stride_a, const void *b, cudaDataType type_b, int ldb,
    long long stride_b, const void *beta, void *c, cudaDataType type_c, int ldc, long long stride_c, int count,
    cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
}
struct __half;
extern "C" {
__OFFLOAD_CUBLAS cublasHgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                             const __half *alpha, const __half *a, int lda, const __half *b, int ldb, const __half *beta,
                             __half *c, int ldc);
__OFFLOAD_CUBLAS cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
                                    int k, const __half *alpha, const __half *const a[], int lda, const __half *const b[],
                                    int ldb, const __half *beta, __half *const c[], int ldc, int count);
__OFFLOAD_CUBLAS cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                                           int n, int k, const __half *alpha, const __half *a, int lda,
                                           long long stride_a, const __half *b, int ldb, long long stride_b,
                                           const __half *beta, __half *c, int ldc, long long stride_c, int count);
}
// The type that a computation had before CUDA 11.
static inline __attribute__((host)) cublasStatus_t cublasGemmEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const void *alpha,
    const void *a, cudaDataType type_a, int lda, const void *b, cudaDataType type_b, int ldb, const void *beta, void *c,
    cudaDataType type_c, int ldc, cudaDataType compute, cublasGemmAlgo_t algorithm) {
  cublasComputeType_t type = compute == CUDA_R_16F   ? CUBLAS_COMPUTE_16F
                             : compute == CUDA_R_64F ? CUBLAS_COMPUTE_64F
                             : compute == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                                     : CUBLAS_COMPUTE_32F;
  return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, type,
                      algorithm);
}
#undef __OFFLOAD_CUBLAS
#include <offload_names_end.h>
