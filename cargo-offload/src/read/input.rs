//! Input file: its packs, the packs in its sidecars, and other toolchains' containers.

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
use crate::read::limit_hint::with_limit_hint;
use crate::read::pack_file::PackFile;
use crate::read::packs::Packs;
use crate::read::syclbin::Syclbin;

/// A file that may carry images of any kind.
#[derive(Debug)]
pub(crate) struct Input {
    path: PathBuf,
    /// Name for a container that is the whole file.
    stem: Option<String>,
    file: Mapped,
    limits: Limits,
    search: Search,
}

/// Extent of the search for images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Search {
    /// Only the sections where toolchains put them.
    #[default]
    Known,
    /// In all bytes.
    Deep,
}

/// A container of another tool chain.
#[derive(Debug)]
pub(crate) struct Container<'a> {
    /// Name in place of a module's name: `cuda-0`, numbered in file order.
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
    /// References to kpacks with the file's images: the number of a wrapper, and the bytes that it points to.
    #[cfg(feature = "devices")]
    pub(crate) kpack_references: Vec<(u32, &'a [u8])>,
    /// Containers that cannot be read, and why.
    pub(crate) damaged: Vec<String>,
    /// Decoding limits.
    pub(crate) limits: Limits,
    /// The size of the file in bytes.
    pub(crate) size: u64,
    /// Range of fatbins that the driver never loads, because nvlink has linked them into others of the file.
    #[cfg(feature = "devices")]
    left: Range<u64>,
}

/// Size of the file range that is processed at once: its pages stay in memory until the part is done.
#[cfg(feature = "devices")]
const PART_SIZE: u64 = 16 << 20;

/// Neighbours in `found`, up to `size` of them, that lie in [`PART_SIZE`] bytes unless a single one is larger.
#[cfg(feature = "devices")]
fn parts<'p, 'a>(found: &'p [ImageRange<'a>], size: usize) -> impl Iterator<Item = &'p [ImageRange<'a>]> {
    let mut rest = found;
    std::iter::from_fn(move || {
        let start = rest.first()?.offset;
        let mut count = 0;
        for found in rest.iter().take(size) {
            let end = found.offset.saturating_add(found.bytes.len() as u64);
            if size != usize::MAX && end.saturating_sub(start) > PART_SIZE {
                break;
            }
            count += 1;
        }
        let count = count.max(1);
        let part = rest.get(..count)?;
        rest = rest.get(count..)?;
        Some(part)
    })
}

/// Containers of other toolchains, or the error that prevents the search for them.
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

/// Progress of the listing of a file's containers.
struct Listing {
    /// Number of listed containers.
    number: usize,
    /// The allowance that is independent of a container's size is shared by all containers.
    limits: Limits,
    #[cfg(feature = "devices")]
    left: Range<u64>,
}

impl Listing {
    fn new(input: &Input, found: &[ImageRange<'_>]) -> Listing {
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

    /// The decoding limits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The open file, to be copied from.
    pub(crate) fn file(&self) -> &Arc<File> {
        self.file.file()
    }

    /// The range of `bytes` in the file, if they lie in it.
    pub(crate) fn place(&self, bytes: &[u8]) -> Option<FilePart> {
        self.file.place(bytes)
    }

    /// Takes bytes of the file out of memory; who looks at them again has them read again.
    pub(crate) fn release(&self, bytes: &[u8]) {
        self.file.release(bytes);
    }

    /// The images of the file.
    ///
    /// # Errors
    /// It carries nothing, or cannot be read.
    pub(crate) fn contents(&self) -> Result<Contents<'_>> {
        let foreign = self.foreign();
        let packs = if foreign.found.is_empty() {
            PackFile::open(&self.path, &self.limits).map_err(|error| self.nothing(error))
        } else {
            PackFile::linked(&self.path, &self.limits)
        }?;
        let mut listing = Listing::new(self, &foreign.found);
        Ok(self.part(packs, foreign.found, &mut listing))
    }

    /// The same, where it is no mistake that there is nothing.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged so that the search for images is not conclusive.
    pub(crate) fn contents_if_any(&self) -> Result<Option<Contents<'_>>> {
        let foreign = self.foreign();
        let Some(packs) = self.packs_beside(&foreign)? else { return Ok(None) };
        let mut listing = Listing::new(self, &foreign.found);
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
        let mut listing = Listing::new(self, &foreign.found);
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
        let start = found.first().map_or(0, |first| index(first.offset));
        let end = found.last().map_or(0, |last| index(last.offset).saturating_add(last.bytes.len()));
        self.file.release(self.file.get(start..end).unwrap_or_default());
    }

    /// The packs of the file; `None` if it has neither packs nor containers.
    fn packs_beside(&self, foreign: &Foreign<'_>) -> Result<Option<PackFile>> {
        let packs = if foreign.found.is_empty() {
            PackFile::searched(&self.path, &self.limits)
        } else {
            PackFile::linked(&self.path, &self.limits)
        }?;
        match &foreign.error {
            Some(error) if packs.is_empty() => Err(Error::check(with_limit_hint(error))),
            None if packs.is_empty() && foreign.is_empty() => Ok(None),
            _ => Ok(Some(packs)),
        }
    }

