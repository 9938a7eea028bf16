// Declarations of cuSOLVER for dense matrices; functions for the host that name it are checked and left out of images. A
// program that calls it links the library: https://docs.nvidia.com/cuda/cusolver/
#pragma once
#include <offload_names_begin.h>
#include <cublas_v2.h>
typedef struct cusolverDnContext *cusolverDnHandle_t;
typedef struct syevjInfo *syevjInfo_t;
typedef struct gesvdjInfo *gesvdjInfo_t;
typedef enum {
  CUSOLVER_STATUS_SUCCESS = 0,
  CUSOLVER_STATUS_NOT_INITIALIZED = 1,
  CUSOLVER_STATUS_ALLOC_FAILED = 2,
  CUSOLVER_STATUS_INVALID_VALUE = 3,
  CUSOLVER_STATUS_ARCH_MISMATCH = 4,
  CUSOLVER_STATUS_MAPPING_ERROR = 5,
  CUSOLVER_STATUS_EXECUTION_FAILED = 6,
  CUSOLVER_STATUS_INTERNAL_ERROR = 7,
  CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
  CUSOLVER_STATUS_NOT_SUPPORTED = 9
} cusolverStatus_t;
typedef enum { CUSOLVER_EIG_TYPE_1 = 1, CUSOLVER_EIG_TYPE_2 = 2, CUSOLVER_EIG_TYPE_3 = 3 } cusolverEigType_t;
typedef enum { CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR } cusolverEigMode_t;
#define __OFFLOAD_CUSOLVER extern __attribute__((host)) cusolverStatus_t
extern "C" {
__OFFLOAD_CUSOLVER cusolverDnCreate(cusolverDnHandle_t *handle);
__OFFLOAD_CUSOLVER cusolverDnDestroy(cusolverDnHandle_t handle);
__OFFLOAD_CUSOLVER cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
#define __OFFLOAD_SOLVER(T, L) \
  __OFFLOAD_CUSOLVER cusolverDn##L##potrf_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T *a, \
                                                     int lda, int *size); \
  __OFFLOAD_CUSOLVER cusolverDn##L##potrf(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T *a, int lda, \
                                          T *work, int size, int *info); \
  __OFFLOAD_CUSOLVER cusolverDn##L##potrs(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, int columns, \
                                          const T *a, int lda, T *b, int ldb, int *info); \
  __OFFLOAD_CUSOLVER cusolverDn##L##potrfBatched(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T *a[], \
                                                 int lda, int *info, int count); \
  __OFFLOAD_CUSOLVER cusolverDn##L##getrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T *a, int lda, int *size); \
  __OFFLOAD_CUSOLVER cusolverDn##L##getrf(cusolverDnHandle_t handle, int m, int n, T *a, int lda, T *work, int *pivots, \
                                          int *info); \
  __OFFLOAD_CUSOLVER cusolverDn##L##getrs(cusolverDnHandle_t handle, cublasOperation_t op, int n, int columns, \
                                          const T *a, int lda, const int *pivots, T *b, int ldb, int *info); \
  __OFFLOAD_CUSOLVER cusolverDn##L##geqrf_bufferSize(cusolverDnHandle_t handle, int m, int n, T *a, int lda, int *size); \
  __OFFLOAD_CUSOLVER cusolverDn##L##geqrf(cusolverDnHandle_t handle, int m, int n, T *a, int lda, T *tau, T *work, \
                                          int size, int *info);
__OFFLOAD_SOLVER(float, S) __OFFLOAD_SOLVER(double, D) __OFFLOAD_SOLVER(cuComplex, C) __OFFLOAD_SOLVER(cuDoubleComplex, Z)
#undef __OFFLOAD_SOLVER
#define __OFFLOAD_SOLVER(T, L) \
  __OFFLOAD_CUSOLVER cusolverDn##L##syevd_bufferSize(cusolverDnHandle_t handle, cusolverEigMode_t mode, \
                                                     cublasFillMode_t fill, int n, const T *a, int lda, const T *w, \
                                                     int *size); \
  __OFFLOAD_CUSOLVER cusolverDn##L##syevd(cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t fill, int n, \
                                          T *a, int lda, T *w, T *work, int size, int *info); \
  __OFFLOAD_CUSOLVER cusolverDn##L##ormqr_bufferSize(cusolverDnHandle_t handle, cublasSideMode_t side, \
                                                     cublasOperation_t op, int m, int n, int k, const T *a, int lda, \
                                                     const T *tau, const T *c, int ldc, int *size); \
  __OFFLOAD_CUSOLVER cusolverDn##L##ormqr(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op, int m, \
                                          int n, int k, const T *a, int lda, const T *tau, T *c, int ldc, T *work, \
                                          int size, int *info); \
  __OFFLOAD_CUSOLVER cusolverDn##L##gesvd_bufferSize(cusolverDnHandle_t handle, int m, int n, int *size); \
  __OFFLOAD_CUSOLVER cusolverDn##L##gesvd(cusolverDnHandle_t handle, signed char u_job, signed char v_job, int m, int n, \
                                          T *a, int lda, T *s, T *u, int ldu, T *v, int ldv, T *work, int size, T *rest, \
                                          int *info);
__OFFLOAD_SOLVER(float, S) __OFFLOAD_SOLVER(double, D)
#undef __OFFLOAD_SOLVER
}
#undef __OFFLOAD_CUSOLVER
#include <offload_names_end.h>
