//! What a pack knows about a kernel.

use offload_format::pack::{ArgKind, Kernel, Pack};

/// A kernel of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelInfo {
    /// The entry point.
    pub name: String,
    /// Its arguments, in order.
    pub args: Vec<ArgInfo>,
    /// `reqd_work_group_size`, zeros if not given.
    pub required_work_group: [u32; 3],
    /// Required or compiled sub-group size.
    pub sub_group_size: Option<u32>,
    /// Registers a work-item uses, in the architecture's own unit.
    pub registers: Option<u32>,
    /// Local (shared) memory in bytes.
    pub local_memory: Option<u64>,
    /// Private memory in bytes a work-item.
    pub private_memory: Option<u64>,
    /// Spilled bytes a work-item.
    pub spilled: Option<u64>,
    /// Whether the kernel may call `barrier`.
    pub has_barrier: bool,
}

/// An argument of a [`KernelInfo`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgInfo {
    /// Its name in the source.
    pub name: String,
    /// Its type in the source.
    pub type_name: String,
    /// What it is.
    pub kind: ArgKind,
    /// Size in bytes of a value, if known.
    pub size: Option<u32>,
}

impl KernelInfo {
    pub(crate) fn new(pack: &Pack<'_>, kernel: &Kernel<'_>) -> Result<KernelInfo, offload_format::Error> {
        let args = pack.args(kernel).map(|arg| {
            arg.map(|arg| ArgInfo {
                name: arg.name.to_string(),
                type_name: arg.type_name.to_string(),
                kind: arg.kind,
                size: arg.size,
            })
        });
        Ok(KernelInfo {
            name: kernel.name.to_string(),
            args: args.collect::<Result<_, _>>()?,
            required_work_group: kernel.required_work_group,
            sub_group_size: kernel.sub_group_size,
            registers: kernel.registers,
            local_memory: kernel.local_memory,
            private_memory: kernel.private_memory,
            spilled: kernel.spilled,
            has_barrier: kernel.has_barrier,
        })
    }
}
