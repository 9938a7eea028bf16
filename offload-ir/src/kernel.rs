//! The signature of a kernel in LLVM IR.

use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};
use offload_workgroup::ArgumentKind;
use offload_workgroup::ir::{Parameter, Types};

use crate::argument_kind;

/// A kernel found in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its symbol.
    pub name: String,
    /// Its arguments, in order.
    pub args: Vec<KernelArg>,
    /// `reqd_work_group_size`.
    pub required_work_group: Option<[u32; 3]>,
    /// The most work-items of a work-group, by `__launch_bounds__` of CUDA C++.
    pub launch_bound: Option<u32>,
    /// The size of sub-groups that the kernel requires.
    pub required_sub_group: Option<u32>,
}

/// One of its arguments, in OpenCL C's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelArg {
    /// Its name in the source.
    pub name: String,
    /// As written, with typedefs.
    pub type_name: String,
    /// As [`ArgInfo::base_type`].
    pub base_type: String,
    /// A value, or the memory that it points to.
    pub kind: ArgKind,
    /// Size in bytes of a value, where its type in LLVM's IR says it.
    pub size: Option<u32>,
    /// Whether it is a structure or another object of C++, as far as the calling convention of the GPU tells.
    pub is_structure: bool,
    /// As [`ArgInfo::element_size`].
    pub element_size: Option<u32>,
    /// As [`ArgInfo::is_const`].
    pub is_const: bool,
    /// `read_only`, `write_only` or `read_write`, of an image; empty otherwise.
    pub access: String,
}

impl Kernel {
    /// The kernel as work-group generation takes it.
    pub fn for_work_groups(&self) -> offload_workgroup::Kernel {
        let mut arguments = Vec::new();
        for arg in &self.args {
            let kind = match arg.kind {
                ArgKind::Value => ArgumentKind::Value,
                ArgKind::Local => ArgumentKind::Local,
                ArgKind::Constant => ArgumentKind::Constant,
                _ => ArgumentKind::Global,
            };
            let argument = offload_workgroup::Argument::new(arg.name.clone(), kind).with_size(arg.size);
            arguments.push(if arg.is_structure { argument.structure() } else { argument });
        }
        offload_workgroup::Kernel::new(self.name.clone())
            .with_arguments(arguments)
            .with_required_work_group(self.required_work_group)
            // Programs launch what they have promised.
            .with_usual_work_group(self.launch_bound.map(|most| [most, 1, 1]))
            .with_required_sub_group(self.required_sub_group)
    }

    /// The kernel's record; sizes and resources are filled in where an image tells them.
    pub fn record(&self) -> KernelInfo {
        let mut args = Vec::new();
        for arg in &self.args {
            let info = ArgInfo::new(arg.kind)
                .named(arg.name.clone(), arg.type_name.clone())
                .with_size(arg.size)
                .with_element_size(arg.element_size)
                .with_base_type(arg.base_type.clone());
            args.push(if arg.is_const { info.constant() } else { info });
        }
        let mut info = KernelInfo::new(self.name.clone());
        info.args = Some(args);
        info.required_work_group = self.required_work_group;
        info.sub_group_size = self.required_sub_group;
        info
    }
}

/// Size in bytes of an argument, if it is a value.
pub(crate) fn value_size(types: &Types<'_>, param: &Parameter<'_>) -> Option<u32> {
    if argument_kind(param) != ArgKind::Value {
        return None;
    }
    let ty = if param.is_by_value() { param.by_value_type()? } else { param.type_text() };
    types.layout(ty)?.size.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_sizes_of_their_types() {
        let module = "%struct.s = type { <3 x float>, i8 }\n";
        for (module, text, size) in [
            (module, "ptr addrspace(1) noundef align 4 %x", None),
            (module, "<3 x float> noundef %v", Some(16)),
            (module, "ptr byval(%struct.s) align 8 %2", Some(32)),
            ("", "ptr byval(%struct.s) align 8 %2", None),
        ] {
            assert_eq!(value_size(&Types::new(module), &Parameter { text }), size, "{text}");
        }
    }
}
