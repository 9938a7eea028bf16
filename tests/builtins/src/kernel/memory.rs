//! Vector loads and stores, shuffles, and images.

use std::fmt::Write;

use super::super::element::{Element, WIDTHS};
use super::super::signature::{Extent, Param};
use super::{GROUP, close_loop, head, load, open_loop, store};

fn vector(element: Element) -> Param {
    Param { element, extent: Extent::Vector }
}

/// The type that arrays have: halves travel as their bits.
fn bits(element: Element) -> Element {
    if element == Element::Half { Element::UShort } else { element }
}

/// The widths of a name: `N` stands for 2 to 16.
fn widths(name: &str) -> &'static [usize] {
    if name.contains('N') { WIDTHS.get(1..).unwrap_or_default() } else { &[1] }
}

fn named(name: &str, width: usize) -> String {
    name.replace('N', &width.to_string())
}

/// Aligned vectors of three have the room of four.
fn pitch(name: &str, width: usize) -> usize {
    if width == 3 && (name.starts_with("vloada") || name.starts_with("vstorea")) { 4 } else { width }
}

/// Private and local memory: `t` points to room for 16 elements of `element`.
fn room(text: &str, (element, call): (Element, &str), space: &str) -> String {
    let name = element.name();
    // Only the aligned forms ask for more than the element's own alignment.
    let aligned = if pitch(call, 3) == 4 { " __attribute__((aligned(32)))" } else { "" };
    let declaration = match space {
        "__private" => format!("{{\n  {name} t[16]{aligned};\n"),
        "__local" => format!(
            "{{\n  __local {name} l[{}]{aligned};\n  __local {name} *t = l + get_local_id(0) * 16;\n",
            GROUP * 16
        ),
        _ => return text.to_string(),
    };
    text.replacen("{\n", &declaration, 1)
}

/// `vloadN`, `vload_half`, `vload_halfN`, `vloada_halfN` from `from` in memory of `space`.
pub(in super::super) fn vload(kernel: &str, name: &str, [from, to]: [Element; 2], space: &str) -> String {
    let raw = bits(from);
    let head = head(kernel, &[(vector(raw), "a0".into())], &[vector(to)]);
    let head = match space {
        "__constant" => head.replacen("__global const", "__constant", 1),
        _ => room(&head, (raw, name), space),
    };
    let mut text = head;
    for width in widths(name) {
        let call = named(name, *width);
        let to = to.vector(*width);
        let from = from.name();
        let pitch = pitch(name, *width);
        text.push_str(&open_loop(pitch));
        if matches!(space, "__private" | "__local") {
            for index in 0..*width {
                let _ = writeln!(text, "    t[{index}] = a0[i + {index}];");
            }
            let _ = writeln!(text, "    {to} v = {call}(0, (const {space} {from} *)t);");
        } else {
            let _ = writeln!(text, "    {to} v = {call}(i / {pitch}, (const {space} {from} *)a0);");
        }
        text.push_str(&store("r0", "v", *width));
        text.push_str(close_loop(false));
    }
    text.push_str("}\n");
    text
}

/// `vstoreN`, `vstore_half`, `vstore_halfN`, `vstorea_halfN` with a rounding mode in the name, to `to` in memory of
/// `space`.
pub(in super::super) fn vstore(kernel: &str, name: &str, [from, to]: [Element; 2], space: &str) -> String {
    let raw = bits(to);
    let head = head(kernel, &[(vector(from), "a0".into())], &[vector(raw)]);
    let mut text = room(&head, (raw, name), space);
    for width in widths(name) {
        let call = named(name, *width);
        let to = to.name();
        let pitch = pitch(name, *width);
        let value = load(from, "a0", *width);
        text.push_str(&open_loop(pitch));
        if matches!(space, "__private" | "__local") {
            let _ = writeln!(text, "    {call}({value}, 0, ({space} {to} *)t);");
            for index in 0..*width {
                let _ = writeln!(text, "    r0[i + {index}] = t[{index}];");
            }
        } else {
            let _ = writeln!(text, "    {call}({value}, i / {pitch}, ({space} {to} *)r0);");
        }
        text.push_str(close_loop(false));
    }
    text.push_str("}\n");
    text
}

