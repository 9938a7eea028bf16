//! The lazy index of the packs of a registry.
//!
//! Discovery reads only the header of each pack. The first lookup verifies a pack's index; entries are read for one kernel
//! module at a time, and for all modules only by a listing.

mod lists;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use offload_format::Hash128;
use offload_format::pack::{CACHE, MissingKind, Pack, Pages};

pub(crate) use self::lists::Lists;
use self::lists::PackListing;
pub use self::lists::{Missing, Unreadable};
use crate::entry::{Entry, EntryReader, NewEntry};
use crate::error::Absence;
use crate::module_images::ModuleImages;
use crate::pack_info::PackInfo;
use crate::sections::{self, PackBytes, PackSource, PackSources};
use crate::text::escape;

/// The images of some packs.
#[derive(Debug)]
pub(crate) struct Index {
    packs: Vec<IndexedPack>,
    /// The sources that are no readable pack.
    unreadable: Vec<Unreadable>,
    /// The images of the modules that were looked up.
    modules: Mutex<Modules>,
    lists: OnceLock<Lists>,
    /// Packs of other modules with device libraries that images of this one import.
    libraries: Mutex<Vec<Arc<Index>>>,
}

type Modules = BTreeMap<String, Arc<ModuleImages>>;

/// A pack of the index.
#[derive(Debug)]
struct IndexedPack {
    info: Arc<PackInfo>,
    /// The names of the files beside the program to which it leads and that are there.
    opened: Vec<String>,
    /// Its entries by number, once all were listed.
    listed: OnceLock<Vec<Entry>>,
}

impl IndexedPack {
    fn new(bytes: PackBytes) -> IndexedPack {
        IndexedPack { info: Arc::new(PackInfo::new(bytes)), opened: Vec::new(), listed: OnceLock::new() }
    }

    /// The images of the kernel module `name`; none if the pack cannot be read.
    fn entries_of(&self, name: &str) -> Option<Vec<NewEntry<'_>>> {
        let pack = self.info.pack().ok()?;
        let numbers = pack.module(name).ok()?;
        let mut reader = EntryReader::new(&self.info, pack);
        let entries = numbers.filter_map(|number| {
            let new = reader.read(pack.image(number).ok()?).ok()?;
            Some(NewEntry { entry: self.listed(number).unwrap_or(new.entry), ..new })
        });
        Some(entries.collect())
    }

    /// The listed entry of this image, so that lookups and listings share one entry and its decoded bytes.
    fn listed(&self, number: u32) -> Option<Entry> {
        let listed = self.listed.get()?;
        let place = listed.binary_search_by_key(&number, Entry::number).ok()?;
        listed.get(place).cloned()
    }
}

impl Index {
    pub(crate) fn new(found: PackSources) -> Index {
        let broken = found.unreadable.into_iter().map(Unreadable::new).collect();
        let mut index = Index {
            packs: Vec::new(),
            unreadable: broken,
            modules: Mutex::default(),
            lists: OnceLock::new(),
            libraries: Mutex::default(),
        };
        let mut seen = Vec::new();
        for pack in found.packs {
            if let Err(error) = index.add(pack, &mut seen) {
                index.unreadable.push(Unreadable::new(error.to_string()));
            }
        }
        index
    }

    fn add(&mut self, found: PackSource, seen: &mut Vec<Hash128>) -> Result<(), offload_format::Error> {
        let PackSource { bytes, home } = found;
        let held = bytes.clone();
        let pages = Pages::default();
        let pack = Pack::parse(&held, &pages)?;
        // A crate that is linked into the program and into a plugin brings the same pack twice.
        let id = pack.id()?;
        if seen.contains(&id) {
            return Ok(());
        }
        seen.push(id);
        let place = self.packs.len();
        self.packs.push(IndexedPack::new(bytes));
        // A pack whose images lie in sidecars has none itself.
        if pack.image_count() == 0 {
            pack.verify_index()?;
            let opened = self.add_files(&pack, home, seen)?;
            if let Some(held) = self.packs.get_mut(place) {
                held.opened = opened;
            }
        }
        Ok(())
    }

    /// Adds the packs that lie in other files; returns the names of the files that could be opened.
    fn add_files(
        &mut self,
        pack: &Pack<'_>,
        home: Option<PathBuf>,
        seen: &mut Vec<Hash128>,
    ) -> Result<Vec<String>, offload_format::Error> {
        let mut opened = Vec::new();
        for sidecar in pack.sidecars() {
            let sidecar = sidecar?;
            let bytes = match pack.meta(CACHE) {
                Some(release) => sections::open_cached(&sidecar, release),
                None => sections::open_sidecar(&sidecar, home.as_deref()),
            };
            let found = bytes.and_then(|bytes| {
                // A pack of a file that refers to further files would not be one that this project writes.
                let found = PackSource { bytes, home: None };
                self.add(found, seen).map_err(|error| format!("pack file `{}`: {error}", sidecar.file()))
            });
            match found {
                Ok(()) => opened.push(sidecar.file().to_string()),
                Err(reason) => self.unreadable.push(Unreadable::new(escape(&reason))),
            }
        }
        Ok(opened)
    }

