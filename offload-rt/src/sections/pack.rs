//! The bytes of packs, wherever they come from.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use memmap2::Mmap;
use offload_format::bytes;
#[cfg(all(feature = "launchers", target_os = "linux"))]
use offload_format::pack::{Pack, Pages};

/// The bytes of a pack.
#[derive(Clone)]
pub(crate) enum PackBytes {
    /// In a module that stays as long as the code that asks.
    Static(&'static [u8]),
    /// Copied, because the module they came from may be unloaded.
    Owned(Arc<[u8]>),
    /// In a file beside the program.
    Mapped(MappedPack),
}

impl Deref for PackBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            PackBytes::Static(bytes) => bytes,
            PackBytes::Owned(bytes) => bytes,
            PackBytes::Mapped(pack) => pack.bytes(),
        }
    }
}

/// A pack and, if its images lie in sidecars, the directory of the program or library that it was found in.
pub(crate) struct PackSource {
    pub(crate) bytes: PackBytes,
    pub(crate) home: Option<PathBuf>,
}

/// The packs that a search has found.
#[derive(Default)]
pub(crate) struct PackSources {
    pub(crate) packs: Vec<PackSource>,
    /// Descriptors that lead to no pack, and why.
    pub(crate) unreadable: Vec<String>,
}

impl PackSources {
    /// Those of this version of a package alone.
    #[cfg(all(feature = "launchers", target_os = "linux"))]
    pub(crate) fn with_package(mut self, package: &str, version: &str) -> PackSources {
        self.packs.retain(|pack| {
            let pages = Pages::default();
            let parsed = Pack::parse(&pack.bytes, &pages);
            parsed.is_ok_and(|pack| {
                pack.meta("package") == Some(package) && pack.meta("version") == Some(version)
            })
        });
        self
    }
}

/// A part of a mapped file.
#[derive(Clone)]
pub(crate) struct MappedPack {
    pub(super) file: Arc<Mmap>,
    pub(super) offset: u64,
    pub(super) size: u64,
}

impl MappedPack {
    fn bytes(&self) -> &[u8] {
        bytes::range(&self.file, self.offset, self.size, "pack").unwrap_or_default()
    }
}
