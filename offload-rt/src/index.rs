//! The packs of a registry, read as far as somebody asks.
//!
//! Finding them costs a look at each header. The first question checks a pack's index; entries are made for one kernel
//! module at a time, and for all only where all are listed.

use std::collections::BTreeSet;
use std::sync::Arc;

use offload_format::Hash128;
use offload_format::pack::Pack;

use crate::entry::{Entry, PackInfo};
use crate::once::ForkOnce;
use crate::registry::{Notice, Skipped};
use crate::sections::{Found, PackBytes};
use crate::text::escape;

/// The images of some packs.
#[derive(Debug)]
pub(crate) struct Index {
    packs: Vec<Arc<PackInfo>>,
    /// What was found and is no pack.
    unreadable: Vec<Skipped>,
    /// The modules that somebody asked for, by hash of the name.
    modules: Vec<ForkOnce<Module>>,
    lists: ForkOnce<Lists>,
}

/// The entries of one module, and the next module of the same hash.
#[derive(Debug)]
struct Module {
    name: String,
    entries: Vec<Entry>,
    next: ForkOnce<Module>,
}

/// Everything there is.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    pub(crate) entries: Vec<Entry>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) skipped: Vec<Skipped>,
}

/// A program asks for some of its modules; a chain is a few long then.
const CHAINS: usize = 256;

impl Index {
    pub(crate) fn new(found: Found) -> Index {
        let unreadable = found.skipped.into_iter().map(Skipped::new).collect();
        let modules = (0..CHAINS).map(|_| ForkOnce::new()).collect();
        let mut index = Index { packs: Vec::new(), unreadable, modules, lists: ForkOnce::new() };
        let mut seen = BTreeSet::new();
        for bytes in found.packs {
            if let Err(error) = index.add(bytes, &mut seen) {
                index.unreadable.push(Skipped::new(error.to_string()));
            }
        }
        index
    }

    fn add(&mut self, bytes: PackBytes, seen: &mut BTreeSet<Hash128>) -> Result<(), offload_format::Error> {
        // A crate that is linked into the program and into a plugin brings the same pack twice.
        if seen.insert(Pack::parse(&bytes)?.id()?) {
            self.packs.push(Arc::new(PackInfo::new(bytes)));
        }
        Ok(())
    }

    /// The images of the kernel module `name`, in the order of [`Lists::entries`].
    pub(crate) fn module(&self, name: &str) -> &[Entry] {
        let hash = name.bytes().fold(0usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
        let Some(mut cell) = self.modules.get(hash % CHAINS) else { return &[] };
        loop {
            let module = match cell.get() {
                Some(module) => module,
                None => {
                    let entries = self.entries_of(name);
                    if entries.is_empty() {
                        return &[];
                    }
                    cell.get_or_make(|| Module {
                        name: name.to_string(),
                        entries: entries.clone(),
                        next: ForkOnce::new(),
                    })
                }
            };
            if module.name == name {
                return &module.entries;
            }
            cell = &module.next;
        }
    }

    /// Everything, once somebody wants to see it.
    pub(crate) fn lists(&self) -> &Lists {
        self.lists.get_or_make(|| {
            let mut lists = Lists { skipped: self.unreadable.clone(), ..Lists::default() };
            self.packs.iter().for_each(|pack| self.list(pack, &mut lists));
            lists
        })
    }

    fn entries_of(&self, name: &str) -> Vec<Entry> {
        let of_pack = |info: &Arc<PackInfo>| {
            let pack = info.pack().ok()?;
            let numbers = pack.module(name).ok()?;
            let entry = |number| Entry::new(info, &pack, (number, &pack.image(number).ok()?)).ok();
            Some(numbers.filter_map(entry).collect::<Vec<_>>())
        };
        self.packs.iter().filter_map(of_pack).flatten().collect()
    }

    fn list(&self, info: &Arc<PackInfo>, lists: &mut Lists) {
        let pack = match info.pack() {
            Ok(pack) => pack,
            Err(error) => return lists.skipped.push(Skipped::new(error.to_string())),
        };
        for (number, image) in (0u32..).zip(pack.images()) {
            // Through the module, so that whoever loads an image loads it for all.
            let module = image.as_ref().map(|image| self.module(image.module)).unwrap_or_default();
            match (module.iter().find(|entry| entry.is(info, number)), image) {
                (Some(entry), _) => lists.entries.push(entry.clone()),
                (None, image) => {
                    let made = image.and_then(|image| Entry::new(info, &pack, (number, &image)));
                    let reason =
                        made.err().map_or_else(|| "it is out of order".to_string(), |e| e.to_string());
                    let reason = format!("image {number} of package {}: {reason}", escape(info.package()));
                    lists.skipped.push(Skipped::new(reason));
                }
            }
        }
        // The index is verified: a notice that cannot be read is of a later release and says nothing to this one.
        lists.notices.extend(pack.notices().flatten().map(|notice| Notice::new(info.package(), &notice)));
    }
}
