//! User settings: `offload.toml`, and the targets and compression of a command line.

pub(crate) mod compression;
pub(crate) mod known_targets;
pub(crate) mod offload_toml;
pub(crate) mod target_filter;
