//! Finding packs in a file: a program, a shared library or a pack of its own, stripped or not.
//!
//! Only headers, indexes and the images that are asked for are read, whatever the size of the file. Three ways are
//! tried, the most exact first: the section of descriptors by name, the notes through program headers, the packs' magic.

pub(crate) mod elf;
mod scan;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use offload_format::codec::decode_with;
use offload_format::pack::layout::HEADER_SIZE;
use offload_format::pack::{Image, Pack, Pages};

use crate::error::{Error, Result};

/// A file that may hold packs.
#[derive(Debug)]
pub(crate) struct Carrier {
    path: PathBuf,
    packs: Vec<FoundPack>,
    /// What could not be read, and why.
    pub(crate) skipped: Vec<String>,
}

/// The index of a pack with its pages, and where the pack lies in the file.
#[derive(Debug)]
pub(crate) struct FoundPack {
    offset: u64,
    index: Vec<u8>,
    pages: Pages,
}

impl FoundPack {
    /// Where the pack starts in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    fn pack(&self) -> std::result::Result<Pack<'_>, offload_format::Error> {
        Ok(Pack::parse_index(&self.index)?.cached(&self.pages))
    }
}

impl Carrier {
    /// Looks for packs in `path`.
    ///
    /// # Errors
    /// The file cannot be read, or holds no pack.
    pub(crate) fn open(path: &Path) -> Result<Carrier> {
        let mut file = File::open(path).map_err(|error| Error::io("open", path, &error))?;
        let offsets = match elf::pack_offsets(&file) {
            offsets if !offsets.is_empty() => offsets,
            _ => scan::pack_offsets(&mut file).map_err(|error| Error::io("read", path, &error))?,
        };
        let carrier = Carrier::read(path, &mut file, offsets);
        if carrier.packs.is_empty() && carrier.skipped.is_empty() {
            return Err(Error::check(format!("`{}` carries no device images", path.display())).hint(
                "a crate brings its kernels along only if the program mentions it: `use the_crate as _;`",
            ));
        }
        Ok(carrier)
    }

    /// The packs that descriptors in `path` lead to; none is no error, and nothing else is searched for.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn linked(path: &Path) -> Result<Carrier> {
        let mut file = File::open(path).map_err(|error| Error::io("open", path, &error))?;
        let offsets = elf::pack_offsets(&file);
        Ok(Carrier::read(path, &mut file, offsets))
    }

    fn read(path: &Path, file: &mut File, offsets: BTreeSet<u64>) -> Carrier {
        let mut carrier = Carrier { path: path.to_path_buf(), packs: Vec::new(), skipped: Vec::new() };
        for offset in offsets {
            match read_index(file, offset) {
                Ok(found) => carrier.packs.push(found),
                Err(reason) => carrier.skipped.push(format!("pack at offset {offset:#x}: {reason}")),
            }
        }
        carrier
    }

    /// Every pack that could be read.
    pub(crate) fn packs(&self) -> impl Iterator<Item = (&FoundPack, Pack<'_>)> {
        // `read_index` has parsed them all.
        self.packs.iter().filter_map(|found| Some((found, found.pack().ok()?)))
    }

    /// The frame that `image` is stored in, alone or with others of its block, as it is in the file.
    pub(crate) fn stored(&self, found: &FoundPack, pack: &Pack<'_>, image: &Image<'_>) -> Result<Vec<u8>> {
        let broken = |error: offload_format::Error| Error::check(error.to_string());
        let block = image.block.map(|block| pack.block(block)).transpose().map_err(broken)?;
        let (offset, size) =
            block.map_or((image.offset, image.stored_size), |block| (block.offset, block.stored_size));
        let start = found.offset.saturating_add(pack.payload_offset()).saturating_add(offset);
        let mut file = File::open(&self.path).map_err(|error| Error::io("open", &self.path, &error))?;
        read_at(&mut file, start, size).map_err(|error| Error::io("read", &self.path, &error))
    }

    /// The raw bytes of `image`, checked against its hash. Only its frame and those of its ancestors are read.
    pub(crate) fn decode(&self, found: &FoundPack, pack: &Pack<'_>, image: &Image<'_>) -> Result<Vec<u8>> {
        let mut file = File::open(&self.path).map_err(|error| Error::io("open", &self.path, &error))?;
        let size = file.metadata().map_err(|error| Error::io("inspect", &self.path, &error))?.len();
        let start = found.offset.saturating_add(pack.payload_offset());
        let fetch = |offset: u64, length: u64| {
            let offset = start.saturating_add(offset);
            // A record is a claim: memory is taken only for what the file has.
            if offset.checked_add(length).is_none_or(|end| end > size) {
                return Err(Unreadable("its record points outside the file".to_string()));
            }
            let bytes = read_at(&mut file, offset, length).map_err(|error| Unreadable(error.to_string()))?;
            Ok(Cow::Owned(bytes))
        };
        decode_with(pack, image, fetch).map_err(|Unreadable(reason)| {
            let (target, module, path) = (image.target_text, image.module, self.path.display());
            Error::check(format!("image {target} of module {module} in `{path}`: {reason}"))
        })
    }
}

/// Why an image cannot be read.
struct Unreadable(String);

impl From<offload_format::Error> for Unreadable {
    fn from(error: offload_format::Error) -> Unreadable {
        Unreadable(error.to_string())
    }
}

/// The largest index that is read: a million images.
const MAX_INDEX: u64 = 256 << 20;

fn read_index(file: &mut File, offset: u64) -> std::result::Result<FoundPack, String> {
    let text = |error: offload_format::Error| error.to_string();
    let header = read_at(file, offset, HEADER_SIZE).map_err(|error| error.to_string())?;
    let (_, size) = Pack::sizes(&header).map_err(text)?;
    let index = read_head(file, offset, size)?;
    let whole = Pack::parse_index(&index).map_err(text)?.head_size();
    let index = if whole > size { read_head(file, offset, whole)? } else { index };
    let found = FoundPack { offset, index, pages: Pages::default() };
    let check = found.pack().and_then(|pack| {
        pack.verify_index()?;
        pack.images().try_for_each(|image| image.map(drop))
    });
    check.map_err(text).map(|()| found)
}

fn read_head(file: &mut File, offset: u64, size: u64) -> std::result::Result<Vec<u8>, String> {
    if size > MAX_INDEX {
        return Err(format!("its index of {size} bytes is too large"));
    }
    read_at(file, offset, size).map_err(|error| error.to_string())
}

fn read_at(file: &mut File, offset: u64, size: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(size).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == size { Ok(bytes) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
}
