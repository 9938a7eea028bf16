//! The packs of a registry, read as far as somebody asks.
//!
//! Finding them costs a look at each header. The first question checks a pack's index; entries are made for one kernel
//! module at a time, and for all only where all are listed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use offload_format::Hash128;
use offload_format::pack::{CACHE, Image, NoticeKind, Pack, Pages};

use crate::entry::{Entry, PackInfo};
use crate::registry::{Notice, Skipped};
use crate::sections::{self, Found, FoundPack};
use crate::text::escape;

/// The images of some packs.
#[derive(Debug)]
pub(crate) struct Index {
    packs: Vec<Held>,
    /// What was found and is no pack.
    unreadable: Vec<Skipped>,
    /// The images of the modules that somebody asked for.
    modules: Mutex<BTreeMap<String, Arc<[Entry]>>>,
    lists: OnceLock<Lists>,
}

/// A pack, and the names of the files beside the program to which it leads and that are there.
#[derive(Debug)]
struct Held {
    info: Arc<PackInfo>,
    opened: BTreeSet<String>,
}

/// Everything there is.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    pub(crate) entries: Vec<Entry>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) skipped: Vec<Skipped>,
}

impl Index {
    pub(crate) fn new(found: Found) -> Index {
        let unreadable = found.skipped.into_iter().map(Skipped::new).collect();
        let mut index =
            Index { packs: Vec::new(), unreadable, modules: Mutex::default(), lists: OnceLock::new() };
        let mut seen = BTreeSet::new();
        for pack in found.packs {
            if let Err(error) = index.add(pack, &mut seen) {
                index.unreadable.push(Skipped::new(error.to_string()));
            }
        }
        index
    }

    fn add(&mut self, found: FoundPack, seen: &mut BTreeSet<Hash128>) -> Result<(), offload_format::Error> {
        let FoundPack { bytes, home } = found;
        let held = bytes.clone();
        let pages = Pages::default();
        let pack = Pack::parse(&held, &pages)?;
        // A crate that is linked into the program and into a plugin brings the same pack twice.
        if !seen.insert(pack.id()?) {
            return Ok(());
        }
        let place = self.packs.len();
        self.packs.push(Held { info: Arc::new(PackInfo::new(bytes)), opened: BTreeSet::new() });
        // A pack whose images lie elsewhere has none itself.
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
        seen: &mut BTreeSet<Hash128>,
    ) -> Result<BTreeSet<String>, offload_format::Error> {
        let mut opened = BTreeSet::new();
        for there in pack.elsewhere() {
            let there = there?;
            let bytes = match pack.meta(CACHE) {
                Some(release) => sections::open_cached(&there, release),
                None => sections::open_beside(&there, home.as_deref()),
            };
            let found = bytes.and_then(|bytes| {
                // A pack of a file that refers to further files would not be one that this project writes.
                let found = FoundPack { bytes, home: None };
                self.add(found, seen).map_err(|error| format!("pack file `{}`: {error}", there.file()))
            });
            match found {
                Ok(()) => drop(opened.insert(there.file().to_string())),
                Err(reason) => self.unreadable.push(Skipped::new(escape(&reason))),
            }
        }
        Ok(opened)
    }

    /// The images of the kernel module `name`, in the order of [`Lists::entries`].
    pub(crate) fn module(&self, name: &str) -> Arc<[Entry]> {
        // Locked while they are made, so that whoever loads an image loads it for all.
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entries) = modules.get(name) {
            return entries.clone();
        }
        let entries: Arc<[Entry]> = self.entries_of(name).into();
        // What is not there takes no memory, however often it is asked for.
        if !entries.is_empty() {
            modules.insert(name.to_string(), entries.clone());
        }
        entries
    }

    /// Everything, once somebody wants to see it.
    pub(crate) fn lists(&self) -> &Lists {
        self.lists.get_or_init(|| {
            let mut lists = Lists { skipped: self.unreadable.clone(), ..Lists::default() };
            self.packs.iter().for_each(|held| self.list(held, &mut lists));
            lists
        })
    }

    fn entries_of(&self, name: &str) -> Vec<Entry> {
        let of_pack = |Held { info, .. }: &Held| {
            let pack = info.pack().ok()?;
            let numbers = pack.module(name).ok()?;
            let entry = |number| Entry::new(info, &pack, &pack.image(number).ok()?).ok();
            Some(numbers.filter_map(entry).collect::<Vec<_>>())
        };
        self.packs.iter().filter_map(of_pack).flatten().collect()
    }

    fn list(&self, Held { info, opened }: &Held, lists: &mut Lists) {
        let pack = match info.pack() {
            Ok(pack) => pack,
            Err(error) => return lists.skipped.push(Skipped::new(error.to_string())),
        };
        for image in pack.images() {
            match image {
                Ok(image) => self.list_image((info, &pack), &image, lists),
                Err(error) => lists.skipped.push(unreadable(info, "an image", &error.to_string())),
            }
        }
        // The index is verified: a notice that cannot be read is of a later release and says nothing to this one.
        let notices = pack.notices().flatten();
        // What lies elsewhere and was found there is not missing.
        let missing =
            notices.filter(|notice| notice.kind != NoticeKind::Elsewhere || !opened.contains(notice.reason));
        lists.notices.extend(missing.map(|notice| Notice::new(info.package(), &notice)));
    }

    fn list_image(&self, (info, pack): (&Arc<PackInfo>, &Pack<'_>), image: &Image<'_>, lists: &mut Lists) {
        let module = self.module(image.module);
        if let Some(entry) = module.iter().find(|entry| entry.is(info, image.number)) {
            return lists.entries.push(entry.clone());
        }
        let made = Entry::new(info, pack, image);
        let reason = made.err().map_or_else(|| "it is out of order".to_string(), |error| error.to_string());
        lists.skipped.push(unreadable(info, &format!("image {}", image.number), &reason));
    }
}

fn unreadable(info: &PackInfo, what: &str, reason: &str) -> Skipped {
    Skipped::new(format!("{what} of package {}: {reason}", escape(info.package())))
}
