// Digits of keys, for sorts: https://nvidia.github.io/cccl/cub/api/classcub_1_1BlockRadixSort.html
#pragma once
#include <offload_names_begin.h>
namespace cub {
template <int SIZE> struct __offload_word;
template <> struct __offload_word<1> { typedef unsigned char Type; };
template <> struct __offload_word<2> { typedef unsigned short Type; };
template <> struct __offload_word<4> { typedef unsigned int Type; };
template <> struct __offload_word<8> { typedef unsigned long long Type; };

// The bits of a key in the order of its values. What is no integer is a floating-point number, whose zeros are equal.
template <typename KEY> __device__ __forceinline__ typename __offload_word<sizeof(KEY)>::Type __offload_ordered(KEY key) {
  typedef typename __offload_word<sizeof(KEY)>::Type Word;
  constexpr Word SIGN = (Word)((Word)1 << (sizeof(KEY) * 8 - 1));
  Word word = __builtin_bit_cast(Word, key);
  if constexpr (!__is_integral(KEY)) {
    if (word == SIGN)
      word = 0;
    return (Word)(word & SIGN ? ~word : word | SIGN);
  } else if constexpr (__is_signed(KEY)) {
    return (Word)(word ^ SIGN);
  } else {
    return word;
  }
}
template <bool DESCENDING, typename KEY>
__device__ __forceinline__ unsigned int __offload_digit(KEY key, int begin, int bits) {
  unsigned int digit = (unsigned int)(__offload_ordered(key) >> begin);
  return (DESCENDING ? ~digit : digit) & ((1u << bits) - 1);
}
}
#include <offload_names_end.h>
