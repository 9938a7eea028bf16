//! All device images of a program, and the choice among them.

use std::sync::Arc;

use offload_format::Variant;

use crate::entry::Entry;
use crate::index::{Index, Missing, Unreadable};
use crate::request::ImageRequest;
use crate::sections::{self, PackBytes, PackSource, PackSources};
use crate::select;

/// The device images of some packs.
///
/// Entries share their decompressed bytes while these are in use, and clones of a registry share the entries: keep one
/// registry, and clone it.
#[derive(Clone, Debug)]
pub struct Registry {
    index: Arc<Index>,
}

impl Registry {
    /// The images of the executable or shared library that this code is linked into.
    ///
    /// Unreadable packs are listed in [`Registry::unreadable`], here and below.
    pub fn own() -> Registry {
        Registry::from_sources(sections::own())
    }

    /// Those of a version of a package alone.
    #[cfg(all(feature = "launchers", target_os = "linux"))]
    pub(crate) fn for_package(package: &str, version: &str) -> Registry {
        Registry::from_sources(sections::own().with_package(package, version))
    }

    /// The images of all modules of the process that are loaded now.
    ///
    /// Packs of other modules than the main program are copied, because those modules may be unloaded.
    pub fn process() -> Registry {
        Registry::from_sources(sections::process())
    }

    /// The images of a pack that lies beside the program, given as its bytes.
    pub fn from_pack(bytes: Vec<u8>) -> Registry {
        Registry::from_packs([bytes])
    }

    /// The images of several packs together, as those of a program that is split into a file for each family of targets.
    pub fn from_packs(packs: impl IntoIterator<Item = Vec<u8>>) -> Registry {
        let mut sources = PackSources::default();
        for bytes in packs {
            sources.packs.push(PackSource { bytes: PackBytes::Owned(Arc::from(bytes)), home: None });
        }
        Registry::from_sources(sources)
    }

    /// All images: packs in the order of the link, and in a pack sorted by module, variant and target.
    ///
    /// Selecting reads the records of one module; this reads all of them, once.
    pub fn entries(&self) -> &[Entry] {
        &self.index.lists().entries
    }

    /// The images that the builds left out.
    pub fn missing(&self) -> &[Missing] {
        &self.index.lists().missing
    }

    /// The packs and records that this release cannot read.
    pub fn unreadable(&self) -> &[Unreadable] {
        &self.index.lists().unreadable
    }

    /// A request for the images of the kernel module `module`, by variant and specialisation constants, which makes a
    /// [`Selection`](crate::Selection) or a [`Program`](crate::Program).
    pub fn request<'r>(&'r self, module: &'r str) -> ImageRequest<'r> {
        ImageRequest::new(&self.index, module)
    }

    /// The variants of `module`, sorted; none if it has no variants.
    pub fn variants(&self, module: &str) -> Vec<Variant> {
        select::variants(&self.index, module)
    }

    pub(crate) fn from_sources(found: PackSources) -> Registry {
        Registry { index: Arc::new(Index::new(found)) }
    }

    pub(crate) fn index(&self) -> &Arc<Index> {
        &self.index
    }
}

impl Default for Registry {
    /// No images.
    fn default() -> Registry {
        Registry::from_sources(PackSources::default())
    }
}
