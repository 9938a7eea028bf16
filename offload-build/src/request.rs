//! The request of a build script: kernel modules, and what becomes of them.
//!
//! With the feature `compiler` it is carried out in the build script; without, in an installed `cargo-offload`, which
//! receives it as TOML.

#[cfg(not(feature = "compiler"))]
mod delegate;
#[cfg(feature = "compiler")]
mod receive;
#[cfg(any(test, not(feature = "compiler")))]
mod send;

use std::path::{Path, PathBuf};

#[cfg(feature = "compiler")]
pub use self::receive::run_received;
use crate::error::Result;
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

impl Request<'_> {
    /// Compiles and embeds the modules.
    pub(crate) fn run(&self) -> Result<()> {
        #[cfg(feature = "compiler")]
        return self.run_here();
        #[cfg(not(feature = "compiler"))]
        return delegate::run(self);
    }

    #[cfg(feature = "compiler")]
    fn run_here(&self) -> Result<()> {
        use crate::embed::Owner;
        use crate::flow;

        match *self {
            Request::Module(module) => flow::run(&[module], Owner::Module(module.name)),
            Request::Package(modules) => flow::run(modules, Owner::Package),
            Request::Library { module, headers } => flow::export(module, headers),
        }
    }
}
