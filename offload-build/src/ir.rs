//! What has to be known of LLVM IR, read from its text form.
//!
//! Text, not bitcode, because its lines are stable across releases and no library is needed
//! (<https://llvm.org/docs/LangRef.html>).

mod calls;
mod prepare;
mod rewrite;

use std::collections::BTreeMap;

use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};

pub(crate) use calls::{aspects, declared, reaching};
pub(crate) use prepare::{LocalArguments, Prepared, prepare};
pub(crate) use rewrite::{in_global_memory, thread_local_state, with_conventions, without_processor};

/// A kernel found in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) args: Vec<KernelArg>,
    pub(crate) required_work_group: Option<[u32; 3]>,
}

/// One of its arguments, in OpenCL C's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KernelArg {
    pub(crate) name: String,
    /// As written, with typedefs.
    pub(crate) type_name: String,
    /// With typedefs resolved.
    pub(crate) base_type: String,
    pub(crate) kind: ArgKind,
    /// Size in bytes of a value, where its type in LLVM's IR says it.
    pub(crate) size: Option<u32>,
}

impl Kernel {
    /// The kernel's record; sizes and resources are filled in where an image tells them.
    pub(crate) fn record(&self) -> KernelInfo {
        let arg = |arg: &KernelArg| {
            ArgInfo::new(arg.kind).named(arg.name.clone(), arg.type_name.clone()).with_size(arg.size)
        };
        {
            let mut info = KernelInfo::new(self.name.clone());
            info.args = Some(self.args.iter().map(arg).collect());
            info.required_work_group = self.required_work_group;
            info
        }
    }
}

/// The name after the first `@` of `text`, and what follows it.
fn global_name(text: &str) -> Option<(&str, &str)> {
    let rest = text.split_once('@')?.1;
    if let Some(quoted) = rest.strip_prefix('"') {
        return quoted.split_once('"');
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "._$-".contains(c);
    let end = rest.find(|c| !plain(c)).unwrap_or(rest.len());
    rest.split_at_checked(end)
}

/// Whether a `define` line is of a kernel, on any GPU.
fn is_kernel(line: &str) -> bool {
    [" spir_kernel ", " ptx_kernel ", " amdgpu_kernel "].iter().any(|convention| line.contains(convention))
}

/// Attachments of a `define` line, then of the nodes: `!13` to its operands.
type Nodes<'a> = BTreeMap<&'a str, &'a str>;

/// The kernels that a module defines, in order.
pub(crate) fn kernels(module: &str) -> Vec<Kernel> {
    let mut nodes = Nodes::new();
    for line in module.lines() {
        let node = line.strip_prefix('!').and_then(|rest| rest.split_once(" = "));
        if let Some((name, value)) = node
            && let Some(operands) = value.strip_prefix("!{").and_then(|value| value.strip_suffix('}'))
        {
            nodes.insert(name, operands);
        }
    }
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
        KernelArg { name: text(&names), type_name: text(&types), base_type, kind, size }
    });
    // Only OpenCL C describes its arguments; of other languages there is the signature.
    let args: Vec<KernelArg> =
        if spaces.is_empty() { params.iter().map(plain_arg).collect() } else { described.collect() };
    let size = attached("reqd_work_group_size").map(integers).unwrap_or_default();
    let required_work_group = <[u32; 3]>::try_from(size).ok().filter(|size| *size != [0; 3]);
    Some(Kernel { name: name.to_string(), args, required_work_group })
}

fn plain_arg(param: &Param<'_>) -> KernelArg {
    let type_name = param.type_text().to_string();
    let name = if param.name().starts_with(|c: char| c.is_ascii_digit()) { "" } else { param.name() };
    KernelArg {
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

/// One parameter as written: type, attributes and name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Param<'a> {
    text: &'a str,
}

/// The parameters between the parentheses that `rest`, the text after the function's name, starts with, and what
/// follows them.
fn params(rest: &str) -> Option<(Vec<Param<'_>>, &str)> {
    let inner = rest.strip_prefix('(')?;
    let (mut depth, mut start, mut list) = (0u32, 0, Vec::new());
    for (at, char) in inner.char_indices() {
        match char {
            ')' if depth == 0 => {
                push(&mut list, inner.get(start..at)?);
                return Some((list, inner.get(at.checked_add(1)?..)?));
            }
            '(' | '<' | '{' | '[' => depth = depth.checked_add(1)?,
            ')' | '>' | '}' | ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                push(&mut list, inner.get(start..at)?);
                start = at.checked_add(1)?;
            }
            _ => {}
        }
    }
    None
}

