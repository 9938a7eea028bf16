//! The functions of sub-groups: `cl_khr_subgroups` and its extensions
//! (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#subgroup-functions>).

/// Reductions and scans: the name says which values they combine, and how.
pub(in super::super) const SUB_GROUP_ARITHMETIC: &[&str] = &[
    "sub_group_reduce_add",
    "sub_group_reduce_min",
    "sub_group_reduce_max",
    "sub_group_scan_inclusive_add",
    "sub_group_scan_inclusive_min",
    "sub_group_scan_inclusive_max",
    "sub_group_scan_exclusive_add",
    "sub_group_scan_exclusive_min",
    "sub_group_scan_exclusive_max",
    "sub_group_non_uniform_reduce_add",
    "sub_group_non_uniform_reduce_mul",
    "sub_group_non_uniform_reduce_min",
    "sub_group_non_uniform_reduce_max",
    "sub_group_non_uniform_reduce_and",
    "sub_group_non_uniform_reduce_or",
    "sub_group_non_uniform_reduce_xor",
    "sub_group_non_uniform_reduce_logical_and",
    "sub_group_non_uniform_reduce_logical_or",
    "sub_group_non_uniform_reduce_logical_xor",
    "sub_group_non_uniform_scan_inclusive_add",
    "sub_group_non_uniform_scan_inclusive_mul",
    "sub_group_non_uniform_scan_inclusive_min",
    "sub_group_non_uniform_scan_inclusive_max",
    "sub_group_non_uniform_scan_inclusive_and",
    "sub_group_non_uniform_scan_inclusive_or",
    "sub_group_non_uniform_scan_inclusive_xor",
    "sub_group_non_uniform_scan_inclusive_logical_and",
    "sub_group_non_uniform_scan_inclusive_logical_or",
    "sub_group_non_uniform_scan_inclusive_logical_xor",
    "sub_group_non_uniform_scan_exclusive_add",
    "sub_group_non_uniform_scan_exclusive_mul",
    "sub_group_non_uniform_scan_exclusive_min",
    "sub_group_non_uniform_scan_exclusive_max",
    "sub_group_non_uniform_scan_exclusive_and",
    "sub_group_non_uniform_scan_exclusive_or",
    "sub_group_non_uniform_scan_exclusive_xor",
    "sub_group_non_uniform_scan_exclusive_logical_and",
    "sub_group_non_uniform_scan_exclusive_logical_or",
    "sub_group_non_uniform_scan_exclusive_logical_xor",
    "sub_group_clustered_reduce_add",
    "sub_group_clustered_reduce_mul",
    "sub_group_clustered_reduce_min",
    "sub_group_clustered_reduce_max",
    "sub_group_clustered_reduce_and",
    "sub_group_clustered_reduce_or",
    "sub_group_clustered_reduce_xor",
    "sub_group_clustered_reduce_logical_and",
    "sub_group_clustered_reduce_logical_or",
    "sub_group_clustered_reduce_logical_xor",
];

/// A function that returns the value of another work-item, or says whether all are the same: what it is compared with.
/// There `v` is the value of the work-item, `lane` its number in the sub-group, `size` the sub-group's, and `of` has the
/// values of all.
pub(in super::super) const SUB_GROUP_EXCHANGES: &[(&str, &str)] = &[
    ("sub_group_broadcast", "sub_group_broadcast(v, size / 2) == of[size / 2]"),
    ("sub_group_non_uniform_broadcast", "sub_group_non_uniform_broadcast(v, 0) == of[0]"),
    ("sub_group_broadcast_first", "sub_group_broadcast_first(v) == of[0]"),
    ("sub_group_shuffle", "sub_group_shuffle(v, (lane + 3) % size) == of[(lane + 3) % size]"),
    (
        "sub_group_shuffle_xor",
        "sub_group_shuffle_xor(v, 1) == of[min(lane ^ 1, size - 1)] | (lane ^ 1) >= size",
    ),
    ("sub_group_shuffle_up", "sub_group_shuffle_up(v, 2) == of[max(lane, 2u) - 2] | lane < 2"),
    (
        "sub_group_shuffle_down",
        "sub_group_shuffle_down(v, 1) == of[min(lane + 1, size - 1)] | lane + 1 == size",
    ),
    (
        "sub_group_non_uniform_all_equal",
        "(sub_group_non_uniform_all_equal(v) == 0) == (size > 1) & sub_group_non_uniform_all_equal(of[0])",
    ),
];

