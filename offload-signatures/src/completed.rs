//! Argument types from declarations in the source, for kernels whose records have names and sizes alone.

use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};

use crate::name::KernelName;
use crate::parameter;

/// `kernels` with the types of those that are `declared` once with arguments of the same sizes.
pub fn completed(mut kernels: Vec<KernelInfo>, declared: &[KernelInfo]) -> Vec<KernelInfo> {
    for kernel in &mut kernels {
        if is_typed(kernel) {
            continue;
        }
        let Some(args) = declaration(kernel, declared) else { continue };
        let recorded: Vec<ArgInfo> = kernel.args.take().into_iter().flatten().collect();
        let sized = args.iter().zip(recorded).map(|(arg, recorded)| {
            arg.clone().with_size(recorded.size).with_element_size(recorded.element_size)
        });
        kernel.args = Some(sized.collect());
    }
    kernels
}

/// Whether the record of `kernel` tells the types of its arguments.
fn is_typed(kernel: &KernelInfo) -> bool {
    let Some(args) = &kernel.args else { return false };
    args.iter().all(|arg| !arg.base_type.is_empty() || matches!(arg.kind, ArgKind::Image | ArgKind::Sampler))
}

/// The arguments with which `kernel` is declared, if there is no doubt.
fn declaration<'a>(kernel: &KernelInfo, declared: &'a [KernelInfo]) -> Option<&'a [ArgInfo]> {
    let name = KernelName::parse(&kernel.name);
    let mut fitting = Vec::new();
    for other in declared {
        if KernelName::parse(&other.name).base == name.base && has_fitting_arguments(kernel, other) {
            fitting.push(other);
        }
    }
    let exact: Vec<&KernelInfo> =
        fitting.iter().copied().filter(|other| KernelName::parse(&other.name) == name).collect();
    match (fitting.as_slice(), exact.as_slice()) {
        ([only], _) | (_, [only]) => only.args.as_deref(),
        _ => None,
    }
}

fn has_fitting_arguments(kernel: &KernelInfo, declared: &KernelInfo) -> bool {
    let (Some(args), Some(others)) = (&kernel.args, &declared.args) else { return false };
    args.len() == others.len() && args.iter().zip(others).all(|(arg, other)| fits(arg, other))
}

/// Whether a recorded argument may be declared as `declared`.
fn fits(recorded: &ArgInfo, declared: &ArgInfo) -> bool {
    let pointer = matches!(declared.kind, ArgKind::Global | ArgKind::Constant | ArgKind::Local);
    match recorded.kind {
        ArgKind::Value if pointer => false,
        ArgKind::Value => match (recorded.size, parameter::size(&declared.base_type)) {
            (Some(recorded), Some(declared)) => recorded == declared,
            _ => true,
        },
        ArgKind::Global | ArgKind::Constant | ArgKind::Local => pointer,
        // Eight bytes that may be either.
        _ => pointer || parameter::size(&declared.base_type).is_none_or(|size| size == 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(name: &str, args: Vec<ArgInfo>) -> KernelInfo {
        let mut info = KernelInfo::new(name);
        info.args = Some(args);
        info
    }

    fn value(size: u32) -> ArgInfo {
        ArgInfo::new(ArgKind::Value).with_size(size)
    }

    fn declared(kind: ArgKind, base: &str) -> ArgInfo {
        ArgInfo::new(kind).named("x", base.to_string()).with_base_type(base)
    }

    fn base_types(kernel: &KernelInfo) -> Vec<&str> {
        kernel.args.iter().flatten().map(|arg| arg.base_type.as_str()).collect()
    }

    #[test]
    fn declarations_of_the_same_sizes_give_their_types() {
        let source = [
            kernel("scale", vec![declared(ArgKind::Global, "float"), declared(ArgKind::Value, "float")]),
            kernel("axpy<double>", vec![declared(ArgKind::Value, "double")]),
            kernel("axpy<float>", vec![declared(ArgKind::Value, "float")]),
        ];
        let recorded = vec![
            kernel("_Z5scalePff", vec![ArgInfo::new(ArgKind::Unknown(u16::MAX)), value(4)]),
            kernel("_Z4axpyIfEvT_", vec![value(4)]),
            kernel("other", vec![value(4)]),
            kernel("scale", vec![value(4), value(4)]),
        ];
        let completed = completed(recorded, &source);
        assert_eq!(base_types(&completed[0]), ["float", "float"]);
        assert_eq!(base_types(&completed[1]), ["float"]);
        assert_eq!(base_types(&completed[2]), [""]);
        // A number is no pointer.
        assert_eq!(base_types(&completed[3]), ["", ""]);
        assert_eq!(completed[0].name, "_Z5scalePff");
    }

    #[test]
    fn overloads_of_the_same_sizes_stay_untyped() {
        let source = [
            kernel("k", vec![declared(ArgKind::Value, "float")]),
            kernel("k", vec![declared(ArgKind::Value, "int")]),
        ];
        let completed = completed(vec![kernel("_Z1kf", vec![value(4)])], &source[..]);
        assert_eq!(completed[0].args.as_ref().unwrap()[0].base_type, "");
    }
}
