//! Cargo: running it, the artifacts of its builds, its dependency graph, and the files that it requires for kernels.

pub(crate) mod additions;
pub(crate) mod artifact;
pub(crate) mod graph;
pub(crate) mod process;
pub(crate) mod progress;
pub(crate) mod template;
pub(crate) mod watch;