/// A function of numbers of work-items: a condition that holds where it is right. There `e` and `b` are the bits of the
/// work-items with an odd value, and `all` of those of the sub-group.
pub(in super::super) const SUB_GROUP_BITS: &[(&str, &str)] = &[
    ("get_sub_group_size", "get_sub_group_size() - 1 < get_max_sub_group_size()"),
    ("get_max_sub_group_size", "get_max_sub_group_size() >= get_sub_group_size()"),
    ("get_num_sub_groups", "get_num_sub_groups() - 1 < get_local_size(0)"),
    ("get_enqueued_num_sub_groups", "get_enqueued_num_sub_groups() == get_num_sub_groups()"),
    ("get_sub_group_id", "get_sub_group_id() < get_num_sub_groups()"),
    ("get_sub_group_local_id", "get_sub_group_local_id() < get_sub_group_size()"),
    ("sub_group_all", "(sub_group_all(v & 1) != 0) == (e == all) & (sub_group_all(1) != 0)"),
    ("sub_group_any", "(sub_group_any(v & 1) != 0) == (e != 0) & (sub_group_any(0) == 0)"),
    ("sub_group_non_uniform_all", "(sub_group_non_uniform_all(v & 1) != 0) == (e == all)"),
    ("sub_group_non_uniform_any", "(sub_group_non_uniform_any(v & 1) != 0) == (e != 0)"),
    ("sub_group_elect", "(sub_group_elect() != 0) == (lane == 0)"),
    ("sub_group_ballot", "sub_group_ballot(v & 1).x == b.x"),
    ("sub_group_inverse_ballot", "(sub_group_inverse_ballot(b) != 0) == (e >> lane & 1)"),
    (
        "sub_group_ballot_bit_extract",
        "(sub_group_ballot_bit_extract(b, size / 2) != 0) == (e >> size / 2 & 1)",
    ),
    ("sub_group_ballot_bit_count", "sub_group_ballot_bit_count(b) == popcount(e)"),
    (
        "sub_group_ballot_inclusive_scan",
        "sub_group_ballot_inclusive_scan(b) == popcount(e & (2ul << lane) - 1)",
    ),
    (
        "sub_group_ballot_exclusive_scan",
        "sub_group_ballot_exclusive_scan(b) == popcount(e & (1ul << lane) - 1)",
    ),
    ("sub_group_ballot_find_lsb", "e == 0 || sub_group_ballot_find_lsb(b) == popcount((e & -e) - 1)"),
    ("sub_group_ballot_find_msb", "e == 0 || sub_group_ballot_find_msb(b) == 63 - clz(e)"),
    ("get_sub_group_eq_mask", "get_sub_group_eq_mask().x == (uint)(1ul << lane)"),
    ("get_sub_group_ge_mask", "(get_sub_group_ge_mask().x & all) == (uint)(all & ~((1ul << lane) - 1))"),
    ("get_sub_group_gt_mask", "(get_sub_group_gt_mask().x & all) == (uint)(all & ~((2ul << lane) - 1))"),
    ("get_sub_group_le_mask", "get_sub_group_le_mask().x == (uint)((2ul << lane) - 1)"),
    ("get_sub_group_lt_mask", "get_sub_group_lt_mask().x == (uint)((1ul << lane) - 1)"),
];
