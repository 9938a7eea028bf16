//! A file to be shown: the packs of this project in it and those that they name, and the containers of other tool chains.

use std::fs::File;
#[cfg(feature = "devices")]
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "devices")]
use object::{Object, ObjectSection};
use offload_containers::carrier::{self, FileKind, ImageRange, RangeOrigin};
use offload_containers::contents::{self, Compression, Image};
use offload_containers::deep;
use offload_format::Limits;

use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::files::mapping::Mapped;
use crate::files::read_at::FilePart;
use crate::read::over_limit::told;
use crate::read::pack_file::PackFile;
use crate::read::packs::Packs;
use crate::read::syclbin::Syclbin;

/// A file that may carry images of any kind.
#[derive(Debug)]
pub(crate) struct Input {
    path: PathBuf,
    /// What containers are called after that are the whole file.
    stem: Option<String>,
    file: Mapped,
    limits: Limits,
    search: Search,
}

/// Where images are searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Search {
    /// Where tool chains put them.
    #[default]
    Known,
    /// In all bytes.
    Deep,
}

/// A container of another tool chain.
#[derive(Debug)]
pub(crate) struct Container<'a> {
    /// What takes the place of a module's name: `cuda-0`, numbered in the order of the file.
    pub(crate) name: String,
    pub(crate) found: ImageRange<'a>,
    pub(crate) images: Vec<Image<'a>>,
}

/// Everything that a file carries.
#[derive(Debug)]
pub(crate) struct Contents<'a> {
    pub(crate) packs: Packs,
    pub(crate) containers: Vec<Container<'a>>,
    /// Those of the containers that are SYCLBINs, also what cannot be read.
    pub(crate) syclbins: Vec<Syclbin<'a>>,
    /// What the file says of kpacks that have its images: the number of a wrapper, and the bytes to which it refers.
    #[cfg(feature = "devices")]
    pub(crate) kpack_references: Vec<(u32, &'a [u8])>,
    /// Containers that cannot be read, and why.
    pub(crate) damaged: Vec<String>,
    /// What may come of it.
    pub(crate) limits: Limits,
    /// The size of the file in bytes.
    pub(crate) size: u64,
    /// Where fatbins lie that no driver gets, because they were linked to others of the file.
    #[cfg(feature = "devices")]
    left: Range<u64>,
}

/// How much of a file the containers of a part lie in: what is looked at stays in memory until the part is done.
#[cfg(feature = "devices")]
const PART_SIZE: u64 = 16 << 20;

/// Neighbours in `found`, up to `size` of them, that lie in [`PART_SIZE`] bytes unless a single one is larger.
#[cfg(feature = "devices")]
fn parts<'p, 'a>(found: &'p [ImageRange<'a>], size: usize) -> impl Iterator<Item = &'p [ImageRange<'a>]> {
    let mut rest = found;
    std::iter::from_fn(move || {
        let start = rest.first()?.offset;
        let fits = |found: &ImageRange<'_>| {
            let end = found.offset.saturating_add(found.bytes.len() as u64);
            size == usize::MAX || end.saturating_sub(start) <= PART_SIZE
        };
        let count = rest.iter().take(size).take_while(|found| fits(found)).count().max(1);
        let part = rest.get(..count)?;
        rest = rest.get(count..)?;
        Some(part)
    })
}

/// Containers of other tool chains, or why nobody can say whether there are any.
struct Foreign<'a> {
    found: Vec<ImageRange<'a>>,
    /// As [`Contents::kpack_references`].
    #[cfg(feature = "devices")]
    kpack_references: Vec<(u32, &'a [u8])>,
    error: Option<offload_format::Error>,
}

impl Foreign<'_> {
    fn is_empty(&self) -> bool {
        #[cfg(feature = "devices")]
        let refers = !self.kpack_references.is_empty();
        #[cfg(not(feature = "devices"))]
        let refers = false;
        self.found.is_empty() && !refers
    }
}

/// How far the containers of a file are listed.
struct Listing {
    /// How many were.
    number: usize,
    /// What many containers may have without regard to their size, they may have together.
    limits: Limits,
    #[cfg(feature = "devices")]
    left: Range<u64>,
}