    /// The containers of other toolchains. A damaged program may still have packs, which are searched for in
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

    /// Containers that are found by section or by structure.
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
            packs: Packs::new(packs),
            containers: Vec::new(),
            syclbins: found.iter().filter_map(|found| Syclbin::new(found, &self.path)).collect(),
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
                    limits.any_ratio = limits.any_ratio.saturating_sub(decoded_size(&images));
                    let name = self.name(number, &found, &images);
                    contents.containers.push(Container { name, found, images });
                }
                Err(error) => {
                    let what = what(&found);
                    let error = with_limit_hint(&error);
                    contents.damaged.push(format!("{what} at {:#x}: {error}", found.offset));
                }
            }
        }
        contents
    }

    /// Replaces the error of a full scan without results; other errors stay.
    fn nothing(&self, error: Error) -> Error {
        match (self.search, error.status()) {
            (Search::Deep, ExitStatus::CheckFailed) => {
                Error::check(format!("no known image or container in `{}`", self.path.display()))
            }
            _ => error,
        }
    }

    /// The name of a container: the file name if it is the whole file, and otherwise a number.
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

/// Maximum size of an image in memory, in multiples of the file size: enough for a bundle and a copy of its image.
const HELD_TIMES: u64 = 32;
/// Maximum size of a container that is inflated for listing, in multiples of the file size: there are up to three
/// copies.
const LISTED_TIMES: u64 = 20;

/// `limits` for what is in memory of a file of `size` bytes.
fn held(limits: Limits, size: u64, times: u64) -> Limits {
    let held = size.saturating_mul(times).max(limits.any_ratio);
    limits.with_raw_bytes(limits.raw_bytes.min(held))
}

impl Contents<'_> {
    /// Decoding limits for an image in memory. A streamed image may be larger.
    pub(crate) fn held(&self) -> Limits {
        held(self.limits, self.size, HELD_TIMES)
    }

    /// Decoding limits for the listing of a container.
    pub(crate) fn listed(&self) -> Limits {
        held(self.limits, self.size, LISTED_TIMES)
    }

    /// The containers whose images a program loads. Relocatable fatbins stay in a program beside those that were linked of
    /// them; where there are none of these, as in an object file, they are all that there is.
    #[cfg(feature = "devices")]
    pub(crate) fn loaded(&self) -> impl Iterator<Item = &Container<'_>> {
        self.containers.iter().filter(|container| !self.left.contains(&container.found.offset))
    }

    /// Errors of unreadable images.
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

    /// The exit status of a command that shows all images.
    pub(crate) fn status(&self) -> ExitStatus {
        if self.problems().next().is_none() { ExitStatus::Success } else { ExitStatus::CheckFailed }
    }
}

fn stem(path: &Path) -> Option<String> {
    path.file_stem().and_then(|stem| stem.to_str()).map(str::to_string)
}

/// Section of the images that nvlink has linked (`-rdc=true`).
#[cfg(feature = "devices")]
const RELOCATABLE: &str = "__nv_relfatbin";

/// The fatbins of a program that were linked to others of it: no driver gets them.
#[cfg(feature = "devices")]
fn left(file: &[u8], found: &[ImageRange<'_>]) -> Range<u64> {
    let program = object::File::parse(file).ok();
    let section = program.as_ref().and_then(|program| program.section_by_name(RELOCATABLE));
    let (start, size) = section.and_then(|section| section.file_range()).unwrap_or_default();
    let left = start..start.saturating_add(size);
    let has_linked = found
        .iter()
        .filter(|found| found.kind == Some(FileKind::CudaFatbin))
        .any(|found| !left.contains(&found.offset));
    if has_linked { left } else { 0..0 }
}

/// References to images in other files hold none themselves.
fn is_foreign(found: &ImageRange<'_>) -> bool {
    found.kind.is_some_and(|kind| kind != FileKind::Pack)
        && !matches!(found.origin, RangeOrigin::KpackReference { .. })
}

#[cfg(feature = "devices")]
fn kpack_references<'a>(found: &[ImageRange<'a>]) -> Vec<(u32, &'a [u8])> {
    found
        .iter()
        .filter_map(|found| match found.origin {
            RangeOrigin::KpackReference { index } => Some((index, found.bytes)),
            _ => None,
        })
        .collect()
}

/// The decoded size of the compressed images among `images`.
fn decoded_size(images: &[Image<'_>]) -> u64 {
    let compressed = images.iter().filter(|image| image.compression != Compression::None);
    compressed.fold(0, |sum, image| sum.saturating_add(image.raw_size))
}

fn what(found: &ImageRange<'_>) -> String {
    found.kind.map_or_else(|| "device images".to_string(), |kind| kind.to_string())
}

#[cfg(feature = "devices")]
fn index(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
