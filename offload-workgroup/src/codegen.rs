//! Work-group functions as text: parallel regions, work-item loops, context arrays.

pub(crate) mod plan;
pub(crate) mod region;
pub(crate) mod vector_region;
pub(crate) mod versioning;
pub(crate) mod wide_vectors;
pub(crate) mod work_group;
