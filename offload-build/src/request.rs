//! The request of a build script: kernel modules, and what becomes of them.
//!
//! With the feature `compiler` it is carried out in the build script; without, in an installed `cargo-offload`, which
//! receives it as TOML.

#[cfg(any(test, not(feature = "compiler")))]
mod send;

use std::path::{Path, PathBuf};

use crate::options::Options;

/// What a build script asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request<'a> {
    /// One module in a pack of its own.
    Module(KernelModule<'a>),
    /// All modules of a package in one pack.
    Package(&'a [KernelModule<'a>]),
    /// A device library whose headers are in the folder.
    Library { module: KernelModule<'a>, headers: &'a Path },
}

/// The sources of a module and their options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelModule<'a> {
    pub(crate) name: &'a str,
    /// Relative to the manifest's directory.
    pub(crate) files: &'a [PathBuf],
    pub(crate) options: &'a Options,
}
