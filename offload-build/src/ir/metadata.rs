//! Kernels and their arguments, from the metadata that clang attaches to them.

use std::collections::BTreeMap;

use offload_format::pack::ArgKind;

use super::signature::{Param, params};
use super::{Kernel, KernelArg as Arg, global_name, is_kernel};

/// Attachments of a `define` line, then of the nodes: `!13` to its operands.
type Nodes<'a> = BTreeMap<&'a str, &'a str>;

/// The kernels that a module defines, in order.
pub(crate) fn kernels(module: &str) -> Vec<Kernel> {
    let nodes: Nodes<'_> = module
        .lines()
        .filter_map(|line| {
            let (name, value) = line.strip_prefix('!')?.split_once(" = ")?;
            Some((name, value.strip_prefix("!{")?.strip_suffix('}')?))
        })
        .collect();
    let defined = module.lines().filter(|line| line.starts_with("define ") && is_kernel(line));
    defined.filter_map(|line| kernel(line, &nodes)).collect()
}

fn kernel(line: &str, nodes: &Nodes<'_>) -> Option<Kernel> {
    let (name, rest) = global_name(line)?;
    let attached = |kind: &str| {
        let node = rest.split_once(&format!("!{kind} !"))?.1;
        nodes.get(node.split([' ', '{']).next()?).copied()
    };
    let strings = |kind| attached(kind).map(strings).unwrap_or_default();
    let (types, base_types) = (strings("kernel_arg_type"), strings("kernel_arg_base_type"));
    let (names, access) = (strings("kernel_arg_name"), strings("kernel_arg_access_qual"));
    let spaces = attached("kernel_arg_addr_space").map(integers).unwrap_or_default();
    let params = params(rest).map(|(list, _)| list).unwrap_or_default();
    let described = spaces.iter().enumerate().map(|(index, space)| {
        let text = |list: &[String]| list.get(index).cloned().unwrap_or_default();
        let base_type = text(&base_types);
        let kind = kind(*space, &base_type, &text(&access));
        let size = params.get(index).filter(|_| kind == ArgKind::Value).and_then(Param::size);
        Arg { name: text(&names), type_name: text(&types), base_type, kind, size }
    });
    // Only OpenCL C describes its arguments; of other languages there is the signature.
    let args: Vec<Arg> =
        if spaces.is_empty() { params.iter().map(plain_arg).collect() } else { described.collect() };
    let size = attached("reqd_work_group_size").map(integers).unwrap_or_default();
    let required_work_group = <[u32; 3]>::try_from(size).unwrap_or_default();
    Some(Kernel { name: name.to_string(), args, required_work_group })
}

fn plain_arg(param: &Param<'_>) -> Arg {
    let type_name = param.type_text().to_string();
    let name = if param.name().starts_with(|c: char| c.is_ascii_digit()) { "" } else { param.name() };
    Arg {
        name: name.to_string(),
        base_type: type_name.clone(),
        type_name,
        kind: param.kind(),
        size: param.size(),
    }
}

/// Address spaces are those of SPIR 1.2, whatever the target.
fn kind(space: u32, base_type: &str, access: &str) -> ArgKind {
    match space {
        _ if base_type == "sampler_t" => ArgKind::Sampler,
        _ if access != "none" && !access.is_empty() => ArgKind::Image,
        0 => ArgKind::Value,
        2 => ArgKind::Constant,
        3 => ArgKind::Local,
        _ => ArgKind::Global,
    }
}

/// `!"float*", !"uint"`
fn strings(operands: &str) -> Vec<String> {
    // Quotes inside a string are written \22, so every second piece is a string.
    operands.split('"').skip(1).step_by(2).map(unescape).collect()
}

/// `i32 0, i32 1`
fn integers(operands: &str) -> Vec<u32> {
    let last = |operand: &str| operand.trim().rsplit(' ').next().and_then(|number| number.parse().ok());
    operands.split(',').filter_map(last).collect()
}

/// `\5C` to `\`.
fn unescape(text: &str) -> String {
    let mut pieces = text.split('\\');
    let mut out = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        let code = piece.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (code, piece.get(2..)) {
            (Some(code), Some(rest)) => out.extend([char::from(code).to_string().as_str(), rest]),
            _ => out.extend(["\\", piece]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = r#"
define spir_kernel void @saxpy(float noundef %a, ptr addrspace(1) %x) #0 !kernel_arg_addr_space !3 !kernel_arg_access_qual !4 !kernel_arg_type !5 !kernel_arg_base_type !6 !kernel_arg_type_qual !7 !kernel_arg_name !8 !reqd_work_group_size !9 {
define void @__clang_ocl_kern_imp_saxpy(float %a) #1 !kernel_arg_addr_space !3 {
define spir_kernel void @none() #0 {
!3 = !{i32 0, i32 1}
!4 = !{!"none", !"none"}
!5 = !{!"scale_t", !"float*"}
!6 = !{!"float", !"float*"}
!7 = !{!"", !"const"}
!8 = !{!"a", !"x"}
!9 = !{i32 64, i32 2, i32 1}
"#;

    #[test]
    fn kernels_and_arguments() {
        let kernels = kernels(MODULE);
        assert_eq!(kernels.len(), 2);
        assert_eq!((kernels[0].name.as_str(), kernels[0].required_work_group), ("saxpy", [64, 2, 1]));
        let [a, x] = kernels[0].args.as_slice() else { panic!("{:?}", kernels[0].args) };
        assert_eq!(
            (a.type_name.as_str(), a.base_type.as_str(), a.kind),
            ("scale_t", "float", ArgKind::Value)
        );
        assert_eq!((x.name.as_str(), x.kind), ("x", ArgKind::Global));
        assert_eq!((a.size, x.size), (Some(4), None));
        assert!(kernels[1].args.is_empty());
    }

    #[test]
    fn other_languages_have_signatures_alone() {
        let line =
            "define protected ptx_kernel void @k(float noundef %0, ptr addrspace(1) noundef %x) #0 {\n";
        let kernels = kernels(line);
        let [a, x] = kernels[0].args.as_slice() else { panic!("{:?}", kernels[0].args) };
        assert_eq!((a.name.as_str(), a.type_name.as_str(), a.size), ("", "float", Some(4)));
        assert_eq!((x.name.as_str(), x.kind), ("x", ArgKind::Global));
    }

    #[test]
    fn escapes() {
        assert_eq!(strings(r#"!"a\22b", !"c\5Cd""#), ["a\"b", "c\\d"]);
    }
}
