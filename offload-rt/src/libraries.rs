//! Resolution of the device libraries that images import.
//!
//! A library is looked up in the registry of the importing image, then in all modules that are loaded in the process, then
//! in the packs in use by other registries. A registry keeps the packs of its libraries: a library outlives the module that
//! brought it.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use offload_format::pack::{Pack, Pages};
use offload_format::{Hash128, Import, Target};

use crate::description::DeviceDescription;
use crate::entry::Entry;
use crate::error::{Case, Error};
use crate::index::Index;
use crate::sections::{self, PackSource, PackSources};
use crate::select;
use crate::text::escape;

/// The packs with libraries that registries have found, so that all share what is decoded of them.
static IN_USE: Mutex<Vec<Shared>> = Mutex::new(Vec::new());

struct Shared {
    id: Hash128,
    index: Weak<Index>,
}

/// An image that imports, and what it is to be opened on.
#[derive(Clone, Copy)]
struct Importer<'a> {
    entry: &'a Entry,
    device: &'a DeviceDescription,
}

/// The images of the libraries that `entry` imports, for `device`, in their order; `index` is that of the entry's registry,
/// if it is known.
///
/// # Errors
/// A library is nowhere in the process, or none of its images fits.
pub(crate) fn resolve(
    entry: &Entry,
    index: Option<&Arc<Index>>,
    device: &DeviceDescription,
) -> Result<Vec<Entry>, Error> {
    let importer = Importer { entry, device };
    entry.imports().iter().map(|import| importer.library(import, index)).collect()
}

impl Importer<'_> {
    fn library(self, import: &Import, index: Option<&Arc<Index>>) -> Result<Entry, Error> {
        let mut refused = Vec::new();
        if let Some(index) = index {
            let known = std::iter::once(index.clone()).chain(index.libraries());
            if let Some(found) = known.into_iter().find_map(|known| self.best(import, &known, &mut refused)) {
                return Ok(found);
            }
        }
        for other in in_process(&import.library) {
            if let Some(found) = self.best(import, &other, &mut refused) {
                index.into_iter().for_each(|index| index.keep_library(&other));
                return Ok(found);
            }
        }
        refused.sort_unstable();
        refused.dedup();
        let image = self.entry.to_string();
        let import = import.clone();
        let package = self.entry.package().to_string();
        Err(Case::Library { image, package, import, refused }.into())
    }

    /// The best image of the library in `index`; the reasons of others go to `refused`.
    fn best(self, import: &Import, index: &Index, refused: &mut Vec<String>) -> Option<Entry> {
        let images = index.module(&import.library);
        let libraries = images.entries.iter().filter(|entry| !entry.exports().is_empty());
        let mut fitting = Vec::new();
        for library in libraries {
            match self.refusal(import, library) {
                None => fitting.push(library),
                Some(reason) => refused.push(reason),
            }
        }
        match select::best(&fitting, self.device) {
            Ok(best) => Some(best.clone()),
            Err(reasons) => {
                refused.extend(reasons.iter().map(ToString::to_string));
                None
            }
        }
    }

    /// Why `library` is not what `import` asks for, whatever the device.
    fn refusal(self, import: &Import, library: &Entry) -> Option<String> {
        let package = library.package();
        let version = library.package_version();
        let of = format!("{} of crate `{}` {}", library.place(), escape(package), escape(version));
        if package != import.package {
            return Some(format!("{of}: it is another crate"));
        }
        if !import.accepts(version) {
            return Some(format!("{of}: it is another version"));
        }
        let own = self.entry.parsed_target()?;
        let other = library.parsed_target()?;
        let fits = match (own, other) {
            // Levels pass vectors to functions in different registers.
            (Target::Host(own), Target::Host(other)) => own == other,
            (Target::Spirv64(_), Target::Spirv64(_)) | (Target::Nvptx(_), Target::Nvptx(_)) => true,
            _ => false,
        };
        (!fits).then(|| format!("{of}: code for `{own}` is not linked with it"))
    }
}

/// The packs with a library `name`: of all loaded modules, and of closed ones that a registry keeps.
fn in_process(name: &str) -> Vec<Arc<Index>> {
    let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    in_use.retain(|shared| shared.index.strong_count() > 0);
    let mut found: Vec<(Hash128, Arc<Index>)> = Vec::new();
    for pack in sections::process().packs {
        let Some(id) = identity(&pack) else { continue };
        let known = in_use.iter().find(|shared| shared.id == id).and_then(|shared| shared.index.upgrade());
        let index = match known {
            Some(index) => index,
            None => Arc::new(Index::new(PackSources { packs: vec![pack], unreadable: Vec::new() })),
        };
        found.push((id, index));
    }
    let kept = in_use.iter().filter_map(|shared| Some((shared.id, shared.index.upgrade()?)));
    for (id, index) in kept {
        if found.iter().all(|(other, _)| *other != id) {
            found.push((id, index));
        }
    }
    found.retain(|(_, index)| index.has_library(name));
    for (id, index) in &found {
        if in_use.iter().all(|shared| shared.id != *id) {
            in_use.push(Shared { id: *id, index: Arc::downgrade(index) });
        }
    }
    found.into_iter().map(|(_, index)| index).collect()
}

fn identity(pack: &PackSource) -> Option<Hash128> {
    Pack::parse(&pack.bytes, &Pages::default()).ok()?.id().ok()
}
