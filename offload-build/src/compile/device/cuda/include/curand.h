// Declarations of cuRAND's interface for the host; functions that name it are checked and left out of images. A program that
// calls it links the library: https://docs.nvidia.com/cuda/curand/host-api-overview.html
#pragma once
#include <offload_names_begin.h>
typedef struct curandGenerator_st *curandGenerator_t;
typedef enum curandStatus {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
} curandStatus_t;
typedef enum curandRngType {
  CURAND_RNG_TEST = 0,
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
  CURAND_RNG_QUASI_SOBOL64 = 203,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
} curandRngType_t;
typedef enum curandOrdering {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_QUASI_DEFAULT = 201
} curandOrdering_t;
#define __OFFLOAD_CURAND extern __attribute__((host)) curandStatus_t
extern "C" {
__OFFLOAD_CURAND curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type);
__OFFLOAD_CURAND curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type);
__OFFLOAD_CURAND curandDestroyGenerator(curandGenerator_t generator);
__OFFLOAD_CURAND curandGetVersion(int *version);
__OFFLOAD_CURAND curandSetStream(curandGenerator_t generator, cudaStream_t stream);
__OFFLOAD_CURAND curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed);
__OFFLOAD_CURAND curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset);
__OFFLOAD_CURAND curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order);
__OFFLOAD_CURAND curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned int count);
__OFFLOAD_CURAND curandGenerateSeeds(curandGenerator_t generator);
__OFFLOAD_CURAND curandGenerate(curandGenerator_t generator, unsigned int *out, size_t count);
__OFFLOAD_CURAND curandGenerateLongLong(curandGenerator_t generator, unsigned long long *out, size_t count);
__OFFLOAD_CURAND curandGenerateUniform(curandGenerator_t generator, float *out, size_t count);
__OFFLOAD_CURAND curandGenerateUniformDouble(curandGenerator_t generator, double *out, size_t count);
__OFFLOAD_CURAND curandGenerateNormal(curandGenerator_t generator, float *out, size_t count, float mean, float deviation);
__OFFLOAD_CURAND curandGenerateNormalDouble(curandGenerator_t generator, double *out, size_t count, double mean,
                                            double deviation);
__OFFLOAD_CURAND curandGenerateLogNormal(curandGenerator_t generator, float *out, size_t count, float mean,
                                         float deviation);
__OFFLOAD_CURAND curandGenerateLogNormalDouble(curandGenerator_t generator, double *out, size_t count, double mean,
                                               double deviation);
__OFFLOAD_CURAND curandGeneratePoisson(curandGenerator_t generator, unsigned int *out, size_t count, double lambda);
}
#undef __OFFLOAD_CURAND
#include <offload_names_end.h>
