//! The kernels' sources.
//!
//! Arrays are read and written by element, so that only the built-in that a kernel is for can fail in it.

mod atomics;
mod memory;
mod sub_groups;
mod sync;

use std::fmt::Write;

pub(super) use self::atomics::{atomic, global_fence, local_fence};
pub(super) use self::memory::{image_query, read_image, shuffle, vec_step, vload, vstore, write_image};
pub(super) use self::sub_groups::{
    sub_group_arithmetic, sub_group_barrier, sub_group_bits, sub_group_exchange,
};
pub(super) use self::sync::{PRINTED, async_copy, fence, prefetch, print, strided_copy, work_item};
use super::element::Element;
use super::signature::{Extent, Param, Signature};

/// Work-items of a group; kernels with local memory count on it.
pub(super) const GROUP: usize = 16;

/// A kernel that calls an element-wise function or a reduction for every width; a pointer argument is to `space`.
pub(super) fn map(
    kernel: &str,
    name: &str,
    signature: &Signature,
    (widths, space): (&[usize], &str),
) -> String {
    let names = (0..signature.inputs.len()).map(|index| format!("a{index}"));
    let inputs: Vec<(Param, String)> = signature.inputs.iter().copied().zip(names).collect();
    let mut text = head(kernel, &inputs, &outputs(signature));
    if let Some(pointer) = signature.pointer {
        text = with_room(&text, pointer.element, (widths, space));
    }
    for width in widths {
        text.push_str(&open_loop(*width));
        text.push_str(&call(name, signature, &inputs, (*width, space)));
        text.push_str(close_loop(signature.pointer.is_some()));
    }
    text.push_str("}\n");
    text
}

/// One call and what becomes of its results.
fn call(
    name: &str,
    signature: &Signature,
    inputs: &[(Param, String)],
    (width, space): (usize, &str),
) -> String {
    let loads = inputs.iter().map(|(param, array)| load(param.element, array, extent(param, width)));
    let mut args: Vec<String> = loads.collect();
    let mut text = String::new();
    if let Some(pointer) = signature.pointer {
        text.push_str(&pointee(pointer.element, (width, space)));
        args.push("p".to_string());
    }
    let result = extent(&signature.result, width);
    let result_type = signature.result.element.vector(result);
    let _ = writeln!(text, "    {result_type} v = {name}({});", args.join(", "));
    text.push_str(&store("r0", "v", result));
    if signature.pointer.is_some() {
        text.push_str(&store("r1", "(*p)", width));
    }
    text
}

/// `p`, a pointer to a vector of the work-item's own.
fn pointee(element: Element, (width, space): (usize, &str)) -> String {
    let vector = element.vector(width);
    match space {
        "__local" => format!("    __local {vector} *p = &l{width}[get_local_id(0)];\n"),
        "__global" => {
            format!("    __global {vector} *p = (__global {vector} *)(scratch + get_global_id(0) * 16);\n")
        }
        _ => format!("    {vector} o;\n    {vector} *p = &o;\n"),
    }
}

/// Adds what pointers to local and global memory point to. Local variables stand at the start of a kernel.
fn with_room(head: &str, element: Element, (widths, space): (&[usize], &str)) -> String {
    match space {
        "__local" => {
            let mut locals = String::new();
            for width in widths {
                locals.push_str(&format!("  __local {} l{width}[{GROUP}];\n", element.vector(*width)));
            }
            head.replacen("{\n", &format!("{{\n{locals}"), 1)
        }
        "__global" => {
            head.replacen("uint count)", &format!("__global {} *scratch, uint count)", element.name()), 1)
        }
        _ => head.to_string(),
    }
}

fn outputs(signature: &Signature) -> Vec<Param> {
    [signature.result].into_iter().chain(signature.pointer).collect()
}

fn extent(param: &Param, width: usize) -> usize {
    if param.extent == Extent::Scalar { 1 } else { width }
}

/// The kernel's parameters and where its part of the arrays starts.
fn head(kernel: &str, inputs: &[(Param, String)], outputs: &[Param]) -> String {
    let mut text = String::new();
    if uses_double(inputs.iter().map(|(param, _)| param).chain(outputs)) {
        text.push_str("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    }
    let _ = write!(text, "__kernel void {kernel}(");
    for (param, name) in inputs {
        let _ = write!(text, "__global const {} *{name}, ", param.element.name());
    }
    for (index, param) in outputs.iter().enumerate() {
        let _ = write!(text, "__global {} *r{index}, ", param.element.name());
    }
    text.push_str(
        "uint count)\n{\n  size_t part = get_global_size(0) * count, first = get_global_id(0) * count;\n",
    );
    text
}

pub(super) fn uses_double<'a>(mut params: impl Iterator<Item = &'a Param>) -> bool {
    params.any(|param| param.element == Element::Double)
}

/// Not unrolled: the calls of a width would be copied as often as the loop runs.
fn open_loop(width: usize) -> String {
    format!("  #pragma unroll 1\n  for (size_t i = first; i < first + count; i += {width}) {{\n")
}

/// Results of the next width follow.
fn close_loop(two: bool) -> &'static str {
    if two { "  }\n  r0 += part;\n  r1 += part;\n" } else { "  }\n  r0 += part;\n" }
}

/// `(float2)(a[i + 0], a[i + 1])`
fn load(element: Element, array: &str, width: usize) -> String {
    if width == 1 {
        return format!("{array}[i]");
    }
    let parts: Vec<String> = (0..width).map(|index| format!("{array}[i + {index}]")).collect();
    format!("({})({})", element.vector(width), parts.join(", "))
}

fn store(array: &str, value: &str, width: usize) -> String {
    if width == 1 {
        return format!("    {array}[i] = {value};\n");
    }
    (0..width).map(|index| format!("    {array}[i + {index}] = {value}.s{index:x};\n")).collect()
}
