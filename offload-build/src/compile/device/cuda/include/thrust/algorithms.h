// Algorithms over the whole device, which host code starts. Host code is checked and left out, and what they launch is not in
// the image. Each has a definition, as types without a name need one, and calls a function of its name that has none:
// https://nvidia.github.io/cccl/thrust/api/groups/group__algorithms.html
#pragma once
#include <offload_names_begin.h>
#include <thrust/vectors.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/iterators.h>
namespace thrust {
template <bool IS_SO> struct __offload_when;
template <> struct __offload_when<true> { typedef int type; };
// Of any type of iterator: where an algorithm has stopped to write.
struct __offload_end {
  template <typename T> __host__ operator T() const;
};
template <typename T> __host__ ptrdiff_t operator-(const __offload_end &end, const T &begin);
#define __OFFLOAD_POLICY(P) typename __offload_when<__is_base_of(__offload_policy, P)>::type = 0
#define __OFFLOAD_NO_POLICY(P) typename __offload_when<!__is_base_of(__offload_policy, P)>::type = 0
struct __offload_lacks {};
#define __OFFLOAD_ALGORITHM(NAME, TYPE) \
  __host__ void NAME(__offload_lacks); \
  template <typename... A> __host__ TYPE NAME(const A &...arguments) { \
    NAME(__offload_lacks()); \
    return TYPE(); \
  }
#define __OFFLOAD_WRITES(NAME) __OFFLOAD_ALGORITHM(NAME, __offload_end)
#define __OFFLOAD_CHANGES(NAME) __OFFLOAD_ALGORITHM(NAME, void)
__OFFLOAD_CHANGES(fill) __OFFLOAD_CHANGES(sequence) __OFFLOAD_CHANGES(tabulate) __OFFLOAD_CHANGES(generate)
__OFFLOAD_CHANGES(replace) __OFFLOAD_CHANGES(replace_if) __OFFLOAD_CHANGES(reverse) __OFFLOAD_CHANGES(for_each)
__OFFLOAD_CHANGES(sort) __OFFLOAD_CHANGES(stable_sort) __OFFLOAD_CHANGES(sort_by_key) __OFFLOAD_CHANGES(stable_sort_by_key)
__OFFLOAD_CHANGES(uninitialized_fill) __OFFLOAD_CHANGES(transform_if) __OFFLOAD_CHANGES(shuffle)
__OFFLOAD_WRITES(transform) __OFFLOAD_WRITES(copy) __OFFLOAD_WRITES(copy_n) __OFFLOAD_WRITES(copy_if) __OFFLOAD_WRITES(fill_n)
__OFFLOAD_WRITES(for_each_n) __OFFLOAD_WRITES(gather) __OFFLOAD_WRITES(gather_if) __OFFLOAD_WRITES(scatter)
__OFFLOAD_WRITES(scatter_if) __OFFLOAD_WRITES(inclusive_scan) __OFFLOAD_WRITES(exclusive_scan)
__OFFLOAD_WRITES(transform_inclusive_scan) __OFFLOAD_WRITES(transform_exclusive_scan)
__OFFLOAD_WRITES(inclusive_scan_by_key) __OFFLOAD_WRITES(exclusive_scan_by_key) __OFFLOAD_WRITES(adjacent_difference)
__OFFLOAD_WRITES(unique) __OFFLOAD_WRITES(unique_copy) __OFFLOAD_WRITES(remove) __OFFLOAD_WRITES(remove_if)
__OFFLOAD_WRITES(remove_copy) __OFFLOAD_WRITES(remove_copy_if) __OFFLOAD_WRITES(replace_copy) __OFFLOAD_WRITES(merge)
__OFFLOAD_WRITES(partition) __OFFLOAD_WRITES(stable_partition) __OFFLOAD_WRITES(reverse_copy) __OFFLOAD_WRITES(swap_ranges)
__OFFLOAD_WRITES(set_union) __OFFLOAD_WRITES(set_difference) __OFFLOAD_WRITES(set_intersection) __OFFLOAD_WRITES(generate_n)
__OFFLOAD_WRITES(lower_bound) __OFFLOAD_WRITES(upper_bound) __OFFLOAD_WRITES(find) __OFFLOAD_WRITES(find_if)
__OFFLOAD_WRITES(find_if_not) __OFFLOAD_WRITES(uninitialized_copy) __OFFLOAD_WRITES(merge_by_key)
#undef __OFFLOAD_WRITES
#undef __OFFLOAD_CHANGES
#define __OFFLOAD_ENDS pair<__offload_end, __offload_end>
// Of keys and of values.
__OFFLOAD_ALGORITHM(reduce_by_key, __OFFLOAD_ENDS)
__OFFLOAD_ALGORITHM(unique_by_key, __OFFLOAD_ENDS)
__OFFLOAD_ALGORITHM(unique_by_key_copy, __OFFLOAD_ENDS)
__OFFLOAD_ALGORITHM(mismatch, __OFFLOAD_ENDS)
#undef __OFFLOAD_ENDS
__OFFLOAD_ALGORITHM(count, ptrdiff_t) __OFFLOAD_ALGORITHM(count_if, ptrdiff_t) __OFFLOAD_ALGORITHM(equal, bool)
__OFFLOAD_ALGORITHM(all_of, bool) __OFFLOAD_ALGORITHM(any_of, bool) __OFFLOAD_ALGORITHM(none_of, bool) __OFFLOAD_ALGORITHM(is_sorted, bool)
__OFFLOAD_ALGORITHM(is_partitioned, bool) __OFFLOAD_ALGORITHM(binary_search, bool)
#undef __OFFLOAD_ALGORITHM
// The value of an iterator, or of the start of a sum.
template <typename I> using __offload_value = typename std::iterator_traits<I>::value_type;
#define __OFFLOAD_LACKS(NAME) \
  NAME(__offload_lacks()); \
  __builtin_trap()
__host__ void reduce(__offload_lacks);
__host__ void transform_reduce(__offload_lacks);
__host__ void inner_product(__offload_lacks);
template <typename I, __OFFLOAD_NO_POLICY(I)> __host__ __offload_value<I> reduce(const I &first, const I &last) { __OFFLOAD_LACKS(reduce); }
template <typename P, typename I, __OFFLOAD_POLICY(P)>
__host__ __offload_value<I> reduce(const P &policy, const I &first, const I &last) { __OFFLOAD_LACKS(reduce); }
template <typename I, typename T, __OFFLOAD_NO_POLICY(I)> __host__ T reduce(const I &first, const I &last, T init) { __OFFLOAD_LACKS(reduce); }
template <typename P, typename I, typename T, __OFFLOAD_POLICY(P)>
__host__ T reduce(const P &policy, const I &first, const I &last, T init) { __OFFLOAD_LACKS(reduce); }
template <typename I, typename T, typename F, __OFFLOAD_NO_POLICY(I)>
__host__ T reduce(const I &first, const I &last, T init, F function) { __OFFLOAD_LACKS(reduce); }
template <typename P, typename I, typename T, typename F, __OFFLOAD_POLICY(P)>
__host__ T reduce(const P &policy, const I &first, const I &last, T init, F function) { __OFFLOAD_LACKS(reduce); }
template <typename I, typename F, typename T, typename U, __OFFLOAD_NO_POLICY(I)>
__host__ T transform_reduce(const I &first, const I &last, F function, T init, U reduce) { __OFFLOAD_LACKS(transform_reduce); }
template <typename P, typename I, typename F, typename T, typename U, __OFFLOAD_POLICY(P)>
__host__ T transform_reduce(const P &policy, const I &first, const I &last, F function, T init, U reduce) { __OFFLOAD_LACKS(transform_reduce); }
template <typename I, typename O, typename T, typename... A, __OFFLOAD_NO_POLICY(I)>
__host__ T inner_product(const I &first, const I &last, const O &other, T init, A... functions) { __OFFLOAD_LACKS(inner_product); }
template <typename P, typename I, typename O, typename T, typename... A, __OFFLOAD_POLICY(P)>
__host__ T inner_product(const P &policy, const I &first, const I &last, const O &other, T init, A... functions) { __OFFLOAD_LACKS(inner_product); }
#define __OFFLOAD_FINDS(NAME, TYPE) \
  __host__ void NAME(__offload_lacks); \
  template <typename I, typename... A, __OFFLOAD_NO_POLICY(I)> __host__ TYPE NAME(I first, I last, A... functions) { \
    __OFFLOAD_LACKS(NAME); \
  } \
  template <typename P, typename I, typename... A, __OFFLOAD_POLICY(P)> \
  __host__ TYPE NAME(const P &policy, I first, I last, A... functions) { \
    __OFFLOAD_LACKS(NAME); \
  }
#define __OFFLOAD_PAIR pair<I, I>
__OFFLOAD_FINDS(max_element, I) __OFFLOAD_FINDS(min_element, I) __OFFLOAD_FINDS(minmax_element, __OFFLOAD_PAIR)
#undef __OFFLOAD_PAIR
#undef __OFFLOAD_FINDS
#undef __OFFLOAD_LACKS
#undef __OFFLOAD_POLICY
#undef __OFFLOAD_NO_POLICY
template <typename I, typename O> __host__ __device__ ptrdiff_t distance(const I &first, const O &last) { return last - first; }
template <typename I, typename T> __host__ __device__ void advance(I &iterator, T n) { iterator += n; }
}
#include <offload_names_end.h>
