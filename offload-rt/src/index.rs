//! The packs of a registry, read as far as somebody asks.
//!
//! Finding them costs a look at each header. The first question checks a pack's index; entries are made for one kernel
//! module at a time, and for all only where all are listed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use offload_format::Hash128;
use offload_format::pack::{self, CACHE, Image, MissingKind, Pack, Pages};

use crate::entry::{Entry, EntryReader, NewEntry};
use crate::module_images::ModuleImages;
use crate::pack_info::PackInfo;
use crate::sections::{self, Found, FoundPack};
use crate::text::escape;

/// Something that the build left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missing {
    /// The case.
    pub kind: MissingKind,
    /// The package whose build it was.
    pub package: String,
    /// The kernel module concerned, empty for all.
    pub module: String,
    /// The target concerned, empty for all.
    pub target: String,
    /// The reason, for people.
    pub reason: String,
}

/// A pack or record that this release cannot read, and why. Its neighbours are not affected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    reason: String,
}

impl Missing {
    fn new(package: &str, missing: &pack::Missing<'_>) -> Missing {
        Missing {
            kind: missing.kind,
            package: package.to_string(),
            module: missing.module.to_string(),
            target: missing.target.to_string(),
            reason: missing.reason.to_string(),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = if self.target.is_empty() { "every target" } else { &self.target };
        match self.kind {
            MissingKind::Sidecar => {
                write!(f, "{}: its images are in `{}`", escape(target), escape(&self.reason))
            }
            _ => write!(f, "{}: {}", escape(target), escape(&self.reason)),
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// The images of some packs.
#[derive(Debug)]
pub(crate) struct Index {
    packs: Vec<Held>,
    /// What was found and is no pack.
    unreadable: Vec<Unreadable>,
    /// The images of the modules that somebody asked for.
    modules: Mutex<BTreeMap<String, Arc<ModuleImages>>>,
    lists: OnceLock<Lists>,
    /// Packs of other modules with device libraries that images of this one import.
    libraries: Mutex<Vec<Arc<Index>>>,
}

/// A pack, and the names of the files beside the program to which it leads and that are there.
#[derive(Debug)]
struct Held {
    info: Arc<PackInfo>,
    opened: Vec<String>,
}

/// Everything there is.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    pub(crate) entries: Vec<Entry>,
    pub(crate) missing: Vec<Missing>,
    pub(crate) unreadable: Vec<Unreadable>,
}

impl Held {
    /// The images of the kernel module `name`; none if the pack cannot be read.
    fn entries_of(&self, name: &str) -> Option<Vec<NewEntry<'_>>> {
        let pack = self.info.pack().ok()?;
        let numbers = pack.module(name).ok()?;
        let mut reader = EntryReader::new(&self.info, pack);
        Some(numbers.filter_map(|number| reader.read(pack.image(number).ok()?).ok()).collect())
    }
}

impl Index {
    pub(crate) fn new(found: Found) -> Index {
        let broken = found.unreadable.into_iter().map(unreadable).collect();
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
                index.unreadable.push(unreadable(error.to_string()));
            }
        }
        index
    }

    fn add(&mut self, found: FoundPack, seen: &mut Vec<Hash128>) -> Result<(), offload_format::Error> {
        let FoundPack { bytes, home } = found;
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
        self.packs.push(Held { info: Arc::new(PackInfo::new(bytes)), opened: Vec::new() });
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
                let found = FoundPack { bytes, home: None };
                self.add(found, seen).map_err(|error| format!("pack file `{}`: {error}", sidecar.file()))
            });
            match found {
                Ok(()) => opened.push(sidecar.file().to_string()),
                Err(reason) => self.unreadable.push(unreadable(escape(&reason))),
            }
        }
        Ok(opened)
    }

    /// The images of the kernel module `name`, in the order of [`Lists::entries`].
    pub(crate) fn module(&self, name: &str) -> Arc<ModuleImages> {
        // Locked while they are made, so that whoever loads an image loads it for all.
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Everything, once somebody wants to see it.
    pub(crate) fn lists(&self) -> &Lists {
        self.lists.get_or_init(|| {
            let mut lists = Lists { unreadable: self.unreadable.clone(), ..Lists::default() };
            self.packs.iter().for_each(|held| self.list(held, &mut lists));
            lists
        })
    }

    /// What the build left out of `module`, and packs that cannot be read, for they may have held it; in words.
    pub(crate) fn missing_of(&self, module: &str) -> Vec<String> {
        let concerned = |name: &str| name == module || name.is_empty();
        let lists = self.lists();
        let missing = lists.missing.iter().filter(|missing| concerned(&missing.module));
        let unreadable = lists.unreadable.iter().map(|unreadable| format!("cannot be read: {unreadable}"));
        missing.map(ToString::to_string).chain(unreadable).collect()
    }

    /// Whether images of `module` lie in files that were not found.
    pub(crate) fn has_missing_files(&self, module: &str) -> bool {
        let of_module = |missing: &&Missing| missing.module == module;
        let mut missing = self.lists().missing.iter().filter(of_module);
        missing.any(|missing| missing.kind == MissingKind::Sidecar)
    }

    fn entries_of(&self, name: &str) -> Vec<NewEntry<'_>> {
        self.packs.iter().filter_map(|held| held.entries_of(name)).flatten().collect()
    }

    fn list(&self, Held { info, opened }: &Held, lists: &mut Lists) {
        let pack = match info.pack() {
            Ok(pack) => pack,
            Err(error) => return lists.unreadable.push(unreadable(error.to_string())),
        };
        for image in pack.images() {
            match image {
                Ok(image) => self.list_image(info, &image, lists),
                Err(error) => lists.unreadable.push(unreadable_part(info, "an image", &error.to_string())),
            }
        }
        // The index is verified: a record that cannot be read is of a later release and says nothing to this one.
        let missing = pack.missing().flatten();
        // What lies in a sidecar and was found there is not missing.
        let missing = missing.filter(|missing| {
            missing.kind != MissingKind::Sidecar || !opened.iter().any(|file| file == missing.reason)
        });
        lists.missing.extend(missing.map(|missing| Missing::new(info.package(), &missing)));
    }

    fn list_image(&self, info: &Arc<PackInfo>, image: &Image<'_>, lists: &mut Lists) {
        let module = self.module(image.module);
        if let Some(entry) = module.entries.iter().find(|entry| entry.is(info, image.number)) {
            return lists.entries.push(entry.clone());
        }
        let made = info.pack().and_then(|pack| EntryReader::new(info, pack).read(pack.image(image.number)?));
        let reason = made.err().map_or_else(|| "it is out of order".to_string(), |error| error.to_string());
        lists.unreadable.push(unreadable_part(info, &format!("image {}", image.number), &reason));
    }
}

fn unreadable(reason: impl Into<String>) -> Unreadable {
    Unreadable { reason: reason.into() }
}

fn unreadable_part(info: &PackInfo, what: &str, reason: &str) -> Unreadable {
    unreadable(format!("{what} of package {}: {reason}", escape(info.package())))
}
