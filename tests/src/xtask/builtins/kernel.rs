//! The kernels' sources.
//!
//! Arrays are read and written by element, so that only the built-in that a kernel is for can fail in it.

mod memory;
mod sync;

use std::fmt::Write;

pub(super) use self::memory::{image_query, read_image, shuffle, vec_step, vload, vstore, write_image};
pub(super) use self::sync::{PRINTED, async_copy, atomic, fence, prefetch, print, strided_copy, work_item};
use super::element::Element;
use super::signature::{Extent, Param, Signature};

/// Work-items of a group; kernels with local memory count on it.
pub(super) const GROUP: usize = 16;

/// A kernel that calls an element-wise function or a reduction for every width.
pub(super) fn map(kernel: &str, name: &str, signature: &Signature, (widths, space): (&[usize], &str)) -> String {
    let mut params: Vec<(Param, String)> = Vec::new();
    for (index, param) in signature.inputs.iter().enumerate() {
        params.push((*param, format!("a{index}")));
    }
    let mut text = head(kernel, &params, &outputs(signature));
    for width in widths {
        text.push_str(&open_loop(*width));
        let mut args: Vec<String> =
            params.iter().map(|(param, array)| load(param.element, array, extent(param, *width))).collect();
        if let Some(pointer) = signature.pointer {
            let pointed = pointer.element.vector(*width);
            match space {
                "__private" => text.push_str(&format!("    {pointed} o;\n")),
                "__local" => text.push_str(&format!("    __local {pointed} *p = &l{width}[get_local_id(0)];\n")),
                _ => text.push_str(&format!(
                    "    __global {pointed} *p = (__global {pointed} *)(scratch + get_global_id(0) * 16);\n"
                )),
            }
            args.push(if space == "__private" { "&o".into() } else { "p".into() });
        }
        let result = extent(&signature.result, *width);
        let call = format!("{name}({})", args.join(", "));
        let _ = writeln!(text, "    {} v = {call};", result_type(signature, *width));
        text.push_str(&store("r0", "v", result));
        if signature.pointer.is_some() {
            let from = if space == "__private" { "o" } else { "(*p)" };
            text.push_str(&store("r1", from, *width));
        }
        text.push_str(close_loop(signature.pointer.is_some()));
    }
    text.push_str("}\n");
    with_locals(&text, signature, (widths, space))
}

/// Local variables stand at the start of the kernel.
fn with_locals(text: &str, signature: &Signature, (widths, space): (&[usize], &str)) -> String {
    let Some(pointer) = signature.pointer.filter(|_| space == "__local") else {
        let scratch = signature.pointer.filter(|_| space == "__global");
        return match scratch {
            Some(pointer) => {
                let param = format!("__global {} *scratch, uint count)", pointer.element.name());
                text.replacen("uint count)", &param, 1)
            }
            None => text.to_string(),
        };
    };
    let mut locals = String::from("{\n");
    for width in widths {
        let _ = writeln!(locals, "  __local {} l{width}[{GROUP}];", pointer.element.vector(*width));
    }
    text.replacen("{\n", &locals, 1)
}

fn outputs(signature: &Signature) -> Vec<Param> {
    [signature.result].into_iter().chain(signature.pointer).collect()
}

/// What a call of this width returns: comparisons of scalars return int, whatever they compare.
fn result_type(signature: &Signature, width: usize) -> String {
    signature.result.element.vector(extent(&signature.result, width))
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
    text.push_str("uint count)\n{\n  size_t part = get_global_size(0) * count, first = get_global_id(0) * count;\n");
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
