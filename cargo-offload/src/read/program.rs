//! The images of a program by crate, whether they lie in it or in files beside it; or those of a file of packs.

use std::path::{Path, PathBuf};

use offload_format::pack::{Image, Pack};

use crate::change::repack::About;
use crate::error::Result;
use crate::read::linked;
use crate::read::pack_file::elf::Place;
use crate::read::pack_file::{Carrier, Source};
use crate::read::packs::{Packs, Reached};

/// A program and the files beside it that its packs name, all of which can be read.
#[derive(Debug)]
pub(crate) struct Opened {
    packs: Packs,
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
        let packs = Packs::open(path)?;
        linked::check_whole(packs.here())?;
        packs.beside().try_for_each(|(_, file)| linked::check_whole(file))?;
        Ok(Opened { packs })
    }

    /// The program, or the file of packs.
    pub(crate) fn program(&self) -> &Carrier {
        self.packs.here()
    }

    /// The size of the program and of the files beside it.
    pub(crate) fn size(&self) -> Result<u64> {
        let beside = self.packs.beside().map(|(_, file)| file);
        let mut files = std::iter::once(self.program()).chain(beside);
        files.try_fold(0u64, |sum, file| Ok(sum.saturating_add(file.size()?)))
    }

    /// The files beside the program that have nothing but its images. One in the compile cache is not beside it.
    pub(crate) fn own_files(&self) -> Vec<PathBuf> {
        let program = self.program();
        let named = |pack: &Pack<'_>| {
            let mut all = program.packs().flat_map(|source| source.pack.elsewhere().flatten());
            pack.id().is_ok_and(|id| all.any(|there| there.id() == id))
        };
        let is_beside = |file: &&Carrier| file.path().parent() == program.path().parent();
        let is_own =
            |file: &&Carrier| file.skipped.is_empty() && file.packs().all(|source| named(&source.pack));
        let own = self.packs.beside().map(|(_, file)| file).filter(is_beside).filter(is_own);
        own.map(|file| file.path().to_path_buf()).collect()
    }

    /// The crates, in the order in which their packs lie in the file.
    pub(crate) fn crates(&self) -> Result<Vec<Crate<'_>>> {
        let crates: Result<Vec<Crate<'_>>> = if self.program().is_packs() {
            self.program().packs().map(|source| self.of_pack(source, None)).collect()
        } else {
            let places = linked::places(self.program())?.into_iter();
            places.map(|(source, place)| self.of_pack(source, Some(place))).collect()
        };
        let mut crates = crates?;
        crates.sort_by_key(|one| one.source.found.offset());
        Ok(crates)
    }

    fn of_pack<'a>(&'a self, source: Source<'a>, place: Option<Place>) -> Result<Crate<'a>> {
        let mut piles = Vec::new();
        if source.pack.image_count() > 0 {
            piles.push(Pile { file: None, source, images: linked::images(&source.pack)? });
        }
        for named in self.packs.named(source.pack) {
            let Reached { file, source } = named.map_err(|missing| missing.error)?;
            piles.push(Pile { file, source, images: linked::images(&source.pack)? });
        }
        Ok(Crate { place, source, about: About::of(&source.pack)?, piles })
    }
}
