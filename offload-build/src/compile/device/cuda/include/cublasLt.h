// Declarations of cuBLASLt; functions for the host that name it are checked and left out of images. A program that calls it
// links the library: https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api
#pragma once
#include <offload_names_begin.h>
#include <cublas_v2.h>
#include <cstdint>
typedef struct cublasLtContext *cublasLtHandle_t;
typedef struct { uint64_t data[8]; } cublasLtMatrixLayoutOpaque_t, *cublasLtMatrixLayout_t;
typedef struct { uint64_t data[32]; } cublasLtMatmulDescOpaque_t, *cublasLtMatmulDesc_t;
typedef struct { uint64_t data[8]; } cublasLtMatrixTransformDescOpaque_t, *cublasLtMatrixTransformDesc_t;
typedef struct { uint64_t data[8]; } cublasLtMatmulPreferenceOpaque_t, *cublasLtMatmulPreference_t;
typedef struct { uint64_t data[8]; } cublasLtMatmulAlgo_t;
typedef struct {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
} cublasLtMatmulHeuristicResult_t;
typedef enum {
  CUBLASLT_MATMUL_DESC_COMPUTE_TYPE = 0,
  CUBLASLT_MATMUL_DESC_SCALE_TYPE = 1,
  CUBLASLT_MATMUL_DESC_POINTER_MODE = 2,
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_TRANSC = 5,
  CUBLASLT_MATMUL_DESC_FILL_MODE = 6,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 11,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = 12,
  CUBLASLT_MATMUL_DESC_A_SCALE_POINTER = 17,
  CUBLASLT_MATMUL_DESC_B_SCALE_POINTER = 18,
  CUBLASLT_MATMUL_DESC_C_SCALE_POINTER = 19,
  CUBLASLT_MATMUL_DESC_D_SCALE_POINTER = 20,
  CUBLASLT_MATMUL_DESC_AMAX_D_POINTER = 21,
  CUBLASLT_MATMUL_DESC_FAST_ACCUM = 25,
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26
} cublasLtMatmulDescAttributes_t;
typedef enum {
  CUBLASLT_MATRIX_LAYOUT_TYPE = 0,
  CUBLASLT_MATRIX_LAYOUT_ORDER = 1,
  CUBLASLT_MATRIX_LAYOUT_ROWS = 2,
  CUBLASLT_MATRIX_LAYOUT_COLS = 3,
  CUBLASLT_MATRIX_LAYOUT_LD = 4,
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6
} cublasLtMatrixLayoutAttribute_t;
typedef enum {
  CUBLASLT_MATMUL_PREF_SEARCH_MODE = 0,
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1
} cublasLtMatmulPreferenceAttributes_t;
typedef enum { CUBLASLT_ORDER_COL = 0, CUBLASLT_ORDER_ROW = 1, CUBLASLT_ORDER_COL32 = 2 } cublasLtOrder_t;
typedef enum {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
  CUBLASLT_EPILOGUE_GELU = 32,
  CUBLASLT_EPILOGUE_GELU_BIAS = 36,
  CUBLASLT_EPILOGUE_GELU_AUX = 160,
  CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 164
} cublasLtEpilogue_t;
#define __OFFLOAD_CUBLASLT extern __attribute__((host)) cublasStatus_t
extern "C" {
__OFFLOAD_CUBLASLT cublasLtCreate(cublasLtHandle_t *handle);
__OFFLOAD_CUBLASLT cublasLtDestroy(cublasLtHandle_t handle);
__OFFLOAD_CUBLASLT cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *descriptor, cublasComputeType_t compute,
                                            cudaDataType_t scale);
__OFFLOAD_CUBLASLT cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t descriptor);
__OFFLOAD_CUBLASLT cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t descriptor,
                                                  cublasLtMatmulDescAttributes_t attribute, const void *value,
                                                  size_t size);
__OFFLOAD_CUBLASLT cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows,
                                              uint64_t columns, int64_t ld);
__OFFLOAD_CUBLASLT cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout);
__OFFLOAD_CUBLASLT cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                    cublasLtMatrixLayoutAttribute_t attribute, const void *value,
                                                    size_t size);
__OFFLOAD_CUBLASLT cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference);
__OFFLOAD_CUBLASLT cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference);
__OFFLOAD_CUBLASLT cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                        cublasLtMatmulPreferenceAttributes_t attribute,
                                                        const void *value, size_t size);
__OFFLOAD_CUBLASLT cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                                  cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                                  cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                                  cublasLtMatmulPreference_t preference, int wanted,
                                                  cublasLtMatmulHeuristicResult_t *results, int *count);
__OFFLOAD_CUBLASLT cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void *alpha,
                                  const void *a, cublasLtMatrixLayout_t layout_a, const void *b,
                                  cublasLtMatrixLayout_t layout_b, const void *beta, const void *c,
                                  cublasLtMatrixLayout_t layout_c, void *d, cublasLtMatrixLayout_t layout_d,
                                  const cublasLtMatmulAlgo_t *algorithm, void *memory, size_t size, cudaStream_t stream);
}
#undef __OFFLOAD_CUBLASLT
#include <offload_names_end.h>
