//! Work-group generation for CPUs: LLVM IR of a kernel that runs one work-item becomes LLVM IR of a function that runs a
//! work-group, as in PoCL.
//!
//! - [`generate_work_groups`] divides work-item functions into parallel regions and makes a work-item loop of each;
//! - [`prepare_work_items`] prepares a module for LLVM's inliner, which has to run before;
//! - [`add_work_item_functions`] and [`merge_address_spaces`] are for kernels in C, C++ and C++ for OpenCL;
//! - [`add_checks`] instruments accesses of memory, barriers and the arithmetic of indices;
//! - [`InterleaveGroups`] tells the functions in which LLVM's loop vectoriser may join accesses;
//! - [`split_module`] divides a large module into parts that are compiled, and cached, apart;
//! - [`ir`] reads the text of modules.
//!
//! ```
//! use offload_workgroup::{Kernel, Options, generate_work_groups};
//!
//! let module = "
//! @__offload_state_local_id = internal global { i64, i64, i64 } zeroinitializer
//! define void @__offload_work_item_clear(ptr %args) {
//!   %cell = load ptr, ptr %args
//!   %data = load ptr, ptr %cell
//!   %id = load i64, ptr @__offload_state_local_id
//!   %element = getelementptr i32, ptr %data, i64 %id
//!   store i32 0, ptr %element
//!   ret void
//! }
//! ";
//! let groups = generate_work_groups(module, &[Kernel::new("clear")], &Options::new(256))?;
//! assert!(groups.contains("define i32 @__offload_run_clear("));
//! # Ok::<(), offload_workgroup::Error>(())
//! ```
//!
//! The README has the input contract, the interface of the generated functions, and the literature.

#![forbid(unsafe_code)]

mod analysis;
mod checks;
mod codegen;
mod error;
mod generate;
pub mod ir;
mod kernel;
mod options;
mod parts;
mod transforms;

pub use self::checks::add_checks;
pub use self::error::Error;
pub use self::generate::generate_work_groups;
pub use self::kernel::{Argument, ArgumentKind, Kernel};
pub use self::options::{Options, Validity};
pub use self::parts::{ModulePart, PartSize, hide_runtime, split_module};
pub use self::transforms::address_spaces::merge_address_spaces;
pub use self::transforms::inlining::prepare_work_items;
pub use self::transforms::interleave_groups::{
    InterleaveGroups, disable_in_order_functions, enable_in_order_functions,
};
pub use self::transforms::work_item_functions::add_work_item_functions;

/// The prefix of work-item functions: that of kernel `K` is called this and `K`, and takes the argument array.
pub const WORK_ITEM_PREFIX: &str = "__offload_work_item_";
/// The prefix of work-group functions: that of kernel `K` is called this and `K`.
pub const WORK_GROUP_PREFIX: &str = "__offload_run_";
/// The function that a barrier calls.
pub const BARRIER: &str = "__offload_wait";
/// The function that a barrier of CUDA's thread blocks calls: work-items that have returned do not take part, and others
/// may wait at different calls.
pub const BLOCK_BARRIER: &str = "__offload_wait_block";
/// The function that a barrier of neighbours calls: a warp, or a sub-group.
pub const WARP_BARRIER: &str = "__offload_wait_warp";
/// The function that a barrier of those lanes of a warp calls that come to it in the same iteration of every loop around
/// it: of functions of OpenCL C whose result depends on which work-items are active.
pub const LANES_BARRIER: &str = "__offload_wait_lanes";
/// The work-items of a warp, and of a sub-group of a kernel that requires no other size.
pub const WARP_SIZE: u32 = 32;

/// Whether `name` is the function of a barrier.
pub fn is_barrier(name: &str) -> bool {
    [BARRIER, BLOCK_BARRIER, WARP_BARRIER, LANES_BARRIER].contains(&name)
}

/// Runs the code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
