//! Work-group generation for CPUs.

#![forbid(unsafe_code)]

mod analysis;
mod checks;
mod codegen;
mod error;
mod generate;
pub mod ir;
mod kernel;
mod options;
mod transforms;

pub use self::checks::add_checks;
pub use self::error::Error;
pub use self::generate::generate_work_groups;
pub use self::kernel::{Argument, ArgumentKind, Kernel};
pub use self::options::{Options, Validity};
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