/// The widths that shuffles take.
const SHUFFLED: [usize; 4] = [2, 4, 8, 16];

/// `shuffle` or `shuffle2` from each width to each.
pub(in super::super) fn shuffle(kernel: &str, name: &str, element: Element) -> String {
    let sources = if name == "shuffle2" { 2 } else { 1 };
    let mut inputs: Vec<_> = (0..sources).map(|index| (vector(element), format!("a{index}"))).collect();
    inputs.push((vector(element.unsigned()), format!("a{sources}")));
    let mut text = head(kernel, &inputs, &[vector(element)]);
    for from in SHUFFLED {
        for to in SHUFFLED {
            text.push_str(&open_loop(16));
            let mut args: Vec<_> =
                (0..sources).map(|index| load(element, &format!("a{index}"), from)).collect();
            args.push(load(element.unsigned(), &format!("a{sources}"), to));
            let _ = writeln!(text, "    {} v = {name}({});", element.vector(to), args.join(", "));
            text.push_str(&store("r0", "v", to));
            text.push_str(close_loop(false));
        }
    }
    text.push_str("}\n");
    text
}

/// The number of elements of every vector type; it has to be known to the compiler.
pub(in super::super) fn vec_step(kernel: &str, element: Element) -> String {
    let mut text = head(kernel, &[(vector(Element::Int), "a0".into())], &[vector(Element::Int)]);
    if element == Element::Double {
        text.insert_str(0, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    }
    for width in WIDTHS {
        text.push_str(&open_loop(1));
        let _ = writeln!(text, "    r0[i] = a0[i] * vec_step({});", element.vector(width));
        text.push_str(close_loop(false));
    }
    text.push_str("}\n");
    text
}

/// `int` or `float` coordinates for an image.
fn coordinates(element: Element, count: usize) -> String {
    element.vector(count)
}

/// A read with a sampler and coordinates of both types, and one without, as far as the image has them.
pub(in super::super) fn read_image(kernel: &str, name: &str, (image, count): (&str, usize)) -> String {
    let int = coordinates(Element::Int, count);
    let float = coordinates(Element::Float, count);
    let result = pixel(name);
    let mut text = format!(
        "__kernel void {kernel}(__read_only {image} image, __global {result} *r, {int} at, {float} where)\n{{\n"
    );
    let _ = writeln!(text, "  r[0] = {name}(image, at);");
    if image != "image1d_buffer_t" {
        text.push_str(
            "  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n",
        );
        let _ = writeln!(text, "  r[1] = {name}(image, s, at);\n  r[2] = {name}(image, s, where);");
    }
    text.push_str("}\n");
    text
}

/// A write of one pixel.
pub(in super::super) fn write_image(kernel: &str, name: &str, (image, count): (&str, usize)) -> String {
    let at = coordinates(Element::Int, count);
    let color = pixel(name);
    format!(
        "__kernel void {kernel}(__write_only {image} image, {at} at, {color} color)\n{{\n  {name}(image, at, color);\n}}\n"
    )
}

fn pixel(name: &str) -> &'static str {
    match name.strip_prefix("read_image").or(name.strip_prefix("write_image")) {
        Some("i") => "int4",
        Some("ui") => "uint4",
        _ => "float4",
    }
}

/// A question about an image.
pub(in super::super) fn image_query(kernel: &str, name: &str, image: &str) -> String {
    let result = match (name, image) {
        ("get_image_dim", "image3d_t") => "int4",
        ("get_image_dim", _) => "int2",
        ("get_image_array_size", _) => "size_t",
        _ => "int",
    };
    format!(
        "__kernel void {kernel}(__read_only {image} image, __global {} *r)\n{{\n  r[0] = {name}(image);\n}}\n",
        if result == "size_t" { "ulong" } else { result }
    )
}
