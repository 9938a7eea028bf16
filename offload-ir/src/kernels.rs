//! The kernels of a module and their arguments.

use std::collections::BTreeMap;

use offload_workgroup::ir::{Parameter, Symbol, Types, global_symbol, integers, parameters};

use crate::attachments::{Attachments, Nodes};
use crate::debug::DebugInfo;
use crate::kernel::{Kernel, KernelArg, value_size};
use crate::{argument_kind, described, is_kernel};

/// The kernels that a module defines, in order.
pub fn kernels(module: &str) -> Vec<Kernel> {
    let types = Types::new(module);
    let mut nodes = Nodes::new();
    for line in module.lines() {
        let node = line.strip_prefix('!').and_then(|rest| rest.split_once(" = "));
        if let Some((name, value)) = node
            && let Some(operands) = value.strip_prefix("!{").and_then(|value| value.strip_suffix('}'))
        {
            nodes.insert(name, operands);
        }
    }
    let bounds = launch_bounds(module);
    let defined = module.lines().filter(|line| line.starts_with("define ") && is_kernel(line));
    let mut kernels = Vec::new();
    for line in defined {
        let Some(mut kernel) = kernel(line, &nodes, &types) else { continue };
        kernel.launch_bound = line.split(" #").skip(1).find_map(|rest| bounds.get(first_word(rest))).copied();
        kernels.push(kernel);
    }
    kernels
}

