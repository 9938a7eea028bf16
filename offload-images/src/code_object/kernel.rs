//! The metadata record of a kernel.

use super::argument::Argument;

/// The metadata of a kernel (<https://llvm.org/docs/AMDGPUUsage.html#code-object-v3-metadata>). A field is `None` if
/// the compiler that wrote the code object does not record it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeObjectKernel {
    /// The name of the kernel.
    pub name: String,
    /// Whether its descriptor (`NAME.kd`) is defined; without one it cannot be launched.
    pub has_descriptor: bool,
    /// Vector registers of a work-item, those for accumulation included where they are one file (gfx90a and later).
    pub vgpr_count: Option<u32>,
    /// Registers for accumulation of a work-item, on processors that have them.
    pub agpr_count: Option<u32>,
    /// Scalar registers of a wavefront.
    pub sgpr_count: Option<u32>,
    /// Vector registers spilled to memory.
    pub vgpr_spill_count: Option<u32>,
    /// Scalar registers spilled, to vector registers or to memory.
    pub sgpr_spill_count: Option<u32>,
    /// Private memory in bytes of a work-item: spills, arrays and stack together.
    pub private_segment_fixed_size: Option<u64>,
    /// Local memory in bytes of a work-group that the kernel declares.
    pub group_segment_fixed_size: Option<u64>,
    /// Size of the arguments in bytes.
    pub kernarg_segment_size: Option<u64>,
    /// Work-items of a wavefront.
    pub wavefront_size: Option<u32>,
    /// The most work-items that a work-group may have.
    pub max_flat_workgroup_size: Option<u32>,
    /// `reqd_work_group_size`.
    pub reqd_workgroup_size: Option<[u32; 3]>,
    /// The arguments, in order, hidden ones included.
    pub args: Vec<Argument>,
}
