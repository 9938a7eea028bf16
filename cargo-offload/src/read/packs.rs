//! Packs of a file, and the packs that they reference in sidecars or, for a development build, in the compile cache.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use offload_format::Limits;
use offload_format::pack::{CACHE, MissingKind, Pack, Sidecar};
use offload_protocol::variable::CACHE_DIR;

use crate::error::{Error, Result};
use crate::print::text::{escaped, listed};
use crate::read::pack_file::{LocatedPack, PackFile};
use crate::read::sidecar::sidecar_path;

/// The packs of a file, and the files that these name.
#[derive(Debug)]
pub(crate) struct Packs {
    here: PackFile,
    /// By name, each opened once.
    sidecars: BTreeMap<String, Result<PackFile>>,
}

/// A pack in the file, or one that such a pack names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReachedPack<'a> {
    /// The name of its file, if that is another one.
    pub(crate) file: Option<&'a str>,
    pub(crate) source: LocatedPack<'a>,
}

/// A pack that is named and not there.
#[derive(Debug)]
pub(crate) struct MissingPack<'a> {
    /// The pack that names it.
    pub(crate) by: Pack<'a>,
    /// The name of the file that should have it.
    pub(crate) file: String,
    /// Error that explains why it is missing.
    pub(crate) error: Error,
}

impl Packs {
    /// Opens `path` and what its packs name.
    ///
    /// # Errors
    /// The file itself cannot be read, or holds no pack.
    pub(crate) fn open(path: &Path, limits: &Limits) -> Result<Packs> {
        PackFile::open(path, limits).map(Packs::new)
    }

    /// Opens what the packs of `here` name. What cannot be opened is among [`Packs::missing`].
    pub(crate) fn new(here: PackFile) -> Packs {
        let mut sidecars = BTreeMap::new();
        for LocatedPack { pack, .. } in here.packs() {
            for sidecar in pack.sidecars().flatten() {
                sidecars.entry(sidecar.file().to_string()).or_insert_with(|| {
                    PackFile::open(&sidecar_path(here.path(), &pack, &sidecar), here.limits())
                });
            }
        }
        Packs { here, sidecars }
    }

    /// The file itself.
    pub(crate) fn here(&self) -> &PackFile {
        &self.here
    }

    /// The other files that could be opened, with their names.
    pub(crate) fn sidecars(&self) -> impl Iterator<Item = (&str, &PackFile)> {
        self.sidecars.iter().filter_map(|(name, file)| Some((name.as_str(), file.as_ref().ok()?)))
    }

    /// The size in bytes of the other files that have a pack which is named.
    pub(crate) fn sidecar_size(&self) -> Result<u64> {
        let reached: BTreeSet<&str> = self.all().filter_map(|reached| reached.file).collect();
        let mut files = self.sidecars().filter(|(name, _)| reached.contains(name));
        files.try_fold(0u64, |sum, (_, file)| Ok(sum.saturating_add(file.size()?)))
    }

    /// Every pack of the file, each followed by those that it names.
    pub(crate) fn all(&self) -> impl Iterator<Item = ReachedPack<'_>> {
        self.here.packs().flat_map(|source| {
            let own = std::iter::once(ReachedPack { file: None, source });
            own.chain(self.named(source.pack).filter_map(std::result::Result::ok))
        })
    }

    /// The same without the names of files.
    pub(crate) fn sources(&self) -> Vec<LocatedPack<'_>> {
        self.all().map(|reached| reached.source).collect()
    }

    /// The packs that are named and not there.
    pub(crate) fn missing(&self) -> impl Iterator<Item = Box<MissingPack<'_>>> {
        self.here.packs().flat_map(|source| self.named(source.pack).filter_map(std::result::Result::err))
    }

    /// The packs that `pack`, which is in the file, names.
    pub(crate) fn named<'a>(
        &'a self,
        pack: Pack<'a>,
    ) -> impl Iterator<Item = std::result::Result<ReachedPack<'a>, Box<MissingPack<'a>>>> {
        pack.sidecars().map(move |sidecar| {
            let missing =
                |file: &str, error| Box::new(MissingPack { by: pack, file: file.to_string(), error });
            let sidecar = sidecar.map_err(|error| missing("", error.into()))?;
            self.find(&pack, &sidecar).map_err(|error| missing(sidecar.file(), error))
        })
    }

    fn find(&self, by: &Pack<'_>, sidecar: &Sidecar) -> Result<ReachedPack<'_>> {
        let (name, file) = self.sidecars.get_key_value(sidecar.file()).ok_or_else(|| other_build(sidecar))?;
        let file = file.as_ref().map_err(|error| error.clone().hint(self.remedy(by)))?;
        let mut packs = file.packs();
        let source = packs.find(|source| source.pack.id().is_ok_and(|id| id == sidecar.id()));
        source.map(|source| ReachedPack { file: Some(name), source }).ok_or_else(|| other_build(sidecar))
    }

    fn remedy(&self, by: &Pack<'_>) -> String {
        let program = self.here.path().display();
        match by.meta(CACHE) {
            None => format!("it holds images of `{program}`; restore it"),
            Some(_) => format!(
                "`{program}` is a development build: `cargo build` recreates the file, and {CACHE_DIR} has to be what it \
                 was for the build"
            ),
        }
    }
}

fn other_build(sidecar: &Sidecar) -> Error {
    let text = format!("`{}` belongs to another build of the program", escaped(sidecar.file()));
    Error::check(text).hint("put the file next to the program that was written with it")
}

impl MissingPack<'_> {
    /// The error, the images in the missing pack, and the hint.
    pub(crate) fn sentence(&self) -> String {
        let images = self.images().into_iter().map(|(module, target)| format!("{module} {target}"));
        let would = listed(images).map_or_else(String::new, |images| format!("; it would have {images}"));
        let hint = self.error.hint_text().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        format!("{}{would}{hint}", self.error.message())
    }

    /// The modules and targets whose images the file would have.
    pub(crate) fn images(&self) -> BTreeSet<(&str, &str)> {
        let missing = self.by.missing().flatten();
        let of_file = missing.filter(|it| it.kind == MissingKind::Sidecar && it.reason == self.file);
        of_file.map(|missing| (missing.module, missing.target)).collect()
    }
}
