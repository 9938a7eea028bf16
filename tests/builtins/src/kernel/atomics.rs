//! Kernels of atomic functions, and of fences with an order.
//!
//! Each form of a function has, in `cells`, one cell for each work-item and two for each group. In one of the two it is
//! called for its result, in the other for its effect alone: compilers have other instructions for that.

use std::fmt::Write;

use super::super::atomic::{Atomic, Form, Outcome, Sharing};
use super::super::element::Element;
use super::super::signature::{Extent, Param};
use super::sync::FENCE;
use super::{GROUP, head, open_loop};

/// Which of the cells a call is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Own,
    Shared,
    /// Shared, and the result is not used.
    Unused,
}

const PLACES: [Place; 3] = [Place::Own, Place::Shared, Place::Unused];

pub(in super::super) fn atomic(kernel: &str, atomic: &Atomic) -> String {
    let number = atomic.element.name();
    let cell = &atomic.cell;
    let is_local = atomic.space == "__local";
    let passed = if is_local { number } else { cell };
    let mut text = extensions(atomic.element);
    let _ = write!(
        text,
        "__kernel void {kernel}(__global const {number} *a0, __global const {number} *a1, __global {passed} *cells, __global {number} *r0, __global uint *done)
{{
"
    );
    if is_local {
        let _ = writeln!(
            text,
            "  __local {cell} l[{}];\n  __local {number} *plain = (__local {number} *)l;",
            GROUP + 2
        );
    }
    let _ = writeln!(
        text,
        "  size_t i = get_global_id(0), me = get_local_id(0), n = get_global_size(0), groups = get_num_groups(0), group = get_group_id(0);
  {number} a = a0[i], b = a1[i];"
    );
    for form in atomic.forms {
        let calls = calls(atomic, *form);
        text.push_str(&if is_local { around(&calls) } else { calls });
        text.push_str("  cells += n + 2 * groups, r0 += 2 * n, done += 2 * n;\n");
    }
    text.push_str("}\n");
    text
}

fn extensions(element: Element) -> String {
    let names: &[&str] = match element {
        Element::Long | Element::ULong => &["cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"],
        Element::Double => &["cl_khr_fp64", "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"],
        _ => &[],
    };
    names.iter().map(|name| format!("#pragma OPENCL EXTENSION {name} : enable\n")).collect()
}

/// The calls of a form on all its cells.
fn calls(atomic: &Atomic, form: Form) -> String {
    let sharing = atomic.sharing(form);
    let places = PLACES.into_iter().filter(|place| *place == Place::Own || sharing != Sharing::Alone);
    places.map(|place| call(atomic, form, place)).collect()
}

fn call(atomic: &Atomic, form: Form, place: Place) -> String {
    let group = if atomic.sharing(form) == Sharing::Device { "" } else { " + group" };
    let pointer = match (atomic.space, place) {
        ("__local", Place::Own) => "&l[me]".to_string(),
        ("__local", Place::Shared) => format!("&l[{GROUP}]"),
        ("__local", Place::Unused) => format!("&l[{}]", GROUP + 1),
        (_, Place::Own) => "&cells[i]".to_string(),
        (_, Place::Shared) => format!("&cells[n{group}]"),
        (_, Place::Unused) => format!("&cells[n + groups{group}]"),
    };
    let call = atomic.call(form, &pointer);
    let number = atomic.element.name();
    let at = if place == Place::Own { "i" } else { "n + i" };
    let is_used = place != Place::Unused;
    match atomic.outcome {
        Outcome::Old if is_used => format!("  r0[{at}] = {call};\n"),
        Outcome::Nothing | Outcome::Old => format!("  {call};\n"),
        Outcome::Success => {
            let call = if atomic.is_weak() {
                format!("{number} e; bool ok; do {{ e = a; ok = {call}; }} while (!ok && e == a);")
            } else {
                format!("{number} e = a; bool ok = {call};")
            };
            let results = if is_used { format!(" r0[{at}] = e; done[{at}] = ok;") } else { String::new() };
            format!("  {{ {call}{results} }}\n")
        }
    }
}

/// Brings the cells to local memory and back.
fn around(calls: &str) -> String {
    format!(
        "  plain[me] = cells[i];
  if (me == 0) plain[{GROUP}] = cells[n + group], plain[{last}] = cells[n + groups + group];
  barrier({FENCE});
{calls}  barrier({FENCE});
  cells[i] = plain[me];
  if (me == 0) cells[n + group] = plain[{GROUP}], cells[n + groups + group] = plain[{last}];
  barrier({FENCE});
",
        last = GROUP + 1
    )
}

/// Pairs of orders that make what is written before a fence visible behind another.
const ORDERS: [(&str, &str); 3] = [
    ("memory_order_release", "memory_order_acquire"),
    ("memory_order_acq_rel", "memory_order_acq_rel"),
    ("memory_order_seq_cst", "memory_order_seq_cst"),
];

/// Each work-item reads what its partner in the group has written to local memory, if a flag shows that it has.
pub(in super::super) fn local_fence(kernel: &str, name: &str) -> String {
    let start = format!(
        "  __local uint l[{GROUP}];
  __local atomic_uint turns[{GROUP}];
  size_t me = get_local_id(0), other = {} - me;
  uint turn = 0;
  atomic_init(&turns[me], 0);
  barrier({FENCE});
",
        GROUP - 1
    );
    let mut text = copying(kernel).replacen("{\n", &format!("{{\n{start}"), 1) + &open_loop(1);
    text.push_str("    size_t partner = i - me * count + other * count;\n    uint v = a0[partner];\n");
    for (before, after) in ORDERS {
        let _ = write!(
            text,
            "    l[me] = a0[i] + ++turn;
    {name}(CLK_LOCAL_MEM_FENCE, {before}, memory_scope_work_group);
    atomic_store_explicit(&turns[me], turn, memory_order_relaxed, memory_scope_work_group);
    if (atomic_load_explicit(&turns[other], memory_order_relaxed, memory_scope_work_group) == turn) {{
      {name}(CLK_LOCAL_MEM_FENCE, {after}, memory_scope_work_group);
      if (l[other] != a0[partner] + turn) v = ~a0[partner];
    }}
    barrier({FENCE});
"
        );
    }
    text + "    r0[i] = v;\n  }\n}\n"
}

/// The same with a partner in another group, by way of global memory; a place there is written once.
pub(in super::super) fn global_fence(kernel: &str, name: &str) -> String {
    let start = "  size_t me = get_global_id(0), other = get_global_size(0) - 1 - me;
  volatile __global atomic_uint *flags = (volatile __global atomic_uint *)scratch;
";
    let head = copying(kernel).replacen("uint count)", "__global uint *scratch, uint count)", 1);
    let mut text = head.replacen("{\n", &format!("{{\n{start}"), 1) + &open_loop(1);
    text.push_str(
        "    size_t partner = other * count + i - first;
    uint v = a0[partner];
    size_t place = (i - first) * 4;
    if (place < 8) {
",
    );
    for (index, (before, after)) in ORDERS.into_iter().enumerate() {
        let _ = write!(
            text,
            "      scratch[me * 16 + place + {index}] = a0[i];
      {name}(CLK_GLOBAL_MEM_FENCE, {before}, memory_scope_device);
      atomic_store_explicit(&flags[me * 16 + 8 + place + {index}], 1, memory_order_relaxed, memory_scope_device);
      if (atomic_load_explicit(&flags[other * 16 + 8 + place + {index}], memory_order_relaxed, memory_scope_device) == 1) {{
        {name}(CLK_GLOBAL_MEM_FENCE, {after}, memory_scope_device);
        if (scratch[other * 16 + place + {index}] != a0[partner]) v = ~a0[partner];
      }}
"
        );
    }
    text + "    }\n    r0[i] = v;\n  }\n}\n"
}

fn copying(kernel: &str) -> String {
    let array = Param { element: Element::UInt, extent: Extent::Vector };
    head(kernel, &[(array, "a0".into())], &[array])
}
