//! Work-items, synchronisation, asynchronous copies and printf.

use std::fmt::Write;

use super::super::element::{Element, WIDTHS};
use super::super::signature::{Extent, Param};
use super::{GROUP, close_loop, head, open_loop};

pub(super) const FENCE: &str = "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE";

fn array(element: Element) -> Param {
    Param { element, extent: Extent::Vector }
}

fn copying(kernel: &str, element: Element) -> String {
    head(kernel, &[(array(element), "a0".into())], &[array(element)])
}

/// Four values for each work-item: dimensions 0 to 2, and 3, which does not exist.
pub(in super::super) fn work_item(kernel: &str, name: &str, takes_dimension: bool) -> String {
    let call = if takes_dimension { format!("{name}(d)") } else { format!("{name}()") };
    format!(
        "__kernel void {kernel}(__global ulong *r0)
{{
  size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  size_t at = (z * get_global_size(1) + y) * get_global_size(0) + x;
  for (uint d = 0; d < 4; ++d) r0[at * 4 + d] = {call};
}}
"
    )
}

/// A barrier between two work-items' uses of local memory; a fence between a load and a store.
pub(in super::super) fn fence(kernel: &str, name: &str) -> String {
    let mut text = copying(kernel, Element::UInt);
    let open = open_loop(1);
    if name.ends_with("barrier") {
        let local = format!("{{\n  __local uint l[{GROUP}];\n  size_t me = get_local_id(0);\n");
        text = text.replacen("{\n", &local, 1);
        let scope = if name == "barrier" { "" } else { ", memory_scope_device" };
        let _ = write!(
            text,
            "{open}    l[me] = a0[i];\n    {name}(CLK_LOCAL_MEM_FENCE);\n    r0[i] = l[{} - me];\n    {name}({FENCE}{scope});\n  }}\n}}\n",
            GROUP - 1
        );
    } else {
        let _ = write!(
            text,
            "{open}    uint v = a0[i];\n    {name}({FENCE});\n    {name}(CLK_LOCAL_MEM_FENCE);\n    r0[i] = v;\n    {name}(CLK_GLOBAL_MEM_FENCE);\n  }}\n}}\n"
        );
    }
    text
}

/// Elements of local memory that the copies go through.
const ROOM: usize = 256;

/// The copies of a whole group, part by part: `body` for each width, with `w` for the vector and `n` for their count.
fn copies(kernel: &str, element: Element, body: impl Fn(&str, usize) -> String) -> String {
    let local = format!(
        "{{\n  __local {0} l[{ROOM}] __attribute__((aligned(128)));\n  size_t start = get_group_id(0) * {GROUP} * count;\n",
        element.name()
    );
    let mut text = copying(kernel, element).replacen("{\n", &local, 1);
    for width in WIDTHS {
        // Vectors of three have the room of four.
        let vectors = ROOM / if width == 3 { 4 } else { width };
        let _ = writeln!(text, "  for (size_t i = start; i < start + {GROUP} * count; i += {ROOM}) {{");
        text.push_str(&body(&element.vector(width), vectors));
        text.push_str(close_loop(false));
    }
    text.push_str("}\n");
    text
}

/// To local memory and back.
pub(in super::super) fn async_copy(kernel: &str, element: Element) -> String {
    copies(kernel, element, |w, n| {
        format!(
            "    event_t e = async_work_group_copy((__local {w} *)l, (const __global {w} *)(a0 + i), {n}, 0);
    wait_group_events(1, &e);
    e = async_work_group_copy((__global {w} *)(r0 + i), (const __local {w} *)l, {n}, 0);
    wait_group_events(1, &e);
    barrier({FENCE});
"
        )
    })
}

/// Every second vector to local memory and back to where it was.
pub(in super::super) fn strided_copy(kernel: &str, element: Element) -> String {
    copies(kernel, element, |w, n| {
        let n = n / 2;
        format!(
            "    event_t e = async_work_group_strided_copy((__local {w} *)l, (const __global {w} *)(a0 + i), {n}, 2, 0);
    wait_group_events(1, &e);
    e = async_work_group_strided_copy((__global {w} *)(r0 + i), (const __local {w} *)l, {n}, 2, 0);
    wait_group_events(1, &e);
    barrier({FENCE});
"
        )
    })
}

/// A hint, and then the copy that it is a hint for.
pub(in super::super) fn prefetch(kernel: &str, element: Element) -> String {
    let mut text = copying(kernel, element);
    for width in WIDTHS {
        text.push_str(&open_loop(1));
        let _ = writeln!(text, "    prefetch((const __global {} *)a0, 1);", element.vector(width));
        text.push_str("    r0[i] = a0[i];\n");
        text.push_str(close_loop(false));
    }
    text.push_str("}\n");
    text
}

/// The line that `print`'s kernel writes.
pub(in super::super) const PRINTED: &str = "offload 42 text 1.50 1,2,3,4 -7";

/// Every class of conversion: integers, strings, floats, vectors, and an argument that is not constant.
pub(in super::super) fn print(kernel: &str) -> String {
    format!(
        "__kernel void {kernel}(int x)
{{
  if (get_global_id(0) == 0) printf(\"offload %d %s %4.2f %v4hld %d\\n\", 42, \"text\", 1.5f, (int4)(1, 2, 3, 4), x);
}}
"
    )
}
