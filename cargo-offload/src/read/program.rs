//! Images of a linked program by crate, embedded or in sidecars, or those of a separate pack.

use std::path::{Path, PathBuf};

use offload_format::Limits;
use offload_format::pack::{Image, Pack};

use crate::error::{Error, IoContext, Result};
use crate::read::metadata::PackMetadata;
use crate::read::pack_file::elf::{self, LinkedPack};
use crate::read::pack_file::{LocatedPack, PackFile, macho, pe};
use crate::read::packs::{Packs, ReachedPack};

/// A program and the sidecars that its packs name, all of which can be read.
#[derive(Debug)]
pub(crate) struct Program {
    packs: Packs,
}

/// The images that the build of one crate has made.
#[derive(Debug)]
pub(crate) struct CrateImages<'a> {
    /// References to its pack; `None` in a separate pack.
    pub(crate) link: Option<LinkedPack>,
    /// The pack that was opened, which may have no images itself.
    pub(crate) source: LocatedPack<'a>,
    /// Metadata, without the list of sidecars.
    pub(crate) metadata: PackMetadata,
    pub(crate) files: Vec<FileImages<'a>>,
}

/// Images of a crate that lie in one file.
#[derive(Debug)]
pub(crate) struct FileImages<'a> {
    /// The name of the sidecar, if they are not in the program.
    pub(crate) name: Option<&'a str>,
    pub(crate) pack: PackImages<'a>,
}

/// Images of one pack.
#[derive(Clone, Debug)]
pub(crate) struct PackImages<'a> {
    pub(crate) source: LocatedPack<'a>,
    pub(crate) images: Vec<Image<'a>>,
}

impl Program {
    /// Opens `path` and what it names.
    pub(crate) fn open(path: &Path, limits: &Limits) -> Result<Program> {
        let packs = Packs::open(path, limits)?;
        check_whole(packs.here())?;
        packs.sidecars().try_for_each(|(_, file)| check_whole(file))?;
        Ok(Program { packs })
    }

    /// Its packs, and those that they name.
    pub(crate) fn packs(&self) -> &Packs {
        &self.packs
    }

    /// The program itself, or the file of packs.
    pub(crate) fn file(&self) -> &PackFile {
        self.packs.here()
    }

    /// The size of the program and of its sidecars.
    pub(crate) fn size(&self) -> Result<u64> {
        let sidecars = self.packs.sidecars().map(|(_, file)| file);
        let mut files = std::iter::once(self.file()).chain(sidecars);
        files.try_fold(0u64, |sum, file| Ok(sum.saturating_add(file.size()?)))
    }

    /// The sidecars that have nothing but the program's images. A file in the compile cache is none.
    pub(crate) fn own_sidecars(&self) -> Vec<PathBuf> {
        let program = self.file();
        let mut own = Vec::new();
        for (_, file) in self.packs.sidecars() {
            if file.path().parent() == program.path().parent()
                && file.unreadable.is_empty()
                && file.packs().all(|source| references(program, &source.pack))
            {
                own.push(file.path().to_path_buf());
            }
        }
        own
    }

    /// The crates, in the order in which their packs lie in the file.
    pub(crate) fn crates(&self) -> Result<Vec<CrateImages<'_>>> {
        let crates: Result<Vec<CrateImages<'_>>> = if self.file().is_packs() {
            self.file().packs().map(|source| self.crate_of(source, None)).collect()
        } else {
            let linked = linked_packs(self.file())?.into_iter();
            linked.map(|linked| self.crate_of(linked.source, Some(linked.link))).collect()
        };
        let mut crates = crates?;
        crates.sort_by_key(|one| one.source.index.offset());
        Ok(crates)
    }

    fn crate_of<'a>(&'a self, source: LocatedPack<'a>, link: Option<LinkedPack>) -> Result<CrateImages<'a>> {
        let mut files = Vec::new();
        if source.pack.image_count() > 0 {
            files.push(FileImages { name: None, pack: PackImages::from_pack(source)? });
        }
        for named in self.packs.named(source.pack) {
            let ReachedPack { file, source } = named.map_err(|missing| missing.error)?;
            files.push(FileImages { name: file, pack: PackImages::from_pack(source)? });
        }
        Ok(CrateImages { link, source, metadata: PackMetadata::from_pack(&source.pack)?, files })
    }
}

impl<'a> PackImages<'a> {
    /// All images of a pack.
    fn from_pack(source: LocatedPack<'a>) -> Result<PackImages<'a>> {
        let images = source.pack.images().collect::<std::result::Result<_, _>>()?;
        Ok(PackImages { source, images })
    }
}

/// # Errors
/// A pack of the file cannot be read, so that none of it can be replaced.
pub(crate) fn check_whole(file: &PackFile) -> Result<()> {
    match file.unreadable.first() {
        Some(problem) => Err(Error::check(format!("`{}`: {problem}", file.path().display()))),
        None => Ok(()),
    }
}

/// A pack, and what of the program refers to it.
struct LinkedSource<'a> {
    source: LocatedPack<'a>,
    link: LinkedPack,
}

/// The packs that the program's descriptors lead to; packs that none leads to cannot be replaced.
fn linked_packs(program: &PackFile) -> Result<Vec<LinkedSource<'_>>> {
    let path = program.path().display();
    let mut found = elf::linked_packs(program.file()).io_context("read", program.path())?;
    let in_pe = pe::linked_packs(program.file()).io_context("read", program.path())?;
    let in_macho = macho::linked_packs(program.file()).io_context("read", program.path())?;
    for more in [in_pe, in_macho] {
        found.packs.extend(more.packs);
        found.later |= more.later;
    }
    if found.later {
        return Err(Error::check(format!("`{path}` has a pack from a newer release"))
            .hint("install the release of cargo-offload that the program was built with"));
    }
    if found.packs.is_empty() {
        return Err(Error::check(format!(
            "`{path}` is not a program or library of ELF, PE or Mach-O with images"
        )));
    }
    found
        .packs
        .into_iter()
        .map(|link| {
            let source = program.packs().find(|source| source.index.offset() == link.pack_offset);
            source
                .map(|source| LinkedSource { source, link })
                .ok_or_else(|| Error::check(format!("a descriptor of `{path}` does not point to a pack")))
        })
        .collect()
}

/// Whether a pack of the program names a sidecar with `pack`.
fn references(program: &PackFile, pack: &Pack<'_>) -> bool {
    let mut sidecars = program.packs().flat_map(|source| source.pack.sidecars().flatten());
    pack.id().is_ok_and(|id| sidecars.any(|sidecar| sidecar.id() == id))
}
