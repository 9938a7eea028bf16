//! What a user asks for: `offload.toml`, and targets and compression in the words of a command line.

pub(crate) mod compression;
pub(crate) mod known_targets;
pub(crate) mod offload_toml;
pub(crate) mod target_filter;