fn push<'a>(list: &mut Vec<Param<'a>>, text: &'a str) {
    let text = text.trim();
    if !text.is_empty() {
        list.push(Param { text });
    }
}

impl<'a> Param<'a> {
    /// `float`, `<4 x float>`, `ptr addrspace(3)`.
    fn type_text(&self) -> &'a str {
        let end = match self.text.chars().next() {
            Some('<') => self.text.find('>').and_then(|at| at.checked_add(1)),
            Some('{' | '[') => None,
            _ => self.text.find(' '),
        };
        let end = end.unwrap_or(self.text.len());
        let plain = self.text.get(..end).unwrap_or(self.text);
        let space = self.text.strip_prefix("ptr addrspace(").and_then(|rest| rest.find(')'));
        let with_space = space.and_then(|at| self.text.get(..at.checked_add("ptr addrspace(".len() + 1)?));
        with_space.unwrap_or(plain)
    }

    /// The name or number after the `%`.
    fn name(&self) -> &'a str {
        self.text.rsplit_once('%').map(|(_, name)| name).unwrap_or_default()
    }

    /// In the numbering of address spaces that AMD, NVIDIA and SPIR-V share for global and local memory.
    fn kind(&self) -> ArgKind {
        if !self.text.starts_with("ptr") || self.by_value() {
            return ArgKind::Value;
        }
        match self.type_text() {
            "ptr addrspace(3)" => ArgKind::Local,
            // 2 in SPIR, 4 on AMD and NVIDIA.
            "ptr addrspace(2)" | "ptr addrspace(4)" => ArgKind::Constant,
            _ => ArgKind::Global,
        }
    }

    /// Size in bytes of a value whose type says it; structures do not.
    fn size(&self) -> Option<u32> {
        match self.kind() {
            ArgKind::Value => type_size(self.type_text()),
            _ => None,
        }
    }

    /// A structure that is passed by value through a pointer.
    fn by_value(&self) -> bool {
        self.text.contains(" byval(") || self.text.contains(" byref(")
    }
}

fn type_size(text: &str) -> Option<u32> {
    if let Some(vector) = text.strip_prefix('<').and_then(|text| text.strip_suffix('>')) {
        let (count, element) = vector.split_once(" x ")?;
        let count: u32 = count.trim().parse().ok()?;
        // A vector of three is as large as one of four.
        let elements = if count == 3 { 4 } else { count };
        return type_size(element.trim())?.checked_mul(elements);
    }
    Some(match text {
        "i8" => 1,
        "i16" | "half" | "bfloat" => 2,
        "i32" | "float" => 4,
        "i64" | "double" => 8,
        _ => return None,
    })
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
        assert_eq!((kernels[0].name.as_str(), kernels[0].required_work_group), ("saxpy", Some([64, 2, 1])));
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

    #[test]
    fn parameters_are_taken_apart() {
        let line = "(ptr addrspace(1) noundef align 4 %x, <3 x float> noundef %v, ptr byval(%struct.s) align 8 %2, ptr addrspace(3) %t) #0 !x {";
        let (params, rest) = params(line).unwrap();
        let types: Vec<_> = params.iter().map(Param::type_text).collect();
        assert_eq!(types, ["ptr addrspace(1)", "<3 x float>", "ptr", "ptr addrspace(3)"]);
        let kinds: Vec<_> = params.iter().map(Param::kind).collect();
        assert_eq!(kinds, [ArgKind::Global, ArgKind::Value, ArgKind::Value, ArgKind::Local]);
        let sizes: Vec<_> = params.iter().map(Param::size).collect();
        assert_eq!(sizes, [None, Some(16), None, None]);
        assert_eq!((params[1].name(), params[2].name()), ("v", "2"));
        assert_eq!(rest, " #0 !x {");
        assert!(super::params("()").unwrap().0.is_empty());
    }
}
