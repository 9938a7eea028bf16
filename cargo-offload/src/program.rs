//! A linked program whose packs are about to be replaced: the file, its packs, and what refers to each.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use offload_format::pack::{Image, Pack};

use crate::carrier::elf::{self, Place};
use crate::carrier::{Carrier, FoundPack};
use crate::error::{Error, Result};
use crate::thin::Source;

/// A program or shared library with packs that can all be read.
#[derive(Debug)]
pub(crate) struct Program {
    path: PathBuf,
    file: Rc<File>,
    carrier: Carrier,
}

impl Program {
    /// Opens `path`.
    pub(crate) fn open(path: &Path) -> Result<Program> {
        let carrier = Carrier::open(path)?;
        if let Some(skipped) = carrier.skipped.first() {
            return Err(Error::check(format!("`{}`: {skipped}", path.display())));
        }
        let file = File::open(path).map_err(|error| Error::io("open", path, &error))?;
        Ok(Program { path: path.to_path_buf(), file: Rc::new(file), carrier })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> (&Path, &Rc<File>) {
        (&self.path, &self.file)
    }

    /// Every pack.
    pub(crate) fn packs(&self) -> impl Iterator<Item = (&FoundPack, Pack<'_>)> {
        self.carrier.packs()
    }

    /// What is taken over from one of its packs.
    pub(crate) fn source<'a>(&'a self, found: &'a FoundPack, pack: Pack<'a>) -> Source<'a> {
        Source { path: &self.path, file: &self.file, carrier: &self.carrier, found, pack }
    }

    /// Whether the file consists of packs.
    pub(crate) fn is_packs(&self) -> bool {
        self.packs().any(|(found, _)| found.offset() == 0)
    }

    /// Its size in bytes.
    pub(crate) fn size(&self) -> Result<u64> {
        Ok(self.file.metadata().map_err(|error| Error::io("inspect", &self.path, &error))?.len())
    }

    /// The packs that the program's descriptors lead to; packs that none leads to cannot be replaced.
    pub(crate) fn places(&self) -> Result<Vec<(&FoundPack, Pack<'_>, Place)>> {
        let found = elf::places(&self.file);
        if found.later {
            return Err(Error::check(format!("`{}` has a pack of a later release", self.path.display()))
                .hint("install the release of cargo-offload that the program was built with"));
        }
        if found.places.is_empty() {
            return Err(Error::check(format!(
                "`{}` is no ELF program or library with images",
                self.path.display()
            )));
        }
        let lost = || Error::check(format!("a descriptor of `{}` leads to no pack", self.path.display()));
        let of_place = |place: Place| {
            let pack = self.packs().find(|(found, _)| found.offset() == place.pack_offset);
            pack.map(|(found, pack)| (found, pack, place)).ok_or_else(lost)
        };
        found.places.into_iter().map(of_place).collect()
    }
}

/// The images of a pack.
pub(crate) fn images<'a>(pack: &Pack<'a>) -> Result<Vec<Image<'a>>> {
    pack.images().collect::<std::result::Result<_, _>>().map_err(|error| Error::check(error.to_string()))
}
