//! What the kernels of a module take, for the typed methods of the generated Rust.
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
    name::KernelName::of(symbol).base
}

/// What the kernels of a variant take: as `told` by a compiler or by records, and for the rest as `declared`.
pub(crate) fn known(told: Vec<KernelInfo>, declared: Vec<KernelInfo>) -> Vec<KernelInfo> {
    if told.is_empty() { declared } else { completed::completed(told, &declared) }
}
