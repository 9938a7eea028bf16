//! The listing of all entries of packs.
//!
//! The images of a pack are read in their order: a lookup of each one by its module would take longer than reading it.

use std::fmt;
use std::sync::Arc;

use offload_format::pack::{self, Image, MissingKind, Pack};

use crate::entry::{Entry, EntryReader};
use crate::pack_info::PackInfo;
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

impl Unreadable {
    pub(super) fn new(reason: impl Into<String>) -> Unreadable {
        Unreadable { reason: reason.into() }
    }

    fn part(info: &PackInfo, what: &str, reason: &str) -> Unreadable {
        Unreadable::new(format!("{what} of package {}: {reason}", escape(info.package())))
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

/// Everything there is.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    pub(crate) entries: Vec<Entry>,
    pub(crate) missing: Vec<Missing>,
    pub(crate) unreadable: Vec<Unreadable>,
}

/// A pack that is to be listed.
pub(super) struct PackListing<'p> {
    pub(super) info: &'p Arc<PackInfo>,
    /// The names of the files to which it leads and that are there.
    pub(super) opened: &'p [String],
}

/// The entry of image number `number` of a module, if there is one already.
type Made<'m> = &'m dyn Fn(&str, u32) -> Option<Entry>;

impl Lists {
    /// Adds what a pack holds; returns its entries, by number.
    pub(super) fn add(&mut self, listing: &PackListing<'_>, made: Made<'_>) -> Vec<Entry> {
        let info = listing.info;
        match info.pack() {
            Ok(pack) => {
                self.add_missing(listing, &pack);
                self.add_entries(info, pack, made)
            }
            Err(error) => {
                self.unreadable.push(Unreadable::new(error.to_string()));
                Vec::new()
            }
        }
    }

    fn add_entries(&mut self, info: &Arc<PackInfo>, pack: Pack<'_>, made: Made<'_>) -> Vec<Entry> {
        let mut pack_entries =
            PackEntries { reader: EntryReader::new(info, pack), made, entries: Vec::new() };
        for image in pack.images() {
            let failed = match image {
                Err(error) => Err(Unreadable::part(info, "an image", &error.to_string())),
                Ok(image) => {
                    let number = image.number;
                    let added = pack_entries.add(image);
                    added.map_err(|reason| Unreadable::part(info, &format!("image {number}"), &reason))
                }
            };
            self.unreadable.extend(failed.err());
        }
        self.entries.extend_from_slice(&pack_entries.entries);
        pack_entries.entries
    }

    fn add_missing(&mut self, listing: &PackListing<'_>, pack: &Pack<'_>) {
        // The index is verified: a record that cannot be read is of a later release and says nothing to this one.
        let missing = pack.missing().flatten();
        // What lies in a sidecar and was found there is not missing.
        let missing = missing.filter(|missing| {
            missing.kind != MissingKind::Sidecar || !listing.opened.iter().any(|file| file == missing.reason)
        });
        self.missing.extend(missing.map(|missing| Missing::new(listing.info.package(), &missing)));
    }
}

/// The entries of a pack while they are collected.
struct PackEntries<'m, 'p> {
    reader: EntryReader<'m, 'p>,
    made: Made<'m>,
    entries: Vec<Entry>,
}

impl<'p> PackEntries<'_, 'p> {
    fn add(&mut self, image: Image<'p>) -> Result<(), String> {
        // A lookup of its module would not find it.
        if self.entries.last().is_some_and(|last| image.module < last.module()) {
            return Err("it is out of order".to_string());
        }
        let entry = match (self.made)(image.module, image.number) {
            Some(entry) => entry,
            None => self.reader.read(image).map_err(|error| error.to_string())?.entry,
        };
        self.entries.push(entry);
        Ok(())
    }
}
