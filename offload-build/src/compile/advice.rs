//! Advice on errors and warnings of compilers: the package that has a missing header, a function that no target has, a
//! feature of the language that no code generator supports.

pub(super) mod builtin_names;
pub(super) mod gaps;
pub(super) mod headers;
pub(super) mod host_code;
pub(super) mod ptx;
pub(super) mod templates;
