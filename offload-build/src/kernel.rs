//! Kernels as clang's front end describes them.

use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};

/// A kernel found in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) args: Vec<Arg>,
    pub(crate) required_work_group: [u32; 3],
}

/// One of its arguments, in OpenCL C's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arg {
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
        let arg = |arg: &Arg| ArgInfo {
            name: arg.name.clone(),
            type_name: arg.type_name.clone(),
            kind: arg.kind,
            size: arg.size,
        };
        KernelInfo {
            name: self.name.clone(),
            args: self.args.iter().map(arg).collect(),
            required_work_group: self.required_work_group,
            ..KernelInfo::default()
        }
    }
}
