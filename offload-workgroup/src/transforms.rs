//! Transformations of modules and of work-item functions, before and after work-group generation.

pub(crate) mod address_spaces;
pub(crate) mod if_conversion;
pub(crate) mod inlining;
pub(crate) mod interleave_groups;
pub(crate) mod local_atomics;
pub(crate) mod loop_interchange;
pub(crate) mod sign_extensions;
pub(crate) mod sub_groups;
pub(crate) mod thread_local;
pub(crate) mod vector_math;
pub(crate) mod work_item_functions;
