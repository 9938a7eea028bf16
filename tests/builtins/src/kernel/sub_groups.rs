//! Functions of sub-groups, each compared in the kernel with the values of the sub-group in local memory: which work-items
//! form one is left to the device.

use std::fmt::Write;

use super::super::element::Element;
use super::super::signature::{Extent, Param};
use super::{close_loop, head, open_loop};

/// Elements of local memory: each of up to 16 sub-groups of a group has room for 64 work-items.
const ROOM: usize = 1024;

/// The condition for the work-items that take part where some do not.
const SOME: &str = "o % 3 != 1";

/// A kernel whose result is its argument wherever a reduction or a scan is right.
pub(in super::super) fn sub_group_arithmetic(kernel: &str, name: &str, element: Element) -> String {
    let operation = name.rsplit('_').next().unwrap_or_default();
    let is_logical = name.contains("_logical_");
    let (first, combined) = match operation {
        "mul" => ("1", "e * of[o]"),
        "min" => ("100", "of[o] < e ? of[o] : e"),
        "max" => ("0", "of[o] > e ? of[o] : e"),
        "and" if is_logical => ("1", "e && of[o]"),
        "and" => ("7", "(uint)e & (uint)of[o]"),
        "or" if is_logical => ("0", "e || of[o]"),
        "or" => ("0", "(uint)e | (uint)of[o]"),
        "xor" if is_logical => ("0", "e != (of[o] != 0)"),
        "xor" => ("0", "(uint)e ^ (uint)of[o]"),
        _ => ("0", "e + of[o]"),
    };
    // A product of more than twos does not fit.
    let value = if operation == "mul" { "% 2 + 1" } else { "% 7" };
    let is_clustered = name.contains("_clustered_");
    let active = if is_clustered || name.contains("_non_uniform_") { SOME } else { "true" };
    let lanes = match name {
        _ if is_clustered => "o / 4 == lane / 4",
        _ if name.contains("_inclusive_") => "o <= lane",
        _ if name.contains("_exclusive_") => "o < lane",
        _ => "true",
    };
    let call = if is_clustered { format!("{name}(v, 4)") } else { format!("{name}(v)") };
    let ty = element.name();
    // A scan of no values gives the limit of the type.
    let check = format!(
        "    {ty} e = {first};\n    bool is_empty = true;\n    \
         for (uint o = 0; o < size; o++) if ({active} && {lanes}) {{ e = ({ty})({combined}); is_empty = false; }}\n    \
         uint o = lane;\n    if ({active}) {{ {ty} r = {call}; is_right = r == e || is_empty; }}\n"
    );
    kernel_with(kernel, element, value, &check)
}

/// The same for a function that returns a value of another work-item.
pub(in super::super) fn sub_group_exchange(kernel: &str, condition: &str, element: Element) -> String {
    kernel_with(kernel, element, "% 7", &format!("    is_right = {condition};\n"))
}

/// The same for a function of numbers of work-items.
pub(in super::super) fn sub_group_bits(kernel: &str, condition: &str) -> String {
    let check = format!(
        "    ulong e = 0, all = 0;\n    \
         for (uint o = 0; o < size; o++) {{ all |= 1ul << o; e |= (ulong)(of[o] & 1) << o; }}\n    \
         uint4 b = (uint4)((uint)e, (uint)(e >> 32), 0, 0);\n    is_right = {condition};\n"
    );
    kernel_with(kernel, Element::Int, "% 7", &check)
}

/// The same for a barrier.
pub(in super::super) fn sub_group_barrier(kernel: &str) -> String {
    let check = "    of[lane] = v + 1;\n    sub_group_barrier(CLK_LOCAL_MEM_FENCE);\n    \
                 int other = of[size - 1 - lane];\n    sub_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_sub_group);\n    \
                 of[lane] = v;\n    sub_group_barrier(CLK_LOCAL_MEM_FENCE);\n    is_right = other == of[size - 1 - lane] + 1;\n";
    kernel_with(kernel, Element::Int, "% 7", check)
}

fn kernel_with(kernel: &str, element: Element, value: &str, check: &str) -> String {
    let param = Param { element: Element::UInt, extent: Extent::Vector };
    let ty = element.name();
    let local = format!("{{\n  __local {ty} l[{ROOM}];\n");
    let mut text = head(kernel, &[(param, "a0".into())], &[param]).replacen("{\n", &local, 1);
    let _ = write!(
        text,
        "  uint lane = get_sub_group_local_id(), size = get_sub_group_size();\n  \
         __local {ty} *of = l + get_sub_group_id() * get_max_sub_group_size();\n{open}    \
         {ty} v = ({ty})((get_local_id(0) * 5 + i - first) {value});\n    of[lane] = v;\n    \
         barrier(CLK_LOCAL_MEM_FENCE);\n    bool is_right = true;\n{check}    \
         r0[i] = is_right ? a0[i] : ~a0[i];\n    barrier(CLK_LOCAL_MEM_FENCE);\n{close}}}\n",
        open = open_loop(1),
        close = close_loop(false),
    );
    text
}
