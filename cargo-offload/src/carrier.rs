//! Finding packs in a file: a program, a shared library or a pack of its own, stripped or not.
//!
//! Only headers, indexes and the images that are asked for are read, whatever the size of the file. Three ways are
//! tried, the most exact first: the section of descriptors by name, the notes through program headers, the packs' magic.

pub(crate) mod elf;
mod scan;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use offload_format::codec::decode_frame;
use offload_format::pack::{Image, Pack};
use offload_format::section::DESCRIPTOR_SIZE;

use crate::error::{Error, Result};

/// A file that may hold packs.
#[derive(Debug)]
pub(crate) struct Carrier {
    path: PathBuf,
    packs: Vec<FoundPack>,
    /// What could not be read, and why.
    pub(crate) skipped: Vec<String>,
}

/// The index of a pack, and where the pack lies in the file.
#[derive(Debug)]
pub(crate) struct FoundPack {
    offset: u64,
    index: Vec<u8>,
}

impl FoundPack {
    /// Where the pack starts in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }
}

impl Carrier {
    /// Looks for packs in `path`.
    ///
    /// # Errors
    /// The file cannot be read, or holds no pack.
    pub(crate) fn open(path: &Path) -> Result<Carrier> {
        let mut file = File::open(path).map_err(|error| Error::io("open", path, &error))?;
        let mut carrier = Carrier { path: path.to_path_buf(), packs: Vec::new(), skipped: Vec::new() };
        let offsets = match elf::pack_offsets(&file) {
            offsets if !offsets.is_empty() => offsets,
            _ => scan::pack_offsets(&mut file).map_err(|error| Error::io("read", path, &error))?,
        };
        for offset in offsets {
            match read_index(&mut file, offset) {
                Ok(index) => carrier.packs.push(FoundPack { offset, index }),
                Err(reason) => carrier.skipped.push(format!("pack at offset {offset:#x}: {reason}")),
            }
        }
        if carrier.packs.is_empty() && carrier.skipped.is_empty() {
            return Err(Error::check(format!("`{}` carries no device images", path.display())).hint(
                "a crate brings its kernels along only if the program mentions it: `use the_crate as _;`",
            ));
        }
        Ok(carrier)
    }

    /// Every pack that could be read.
    pub(crate) fn packs(&self) -> impl Iterator<Item = (&FoundPack, Pack<'_>)> {
        // `read_index` has parsed them all.
        self.packs.iter().filter_map(|found| Some((found, Pack::parse_index(&found.index).ok()?)))
    }

    /// The raw bytes of `image`, checked against its hash.
    pub(crate) fn decode(&self, found: &FoundPack, pack: &Pack<'_>, image: &Image<'_>) -> Result<Vec<u8>> {
        let what =
            || format!("image {} of module {} in `{}`", image.target_text, image.module, self.path.display());
        let failed = |error: &dyn std::fmt::Display| Error::check(format!("{}: {error}", what()));
        if let Some(block) = image.block {
            return Err(failed(&format!("it lies in block {block}, which this release cannot read")));
        }
        let offset =
            found.offset.checked_add(pack.payload_offset()).and_then(|at| at.checked_add(image.offset));
        let end = offset.and_then(|at| at.checked_add(image.stored_size));
        let mut file = File::open(&self.path).map_err(|error| Error::io("open", &self.path, &error))?;
        let size = file.metadata().map_err(|error| Error::io("inspect", &self.path, &error))?.len();
        let offset = offset.filter(|_| end.is_some_and(|end| end <= size));
        let offset = offset.ok_or_else(|| failed(&"its record points outside the file"))?;
        let frame = read_at(&mut file, offset, image.stored_size).map_err(|error| failed(&error))?;
        decode_frame(&frame, image).map_err(|error| failed(&error))
    }
}

/// The largest index that is read: a million images.
const MAX_INDEX: u64 = 256 << 20;

fn read_index(file: &mut File, offset: u64) -> std::result::Result<Vec<u8>, String> {
    let text = |error: std::io::Error| error.to_string();
    let header = read_at(file, offset, DESCRIPTOR_SIZE).map_err(text)?;
    let (_, payload) = Pack::sizes(&header).map_err(|error| error.to_string())?;
    if payload > MAX_INDEX {
        return Err(format!("its index of {payload} bytes is too large"));
    }
    let index = read_at(file, offset, payload).map_err(text)?;
    let check = Pack::parse_index(&index).and_then(|pack| {
        pack.verify_index()?;
        pack.images().try_for_each(|image| image.map(drop))
    });
    check.map_err(|error| error.to_string()).map(|()| index)
}

fn read_at(file: &mut File, offset: u64, size: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(size).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == size { Ok(bytes) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
}
