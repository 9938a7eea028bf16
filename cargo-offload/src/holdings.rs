//! The images of a program by crate, whether they lie in it or in files beside it; or those of a file of packs.

use std::collections::BTreeMap;
use std::path::Path;

use offload_format::pack::{Elsewhere, Image, Pack};

use crate::beside;
use crate::carrier::FoundPack;
use crate::carrier::elf::Place;
use crate::error::{Error, Result};
use crate::output::escaped;
use crate::program::{self, Program};
use crate::thin::{About, Source};

/// A program and the files beside it that its packs name.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) program: Program,
    /// By name.
    beside: BTreeMap<String, Program>,
}

/// What the build of one crate has made.
#[derive(Debug)]
pub(crate) struct Crate<'a> {
    /// What refers to its pack; nothing does in a file of packs.
    pub(crate) place: Option<Place>,
    /// The pack that was opened, which may have no images itself.
    pub(crate) source: Source<'a>,
    /// What it says, but for what lies elsewhere.
    pub(crate) about: About,
    pub(crate) piles: Vec<Pile<'a>>,
}

/// Images of a crate that lie together.
#[derive(Debug)]
pub(crate) struct Pile<'a> {
    /// The name of the file beside the program, if they are not in it.
    pub(crate) file: Option<&'a str>,
    pub(crate) source: Source<'a>,
    pub(crate) images: Vec<Image<'a>>,
}

impl Opened {
    /// Opens `path` and what it names.
    pub(crate) fn open(path: &Path) -> Result<Opened> {
        let program = Program::open(path)?;
        let mut beside = BTreeMap::new();
        for (_, pack) in program.packs() {
            for there in elsewhere(&pack)? {
                if !beside.contains_key(there.file()) {
                    let file = Program::open(&beside::file(path, &pack, &there)).map_err(|error| {
                        error.hint(format!("images of `{}` are in it: put it there", path.display()))
                    })?;
                    beside.insert(there.file().to_string(), file);
                }
            }
        }
        Ok(Opened { program, beside })
    }

    /// The files beside the program, by name.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &Program)> {
        self.beside.iter().map(|(name, file)| (name.as_str(), file))
    }

    /// The crates, in the order in which their packs lie in the file.
    pub(crate) fn crates(&self) -> Result<Vec<Crate<'_>>> {
        let crates: Result<Vec<Crate<'_>>> = if self.program.is_packs() {
            self.program.packs().map(|found| self.of_pack(found, None)).collect()
        } else {
            let places = self.program.places()?.into_iter();
            places.map(|(found, pack, place)| self.of_pack((found, pack), Some(place))).collect()
        };
        let mut crates = crates?;
        crates.sort_by_key(|one| one.source.found.offset());
        Ok(crates)
    }

    fn of_pack<'a>(
        &'a self,
        (found, pack): (&'a FoundPack, Pack<'a>),
        place: Option<Place>,
    ) -> Result<Crate<'a>> {
        let source = self.program.source(found, pack);
        let mut piles = Vec::new();
        if pack.image_count() > 0 {
            piles.push(Pile { file: None, source, images: program::images(&pack)? });
        }
        for there in elsewhere(&pack)? {
            piles.push(self.pile(&there)?);
        }
        Ok(Crate { place, source, about: About::of(&pack)?, piles })
    }

    fn pile(&self, there: &Elsewhere) -> Result<Pile<'_>> {
        let of_name = self.beside.get_key_value(there.file());
        let found = of_name.and_then(|(name, file)| {
            let mut packs = file.packs();
            let (found, pack) = packs.find(|(_, pack)| pack.id().is_ok_and(|id| id == there.id()))?;
            Some((name, file.source(found, pack)))
        });
        let (name, source) = found.ok_or_else(|| {
            let text = format!("`{}` is of another build of the program", escaped(there.file()));
            Error::check(text).hint("put the file beside the program that was written with it")
        })?;
        Ok(Pile { file: Some(name), source, images: program::images(&source.pack)? })
    }
}

fn elsewhere(pack: &Pack<'_>) -> Result<Vec<Elsewhere>> {
    Ok(pack.elsewhere().collect::<std::result::Result<_, _>>()?)
}
