#pragma once
#include <cuda_bf16.h>
typedef __nv_bfloat16 hip_bfloat16;
