//! File access: positioned and mapped reads, piecewise writes, and atomic publication.

pub(crate) mod lock;
#[allow(unsafe_code, reason = "maps files")]
pub(crate) mod mapping;
pub(crate) mod name;
pub(crate) mod object_file;
pub(crate) mod pieces;
pub(crate) mod private;
pub(crate) mod publish;
pub(crate) mod read_at;
pub(crate) mod spool;
