// Declarations of cuFFT; functions for the host that name it are checked and left out of images. A program that calls it links
// the library: https://docs.nvidia.com/cuda/cufft/
#pragma once
#include <offload_names_begin.h>
#include <cuComplex.h>
typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1
typedef enum cufftResult_t {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_TYPE = 3,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INTERNAL_ERROR = 5,
  CUFFT_EXEC_FAILED = 6,
  CUFFT_SETUP_FAILED = 7,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_UNALIGNED_DATA = 9,
  CUFFT_INVALID_DEVICE = 11,
  CUFFT_NO_WORKSPACE = 13,
  CUFFT_NOT_IMPLEMENTED = 14,
  CUFFT_NOT_SUPPORTED = 16
} cufftResult;
typedef enum cufftType_t {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69
} cufftType;
#define __OFFLOAD_CUFFT extern __attribute__((host)) cufftResult
extern "C" {
__OFFLOAD_CUFFT cufftPlan1d(cufftHandle *plan, int x, cufftType type, int count);
__OFFLOAD_CUFFT cufftPlan2d(cufftHandle *plan, int x, int y, cufftType type);
__OFFLOAD_CUFFT cufftPlan3d(cufftHandle *plan, int x, int y, int z, cufftType type);
__OFFLOAD_CUFFT cufftPlanMany(cufftHandle *plan, int rank, int *n, int *embedded_in, int step_in, int apart_in,
                              int *embedded_out, int step_out, int apart_out, cufftType type, int count);
__OFFLOAD_CUFFT cufftCreate(cufftHandle *plan);
__OFFLOAD_CUFFT cufftDestroy(cufftHandle plan);
__OFFLOAD_CUFFT cufftMakePlan1d(cufftHandle plan, int x, cufftType type, int count, size_t *size);
__OFFLOAD_CUFFT cufftMakePlan2d(cufftHandle plan, int x, int y, cufftType type, size_t *size);
__OFFLOAD_CUFFT cufftMakePlan3d(cufftHandle plan, int x, int y, int z, cufftType type, size_t *size);
__OFFLOAD_CUFFT cufftMakePlanMany(cufftHandle plan, int rank, int *n, int *embedded_in, int step_in, int apart_in,
                                  int *embedded_out, int step_out, int apart_out, cufftType type, int count,
                                  size_t *size);
__OFFLOAD_CUFFT cufftEstimate1d(int x, cufftType type, int count, size_t *size);
__OFFLOAD_CUFFT cufftGetSize(cufftHandle plan, size_t *size);
__OFFLOAD_CUFFT cufftSetAutoAllocation(cufftHandle plan, int is_wanted);
__OFFLOAD_CUFFT cufftSetWorkArea(cufftHandle plan, void *memory);
__OFFLOAD_CUFFT cufftSetStream(cufftHandle plan, cudaStream_t stream);
__OFFLOAD_CUFFT cufftGetVersion(int *version);
__OFFLOAD_CUFFT cufftExecC2C(cufftHandle plan, cufftComplex *in, cufftComplex *out, int direction);
__OFFLOAD_CUFFT cufftExecR2C(cufftHandle plan, cufftReal *in, cufftComplex *out);
__OFFLOAD_CUFFT cufftExecC2R(cufftHandle plan, cufftComplex *in, cufftReal *out);
__OFFLOAD_CUFFT cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleComplex *out, int direction);
__OFFLOAD_CUFFT cufftExecD2Z(cufftHandle plan, cufftDoubleReal *in, cufftDoubleComplex *out);
__OFFLOAD_CUFFT cufftExecZ2D(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleReal *out);
}
#undef __OFFLOAD_CUFFT
#include <offload_names_end.h>
