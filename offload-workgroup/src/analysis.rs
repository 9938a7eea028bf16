//! Analyses of a work-item function.

pub(crate) mod conflicts;
pub(crate) mod control_flow;
pub(crate) mod dominators;
pub(crate) mod liveness;
pub(crate) mod private_memory;
pub(crate) mod strides;
pub(crate) mod values;
pub(crate) mod work_item_state;
