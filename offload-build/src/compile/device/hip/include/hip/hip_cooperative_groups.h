#pragma once
// Masks of groups have 32 bits: a wave of 64 lanes has tiles of 32 at most.
#pragma push_macro("__activemask")
#undef __activemask
#include <cooperative_groups.h>
#pragma pop_macro("__activemask")