    /// The images of the kernel module `name`, in the order of [`Lists::entries`].
    pub(crate) fn module(&self, name: &str) -> Arc<ModuleImages> {
        // The lock is held while the entries are read, so that all lookups share one entry for an image.
        let mut modules = self.modules();
        if let Some(images) = modules.get(name) {
            return images.clone();
        }
        let images = Arc::new(ModuleImages::new(self.entries_of(name)));
        // What is not there takes no memory, however often it is asked for.
        if !images.entries.is_empty() {
            modules.insert(name.to_string(), images.clone());
        }
        images
    }

    /// Whether it has a device library of this name.
    pub(crate) fn has_library(&self, name: &str) -> bool {
        self.module(name).entries.iter().any(|entry| !entry.exports().is_empty())
    }

    /// The packs of other modules that [`Index::keep_library`] was given.
    pub(crate) fn libraries(&self) -> Vec<Arc<Index>> {
        self.libraries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps a pack with a library that an image here imports.
    pub(crate) fn keep_library(&self, library: &Arc<Index>) {
        let mut libraries = self.libraries.lock().unwrap_or_else(PoisonError::into_inner);
        if !libraries.iter().any(|known| Arc::ptr_eq(known, library)) {
            libraries.push(library.clone());
        }
    }

    /// All entries, read by the first call.
    pub(crate) fn lists(&self) -> &Lists {
        self.lists.get_or_init(|| {
            // Locked, so that an image that is listed and asked for at the same time has one entry.
            let modules = self.modules();
            let mut lists = Lists { unreadable: self.unreadable.clone(), ..Lists::default() };
            for IndexedPack { info, opened, listed } in &self.packs {
                let entries = lists.add(&PackListing { info, opened }, &|module, number| {
                    let images = modules.get(module)?;
                    images.entries.iter().find(|entry| entry.is(info, number)).cloned()
                });
                listed.get_or_init(|| entries);
            }
            lists
        })
    }

    /// Lines for the images of `module` that the build left out, and for unreadable packs, which may have held some.
    pub(crate) fn missing_of(&self, module: &str) -> Vec<String> {
        let lists = self.lists();
        let mut lines = Vec::new();
        for missing in &lists.missing {
            // A kernel is missed by those who ask for it.
            let is_of_module = missing.module == module || missing.module.is_empty();
            if !is_of_kernel(missing.kind) && is_of_module {
                lines.push(missing.to_string());
            }
        }
        lines.extend(lists.unreadable.iter().map(|unreadable| format!("cannot be read: {unreadable}")));
        lines
    }

    /// Why the images of `module` for `target` are without `kernel`, if the build says it.
    pub(crate) fn left_out(&self, module: &str, target: &str, kernel: &str) -> Option<String> {
        let mut missing = self.lists().missing.iter();
        missing.find_map(|missing| {
            let is_of_image = missing.module == module && missing.target == target;
            if !is_of_kernel(missing.kind) || !is_of_image {
                return None;
            }
            let (name, reason) = missing.reason.split_once(": ")?;
            (name == kernel).then(|| reason.to_string())
        })
    }

    /// Whether images of `module` lie in files that were not found.
    pub(crate) fn has_missing_files(&self, module: &str) -> bool {
        let mut missing = self.lists().missing.iter();
        missing.any(|missing| missing.module == module && missing.kind == MissingKind::Sidecar)
    }

    /// Why there are no images of `module`.
    pub(crate) fn absence(&self, module: &str) -> Absence {
        let lists = self.lists();
        let mut absence = if lists.unreadable.is_empty() { Absence::Unknown } else { Absence::Damage };
        for missing in &lists.missing {
            if missing.module != module && !missing.module.is_empty() {
                continue;
            }
            if missing.kind == MissingKind::Sidecar {
                return Absence::Files;
            }
            absence = Absence::Build;
        }
        absence
    }

    fn modules(&self) -> MutexGuard<'_, Modules> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn entries_of(&self, name: &str) -> Vec<NewEntry<'_>> {
        self.packs.iter().filter_map(|held| held.entries_of(name)).flatten().collect()
    }
}

/// Whether one kernel is missing, and not an image.
fn is_of_kernel(kind: MissingKind) -> bool {
    matches!(kind, MissingKind::Kernel | MissingKind::KeptKernel)
}