impl Listing {
    fn of(input: &Input, found: &[ImageRange<'_>]) -> Listing {
        #[cfg(not(feature = "devices"))]
        let _ = found;
        Listing {
            number: 0,
            limits: held(input.limits, input.size(), LISTED_TIMES),
            #[cfg(feature = "devices")]
            left: left(&input.file, found),
        }
    }
}

impl Input {
    /// Opens `path`; nothing of it is read yet.
    pub(crate) fn open(path: &Path, limits: &Limits) -> Result<Input> {
        Ok(Input {
            path: path.to_path_buf(),
            stem: stem(path),
            file: Mapped::open(path)?,
            limits: *limits,
            search: Search::Known,
        })
    }

    /// The same, with images searched for in this way.
    pub(crate) fn searched(self, search: Search) -> Input {
        Input { search, ..self }
    }

    /// The same, called `name`: it is a copy of another file.
    pub(crate) fn called(self, name: &str) -> Input {
        Input { stem: stem(Path::new(name)), ..self }
    }

    /// Size in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.file.len() as u64
    }

    /// What may come of it.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The open file, to be copied from.
    pub(crate) fn file(&self) -> &Arc<File> {
        self.file.file()
    }

    /// Where `bytes` lie in the file, if they do.
    pub(crate) fn place(&self, bytes: &[u8]) -> Option<FilePart> {
        self.file.place(bytes)
    }

    /// Takes bytes of the file out of memory; who looks at them again has them read again.
    pub(crate) fn release(&self, bytes: &[u8]) {
        self.file.release(bytes);
    }