/// The most work-items of a work-group, by the number of the attribute group
/// (<https://llvm.org/docs/NVPTXUsage.html#kernel-attributes>): `"nvvm.maxntid"="256"`.
fn launch_bounds(module: &str) -> BTreeMap<&str, u32> {
    let mut bounds = BTreeMap::new();
    for line in module.lines() {
        let Some(rest) = line.strip_prefix("attributes #") else { continue };
        let Some((_, value)) = rest.split_once("\"nvvm.maxntid\"=\"") else { continue };
        let sizes = value.split('"').next().unwrap_or_default().split(',');
        let product =
            sizes.map(|size| size.parse::<u32>().ok()).try_fold(1u32, |all, size| all.checked_mul(size?));
        bounds.extend(product.map(|most| (first_word(rest), most)));
    }
    bounds
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

/// Describes the arguments of `kernels` as debug information in `module`, IR of the same source, does.
pub fn take_types(kernels: &mut [Kernel], module: &str) {
    let debug = DebugInfo::parse(module);
    for line in module.lines().filter(|line| line.starts_with("define ")) {
        let Some(Symbol { name, rest }) = global_symbol(line) else { continue };
        let Some(kernel) = kernels.iter_mut().find(|kernel| kernel.name == name) else { continue };
        let args = parameters(rest).and_then(|parameters| debug.arguments(rest, &parameters.list));
        if let Some(args) = args {
            kernel.args = args;
        }
    }
}

fn kernel(line: &str, nodes: &Nodes<'_>, types: &Types<'_>) -> Option<Kernel> {
    let Symbol { name, rest } = global_symbol(line)?;
    let attachments = Attachments::new(rest, nodes);
    let params = parameters(rest).unwrap_or_default().list;
    let described = described::arguments(&attachments, &params, types);
    // Only OpenCL C describes its arguments; of other languages there is the signature.
    let args = if described.is_empty() {
        params.iter().map(|param| plain_arg(param, types)).collect()
    } else {
        described
    };
    let size = attachments.operands("reqd_work_group_size").map(integers).unwrap_or_default();
    let required_work_group = <[u32; 3]>::try_from(size).ok().filter(|size| *size != [0; 3]);
    let size = attachments.operands("intel_reqd_sub_group_size").map(integers).unwrap_or_default();
    let required_sub_group = size.first().copied();
    Some(Kernel { name: name.to_string(), args, required_work_group, launch_bound: None, required_sub_group })
}

fn plain_arg(param: &Parameter<'_>, types: &Types<'_>) -> KernelArg {
    let type_name = param.type_text().to_string();
    let name = if param.name().starts_with(|c: char| c.is_ascii_digit()) { "" } else { param.name() };
    KernelArg {
        name: name.to_string(),
        // LLVM's types tell no sign, and of pointers nothing.
        base_type: String::new(),
        type_name,
        kind: argument_kind(param),
        size: value_size(types, param),
        is_structure: param.is_by_value(),
        element_size: None,
        is_const: false,
        access: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use offload_format::pack::ArgKind;

    use super::*;

    const MODULE: &str = r#"
define spir_kernel void @saxpy(float noundef %a, ptr addrspace(1) %x) #0 !kernel_arg_addr_space !3 !kernel_arg_access_qual !4 !kernel_arg_type !5 !kernel_arg_base_type !6 !kernel_arg_type_qual !7 !kernel_arg_name !8 !reqd_work_group_size !9 !intel_reqd_sub_group_size !10 {
define void @__clang_ocl_kern_imp_saxpy(float %a) #1 !kernel_arg_addr_space !3 {
define spir_kernel void @none() #0 {
!3 = !{i32 0, i32 1}
!4 = !{!"none", !"none"}
!5 = !{!"scale_t", !"float*"}
!6 = !{!"float", !"float*"}
!7 = !{!"", !"const"}
!8 = !{!"a", !"x"}
!9 = !{i32 64, i32 2, i32 1}
!10 = !{i32 16}
"#;

    #[test]
    fn launch_bounds_are_in_the_attributes_of_a_function() {
        let module = "define ptx_kernel void @sized(ptr %x) #0 {\n}\ndefine ptx_kernel void @other() #1 {\n}\n\
                      attributes #0 = { convergent \"nvvm.maxntid\"=\"256\" \"nvvm.minctasm\"=\"4\" }\n\
                      attributes #1 = { convergent }\n";
        let kernels = kernels(module);
        let bounds: Vec<_> = kernels.iter().map(|kernel| kernel.launch_bound).collect();
        assert_eq!(bounds, [Some(256), None]);
    }

    #[test]
    fn kernels_and_arguments() {
        let kernels = kernels(MODULE);
        assert_eq!(kernels.len(), 2);
        assert_eq!((kernels[0].name.as_str(), kernels[0].required_work_group), ("saxpy", Some([64, 2, 1])));
        assert_eq!((kernels[0].required_sub_group, kernels[1].required_sub_group), (Some(16), None));
        let [a, x] = kernels[0].args.as_slice() else { panic!("{:?}", kernels[0].args) };
        assert_eq!(
            (a.type_name.as_str(), a.base_type.as_str(), a.kind),
            ("scale_t", "float", ArgKind::Value)
        );
        assert_eq!((x.name.as_str(), x.kind), ("x", ArgKind::Global));
        assert_eq!((x.base_type.as_str(), x.is_const, a.is_const), ("float", true, false));
        assert_eq!((a.size, x.size), (Some(4), None));
        assert!(kernels[1].args.is_empty());
    }

    #[test]
    fn structures_have_the_size_that_their_members_have() {
        let module = r#"
%struct.particle = type { <3 x float>, float, [12 x i8] }
%union.number = type { double }
%struct.body = type { i32, double }
define spir_kernel void @k(ptr addrspace(1) %p, ptr addrspace(1) %n, ptr addrspace(1) %b, ptr addrspace(1) %u, ptr byval(%struct.particle) align 16 %v) #0 !kernel_arg_addr_space !3 !kernel_arg_base_type !6 {
!3 = !{i32 1, i32 2, i32 1, i32 1, i32 0}
!6 = !{!"struct particle*", !"union number*", !"body*", !"struct unused*", !"struct particle"}
"#;
        let kernels = kernels(module);
        let elements: Vec<_> = kernels[0].args.iter().map(|arg| arg.element_size).collect();
        assert_eq!(elements, [Some(32), Some(8), Some(16), None, None]);
        assert_eq!(kernels[0].args[4].size, Some(32));
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
}
