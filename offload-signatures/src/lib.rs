//! Signatures of kernels, for typed methods in generated Rust.
//!
//! A signature comes from the records of a compiler or of an image ([`KernelInfo`]), or where there is none, or where it
//! has no types, from the declarations in the source, which [`read`] parses without a compiler: OpenCL C, C and C++ with
//! `__gpu_kernel`, CUDA C++ and HIP C++.
//!
//! ```
//! use offload_signatures::{Dialect, Sources, declared, methods, read};
//!
//! # let directory = std::env::temp_dir().join(format!("offload-signatures-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory).unwrap();
//! std::fs::write(directory.join("scale.cl"), "kernel void scale(global float *x, float a) {}").unwrap();
//! let files = vec!["scale.cl".into()];
//! let sources = Sources { root: &directory, dialect: Dialect::OpenCl, files, flags: Vec::new() };
//! let methods = methods(&[declared(&read(&sources))]);
//! assert_eq!(methods[0].name, "scale");
//! assert_eq!(methods[0].source_args, ["global float* x", "float a"]);
//! # std::fs::remove_dir_all(&directory).unwrap();
//! ```

#![forbid(unsafe_code)]

mod bounds;
mod completed;
mod declared;
mod method;
mod name;
mod parameter;
mod place;
mod sizes;
mod tokens;
mod types;

use std::path::{Path, PathBuf};

use offload_format::pack::KernelInfo;

pub use self::bounds::DeclaredBound;
pub use self::declared::{Declared, kernels as declared, read};
pub use self::method::{Method, NamedParameter, Shape, methods};
pub use self::name::{builtin_type, identifier};
pub use self::parameter::size as type_size;
pub use self::parameter::{Bound, Element, Generic, Parameter};
pub use self::place::Places;
pub use self::sizes::complete as complete_sizes;

/// A way to mark kernels and to name types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// OpenCL C and C++ for OpenCL: `kernel`.
    OpenCl,
    /// C and C++ with clang's `gpuintrin.h`: `__gpu_kernel`.
    C,
    /// CUDA C++ and HIP C++: `__global__`.
    Cuda,
}

/// The sources of a module.
#[derive(Clone, Debug)]
pub struct Sources<'a> {
    /// The directory that `files` are relative to.
    pub root: &'a Path,
    /// The dialect of all files.
    pub dialect: Dialect,
    /// The files, without those that are compiled already.
    pub files: Vec<PathBuf>,
    /// Flags of clang's, of which include directories and definitions count.
    pub flags: Vec<String>,
}

/// The function behind a symbol as sources name it, without scopes and without the types that C++ and overloading put into
/// the symbol.
pub fn plain_name(symbol: &str) -> String {
    name::KernelName::parse(symbol).base
}

/// Signatures of a variant's kernels: `recorded` by a compiler or in images, completed by those `declared` in sources.
pub fn known(recorded: Vec<KernelInfo>, declared: Vec<KernelInfo>) -> Vec<KernelInfo> {
    if recorded.is_empty() { declared } else { completed::completed(recorded, &declared) }
}