    /// What the file carries.
    ///
    /// # Errors
    /// It carries nothing, or cannot be read.
    pub(crate) fn contents(&self) -> Result<Contents<'_>> {
        let foreign = self.foreign();
        let packs = match foreign.found.is_empty() {
            true => PackFile::open(&self.path, &self.limits).map_err(|error| self.nothing(error)),
            false => PackFile::linked(&self.path, &self.limits),
        }?;
        let mut listing = Listing::of(self, &foreign.found);
        Ok(self.part(packs, foreign.found, &mut listing))
    }

    /// The same, where it is no mistake that there is nothing.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged so that nobody can say whether it carries images.
    pub(crate) fn contents_if_any(&self) -> Result<Option<Contents<'_>>> {
        let foreign = self.foreign();
        let Some(packs) = self.packs_beside(&foreign)? else { return Ok(None) };
        let mut listing = Listing::of(self, &foreign.found);
        Ok(Some(self.part(packs, foreign.found, &mut listing)))
    }

    /// Calls `visit` with what the file carries, `size` containers at a time: a library may have so many that a list of all
    /// their images takes more memory than the library.
    ///
    /// # Errors
    /// Those of `visit`, and as [`Input::contents_if_any`].
    #[cfg(feature = "devices")]
    pub(crate) fn each_part(
        &self,
        size: usize,
        visit: &mut dyn FnMut(&Contents<'_>) -> Result<()>,
    ) -> Result<()> {
        let foreign = self.foreign();
        let Some(packs) = self.packs_beside(&foreign)? else { return Ok(()) };
        let mut listing = Listing::of(self, &foreign.found);
        let mut parts = parts(&foreign.found, size);
        let first = parts.next().unwrap_or_default();
        let kpack_references = foreign.kpack_references;
        visit(&Contents { kpack_references, ..self.part(packs, first.to_vec(), &mut listing) })?;
        self.release_from(first);
        for found in parts {
            let none = PackFile::empty(&self.path, self.file.file(), &self.limits);
            visit(&self.part(none, found.to_vec(), &mut listing))?;
            self.release_from(found);
        }
        Ok(())
    }

    /// Lets the memory go that the bytes from the first to the last of `found` take.
    #[cfg(feature = "devices")]
    fn release_from(&self, found: &[ImageRange<'_>]) {
        let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let start = found.first().map_or(0, |first| place(first.offset));
        let end = found.last().map_or(0, |last| place(last.offset).saturating_add(last.bytes.len()));
        self.file.release(self.file.get(start..end).unwrap_or_default());
    }

    /// The packs of the file; `None` if it has neither packs nor containers.
    fn packs_beside(&self, foreign: &Foreign<'_>) -> Result<Option<PackFile>> {
        let packs = match foreign.found.is_empty() {
            true => PackFile::searched(&self.path, &self.limits),
            false => PackFile::linked(&self.path, &self.limits),
        }?;
        match &foreign.error {
            Some(error) if packs.is_empty() => Err(Error::check(told(error))),
            None if packs.is_empty() && foreign.is_empty() => Ok(None),
            _ => Ok(Some(packs)),
        }
    }

    /// What of other tool chains the file has. A damaged program may have packs all the same: they are searched for in
    /// another way.
    fn foreign(&self) -> Foreign<'_> {
        match self.found() {
            Ok(mut found) => {
                #[cfg(feature = "devices")]
                let kpack_references = kpack_references(&found);
                found.retain(is_foreign);
                Foreign {
                    found,
                    #[cfg(feature = "devices")]
                    kpack_references,
                    error: None,
                }
            }
            Err(error) => Foreign {
                found: Vec::new(),
                #[cfg(feature = "devices")]
                kpack_references: Vec::new(),
                error: Some(error),
            },
        }
    }

    /// What is known by its place, or by its structure.
    fn found(&self) -> std::result::Result<Vec<ImageRange<'_>>, offload_format::Error> {
        match self.search {
            Search::Known => carrier::find_in(&self.file, &self.limits, &self.file),
            Search::Deep => deep::find(&self.file, &self.limits),
        }
    }

    /// The containers at `found`, which follow those that were listed before.
    fn part<'a>(
        &'a self,
        packs: PackFile,
        found: Vec<ImageRange<'a>>,
        listing: &mut Listing,
    ) -> Contents<'a> {
        let mut contents = Contents {
            packs: Packs::of(packs),
            containers: Vec::new(),
            syclbins: found.iter().filter_map(|found| Syclbin::of(found, &self.path)).collect(),
            #[cfg(feature = "devices")]
            kpack_references: Vec::new(),
            damaged: Vec::new(),
            limits: self.limits,
            size: self.size(),
            #[cfg(feature = "devices")]
            left: listing.left.clone(),
        };
        for found in found {
            let number = listing.number;
            listing.number = number.saturating_add(1);
            match contents::images_of(&found, &listing.limits) {
                Ok(images) => {
                    let limits = &mut listing.limits;
                    limits.any_ratio = limits.any_ratio.saturating_sub(inflated(&images));
                    let name = self.name(number, &found, &images);
                    contents.containers.push(Container { name, found, images });
                }
                Err(error) => {
                    let (what, error) = (what(&found), told(&error));
                    contents.damaged.push(format!("{what} at {:#x}: {error}", found.offset));
                }
            }
        }
        contents
    }

    /// What was searched for in all bytes is in none of them; another error stays.
    fn nothing(&self, error: Error) -> Error {
        match (self.search, error.status()) {
            (Search::Deep, ExitStatus::CheckFailed) => Error::check(format!(
                "no byte of `{}` starts a known image or container",
                self.path.display()
            )),
            _ => error,
        }
    }

    /// Where the whole file is the container, its name says more than a number.
    fn name(&self, number: usize, found: &ImageRange<'_>, images: &[Image<'_>]) -> String {
        match (found.origin, &self.stem) {
            (RangeOrigin::Whole, Some(stem)) if found.bytes.len() == self.file.len() => stem.clone(),
            _ => {
                let kind =
                    images.first().map_or(offload_format::OffloadKind::None, |image| image.offload_kind);
                let kind = if kind.to_u16() == 0 { "images".to_string() } else { kind.to_string() };
                format!("{kind}-{number}")
            }
        }
    }
}

/// How many times the size of the file an image may have that is held in memory: a bundle and a copy of its image may.
const HELD_TIMES: u64 = 32;
/// How many times, what has to be inflated to be listed: there are up to three copies of it.
const LISTED_TIMES: u64 = 20;

