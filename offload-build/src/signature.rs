//! Signatures of a module's kernels, for the typed methods of the generated Rust.
//!
//! It comes from the front end of a build that compiles or checks, or from the records of vendored images. Where there
//! is neither, or where those tell no types, it comes from the declarations in the source ([`declared`]).

mod completed;
mod declared;
mod method;
mod name;
mod parameter;
mod place;
mod tokens;
mod types;

use offload_format::pack::KernelInfo;

pub(crate) use self::declared::{kernels as declared, read as read_declared};
pub(crate) use self::method::{Method, NamedParameter, Shape, methods};
pub(crate) use self::name::{builtin_type, identifier};
pub(crate) use self::parameter::size as type_size;
pub(crate) use self::parameter::{Bound, Generic};
pub(crate) use self::place::Places;

/// The function behind a symbol as sources name it, without scopes and without the types that C++ and overloading put into
/// the symbol.
pub(crate) fn plain_name(symbol: &str) -> String {
    name::KernelName::parse(symbol).base
}

/// Signatures of a variant's kernels: `recorded` by a compiler or in images, completed by those `declared` in sources.
pub(crate) fn known(recorded: Vec<KernelInfo>, declared: Vec<KernelInfo>) -> Vec<KernelInfo> {
    if recorded.is_empty() { declared } else { completed::completed(recorded, &declared) }
}
