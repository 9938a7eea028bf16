//! Around cargo: running it, what its builds make, what is in its graph, and what a package needs to have kernels.

pub(crate) mod additions;
pub(crate) mod artifact;
pub(crate) mod graph;
pub(crate) mod process;
pub(crate) mod progress;
pub(crate) mod template;
pub(crate) mod watch;