/// `limits` for what is in memory of a file of `size` bytes.
fn held(limits: Limits, size: u64, times: u64) -> Limits {
    let held = size.saturating_mul(times).max(limits.any_ratio);
    limits.with_raw_bytes(limits.raw_bytes.min(held))
}

impl Contents<'_> {
    /// What may come of one image that is held in memory. What is streamed may be more.
    pub(crate) fn held(&self) -> Limits {
        held(self.limits, self.size, HELD_TIMES)
    }

    /// What may come of a container to be listed.
    pub(crate) fn listed(&self) -> Limits {
        held(self.limits, self.size, LISTED_TIMES)
    }

    /// The containers whose images a program loads. Relocatable fatbins stay in a program beside those that were linked of
    /// them; where there are none of these, as in an object file, they are all that there is.
    #[cfg(feature = "devices")]
    pub(crate) fn loaded(&self) -> impl Iterator<Item = &Container<'_>> {
        self.containers.iter().filter(|container| !self.left.contains(&container.found.offset))
    }

    /// What is there and cannot be read.
    pub(crate) fn unreadable(&self) -> impl Iterator<Item = String> {
        let sidecars = self.packs.sidecars().flat_map(|(name, file)| {
            file.unreadable.iter().map(move |problem| format!("of `{name}`: {problem}"))
        });
        self.packs.here().unreadable.iter().cloned().chain(sidecars).chain(self.damaged.iter().cloned())
    }

    /// Everything that could not be read, also because it is not there.
    pub(crate) fn problems(&self) -> impl Iterator<Item = String> {
        self.packs.missing().map(|missing| missing.sentence()).chain(self.unreadable())
    }

    /// How a command ends that shows all of it.
    pub(crate) fn status(&self) -> ExitStatus {
        if self.problems().next().is_none() { ExitStatus::Success } else { ExitStatus::CheckFailed }
    }
}

fn stem(path: &Path) -> Option<String> {
    path.file_stem().and_then(|stem| stem.to_str()).map(str::to_string)
}

/// Where nvcc leaves what nvlink has linked (`-rdc=true`).
#[cfg(feature = "devices")]
const RELOCATABLE: &str = "__nv_relfatbin";

/// The fatbins of a program that were linked to others of it: no driver gets them.
#[cfg(feature = "devices")]
fn left(file: &[u8], found: &[ImageRange<'_>]) -> Range<u64> {
    let program = object::File::parse(file).ok();
    let section = program.as_ref().and_then(|program| program.section_by_name(RELOCATABLE));
    let (start, size) = section.and_then(|section| section.file_range()).unwrap_or_default();
    let left = start..start.saturating_add(size);
    let is_fatbin = |found: &&ImageRange<'_>| found.kind == Some(FileKind::CudaFatbin);
    let has_linked = found.iter().filter(is_fatbin).any(|found| !left.contains(&found.offset));
    if has_linked { left } else { 0..0 }
}

/// References to images in other files hold none themselves.
fn is_foreign(found: &ImageRange<'_>) -> bool {
    found.kind.is_some_and(|kind| kind != FileKind::Pack)
        && !matches!(found.origin, RangeOrigin::KpackReference { .. })
}

#[cfg(feature = "devices")]
fn kpack_references<'a>(found: &[ImageRange<'a>]) -> Vec<(u32, &'a [u8])> {
    let reference = |found: &ImageRange<'a>| match found.origin {
        RangeOrigin::KpackReference { index } => Some((index, found.bytes)),
        _ => None,
    };
    found.iter().filter_map(reference).collect()
}

/// How much `images` take that are compressed.
fn inflated(images: &[Image<'_>]) -> u64 {
    let compressed = images.iter().filter(|image| image.compression != Compression::None);
    compressed.fold(0, |sum, image| sum.saturating_add(image.raw_size))
}

fn what(found: &ImageRange<'_>) -> String {
    found.kind.map_or_else(|| "device images".to_string(), |kind| kind.to_string())
}
