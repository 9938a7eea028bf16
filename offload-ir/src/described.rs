//! The arguments of an OpenCL kernel, as clang describes them in metadata
//! (<https://clang.llvm.org/docs/ClangCommandLineReference.html#cmdoption-clang-cl-kernel-arg-info>).

use offload_format::pack::ArgKind;

use offload_workgroup::ir::{Parameter, Types, integers};

use crate::attachments::Attachments;
use crate::kernel::{KernelArg, value_size};

/// The arguments that the metadata of a function describes. None for a function of another language.
pub(crate) fn arguments(
    attachments: &Attachments<'_>,
    params: &[Parameter<'_>],
    structures: &Types<'_>,
) -> Vec<KernelArg> {
    let types = attached_strings(attachments, "kernel_arg_type");
    let base_types = attached_strings(attachments, "kernel_arg_base_type");
    let names = attached_strings(attachments, "kernel_arg_name");
    let access = attached_strings(attachments, "kernel_arg_access_qual");
    let qualifiers = attached_strings(attachments, "kernel_arg_type_qual");
    let spaces = attachments.operands("kernel_arg_addr_space").map(integers).unwrap_or_default();
    let described = spaces.iter().enumerate().map(|(index, space)| {
        let base_type = text_at(&base_types, index);
        let access = text_at(&access, index);
        let kind = kind(*space, &base_type, &access);
        KernelArg {
            name: text_at(&names, index),
            type_name: text_at(&types, index),
            base_type: pointee(kind, &plain_vector(&base_type)).to_string(),
            kind,
            size: params
                .get(index)
                .filter(|_| kind == ArgKind::Value)
                .and_then(|param| value_size(structures, param)),
            is_structure: params.get(index).is_some_and(Parameter::is_by_value),
            element_size: element_size(kind, &base_type, structures),
            is_const: match kind {
                ArgKind::Image => access == "read_only",
                _ => text_at(&qualifiers, index).split(' ').any(|word| word == "const"),
            },
            access: if kind == ArgKind::Image { access } else { String::new() },
        }
    });
    described.collect()
}

fn attached_strings(attachments: &Attachments<'_>, kind: &str) -> Vec<String> {
    attachments.operands(kind).map(strings).unwrap_or_default()
}

fn text_at(list: &[String], index: usize) -> String {
    list.get(index).cloned().unwrap_or_default()
}

/// Size in bytes of the structure that a pointer of type `base_type` points to. clang names a structure by its tag or its
/// typedef, and metadata has the word `struct` with a tag alone.
fn element_size(kind: ArgKind, base_type: &str, types: &Types<'_>) -> Option<u32> {
    if !matches!(kind, ArgKind::Global | ArgKind::Constant) {
        return None;
    }
    let name = base_type.strip_suffix('*')?;
    let name = name.strip_prefix("struct ").or_else(|| name.strip_prefix("union ")).unwrap_or(name);
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let layout =
        types.layout(&format!("%struct.{name}")).or_else(|| types.layout(&format!("%union.{name}")))?;
    u32::try_from(layout.size).ok().filter(|size| *size != 0)
}

/// What a pointer points to.
fn pointee(kind: ArgKind, base_type: &str) -> &str {
    match kind {
        ArgKind::Global | ArgKind::Constant | ArgKind::Local => {
            base_type.strip_suffix('*').unwrap_or(base_type)
        }
        _ => base_type,
    }
}

/// `float __attribute__((ext_vector_type(4)))*` to `float4*`.
fn plain_vector(base_type: &str) -> String {
    let parts = base_type.split_once(" __attribute__((ext_vector_type(").and_then(|(element, rest)| {
        let (lanes, rest) = rest.split_once(")))")?;
        Some(format!("{element}{lanes}{rest}"))
    });
    parts.unwrap_or_else(|| base_type.to_string())
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

    #[test]
    fn escapes() {
        assert_eq!(strings(r#"!"a\22b", !"c\5Cd""#), ["a\"b", "c\\d"]);
    }

    #[test]
    fn vectors_have_short_names() {
        assert_eq!(plain_vector("uint __attribute__((ext_vector_type(4)))*"), "uint4*");
        assert_eq!(plain_vector("struct particle*"), "struct particle*");
        assert_eq!(pointee(ArgKind::Global, "float4*"), "float4");
        assert_eq!(pointee(ArgKind::Value, "float"), "float");
    }
}
