//! Search for the packs of a file: a program, a shared library or a separate pack, stripped or not.
//!
//! Only headers, indexes and requested images are read, whatever the size of the file. Three searches are tried, the
//! most exact first: the descriptor section by name, of ELF, PE or Mach-O, notes by program headers, and a scan for the magic
//! number.

mod descriptor_table;
pub(crate) mod elf;
pub(crate) mod macho;
pub(crate) mod pe;
pub(crate) mod references;
mod scan;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offload_format::codec::{decode_block_with, decode_in_block, decode_with};
use offload_format::pack::layout::HEADER_SIZE;
use offload_format::pack::{FrameRange, Image, Pack, PackBudget, Pages};
use offload_format::{ErrorKind, Limits};

use crate::error::{Error, IoContext, Result};
use crate::files::read_at::read_at;
use crate::print::text::escaped;
use crate::read::limit_hint::with_limit_hint;
use crate::read::no_images;

/// A file that may hold packs.
#[derive(Debug)]
pub(crate) struct PackFile {
    path: PathBuf,
    file: Arc<File>,
    packs: Vec<PackIndex>,
    limits: Limits,
    /// Errors of unreadable packs.
    pub(crate) unreadable: Vec<String>,
}

/// The index of a pack with its pages, and where the pack lies in the file.
#[derive(Debug)]
pub(crate) struct PackIndex {
    offset: u64,
    index: Vec<u8>,
    pages: Pages,
    last_block: Mutex<Option<DecodedBlock>>,
}

/// The block that was decoded last: its images are asked for one after another.
#[derive(Clone, Debug)]
struct DecodedBlock {
    number: u32,
    content: Arc<Vec<u8>>,
}

/// A pack and the file that it is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocatedPack<'a> {
    pub(crate) file: &'a PackFile,
    pub(crate) index: &'a PackIndex,
    pub(crate) pack: Pack<'a>,
}

impl LocatedPack<'_> {
    /// The file offset of the payload.
    pub(crate) fn payload(&self) -> u64 {
        self.index.offset.saturating_add(self.pack.payload_offset())
    }

    /// Whether both packs' images lie in the same payload.
    pub(crate) fn shares_with(&self, other: &LocatedPack<'_>) -> bool {
        std::ptr::eq(self.file, other.file) && self.payload() == other.payload()
    }

    /// As [`PackFile::stored`].
    pub(crate) fn stored(&self, image: &Image<'_>) -> Result<Vec<u8>> {
        self.file.stored(self.index, &self.pack, image)
    }

    /// All bytes of the pack.
    #[cfg(feature = "devices")]
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        let PackFile { path, file, .. } = self.file;
        read_at(file, self.index.offset, self.pack.size()).io_context("read", path)
    }

    /// As [`PackFile::decode`].
    pub(crate) fn decode(&self, image: &Image<'_>) -> Result<Vec<u8>> {
        self.file.decode(self.index, &self.pack, image)
    }
}

impl PackIndex {
    /// The file offset of the pack.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads the index of a pack by what reads the first bytes of it.
    fn read(
        offset: u64,
        budget: &mut PackBudget,
        mut read: impl FnMut(u64) -> std::result::Result<Vec<u8>, Unreadable>,
    ) -> std::result::Result<PackIndex, Unreadable> {
        let size = Pack::sizes(&read(HEADER_SIZE)?)?.index;
        budget.read_index(size)?;
        let index = read(size)?;
        let whole = Pack::parse_index(&index, &Pages::default())?.head_size();
        let index = if whole > size { read(whole)? } else { index };
        let found = PackIndex { offset, index, pages: Pages::default(), last_block: Mutex::default() };
        let pack = found.pack()?;
        pack.verify_index()?;
        pack.spend(budget)?;
        Ok(found)
    }

    fn pack(&self) -> std::result::Result<Pack<'_>, offload_format::Error> {
        Pack::parse_index(&self.index, &self.pages)
    }

    fn last_block(&self) -> MutexGuard<'_, Option<DecodedBlock>> {
        self.last_block.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The content of block `number`, which `decode` makes if it is not the last one.
    fn block(
        &self,
        number: u32,
        decode: impl FnOnce() -> std::result::Result<Vec<u8>, Unreadable>,
    ) -> std::result::Result<Arc<Vec<u8>>, Unreadable> {
        let known = self.last_block().clone().filter(|block| block.number == number);
        if let Some(block) = known {
            return Ok(block.content);
        }
        // The other one goes before this one takes its memory.
        *self.last_block() = None;
        let content = Arc::new(decode()?);
        *self.last_block() = Some(DecodedBlock { number, content: content.clone() });
        Ok(content)
    }
}

impl PackFile {
    /// Looks for packs in `path`; what they hold has to keep `limits`.
    ///
    /// # Errors
    /// The file cannot be read, or holds no pack.
    pub(crate) fn open(path: &Path, limits: &Limits) -> Result<PackFile> {
        let file = PackFile::searched(path, limits)?;
        if file.is_empty() { Err(no_images::error(path, limits)) } else { Ok(file) }
    }

    /// As [`PackFile::open`], where it is no mistake that there is none.
    pub(crate) fn searched(path: &Path, limits: &Limits) -> Result<PackFile> {
        let mut file = PackFile::linked(path, limits)?;
        if file.is_empty() {
            let offsets = scan::pack_offsets(&file.file).io_context("read", path)?;
            file.read(offsets).io_context("read", path)?;
        }
        Ok(file)
    }

    /// Whether there is no pack, not even one that cannot be read.
    pub(crate) fn is_empty(&self) -> bool {
        self.packs.is_empty() && self.unreadable.is_empty()
    }

    /// The packs that descriptors in `path` lead to; none is no error, and nothing else is searched for.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn linked(path: &Path, limits: &Limits) -> Result<PackFile> {
        let file = File::open(path).io_context("open", path)?;
        let mut offsets = elf::pack_offsets(&file).io_context("read", path)?;
        offsets.extend(pe::pack_offsets(&file).io_context("read", path)?);
        offsets.extend(macho::pack_offsets(&file).io_context("read", path)?);
        let mut file = PackFile {
            path: path.to_path_buf(),
            file: Arc::new(file),
            packs: Vec::new(),
            limits: *limits,
            unreadable: Vec::new(),
        };
        file.read(offsets).io_context("read", path)?;
        Ok(file)
    }

    /// That `file` at `path` has no packs.
    #[cfg(feature = "devices")]
    pub(crate) fn empty(path: &Path, file: &Arc<File>, limits: &Limits) -> PackFile {
        let packs = Vec::new();
        let unreadable = Vec::new();
        PackFile { path: path.to_path_buf(), file: file.clone(), packs, limits: *limits, unreadable }
    }

    /// Reads the indexes of the packs that start at `offsets`.
    fn read(&mut self, offsets: BTreeSet<u64>) -> io::Result<()> {
        let mut budget = PackBudget::for_file(self.file.metadata()?.len(), &self.limits);
        for offset in offsets {
            match read_index(&self.file, offset, &mut budget)? {
                Ok(found) => self.packs.push(found),
                Err(Unreadable { reason, cause }) => {
                    self.unreadable.push(format!("pack at offset {offset:#x}: {reason}"));
                    // So is every other one: nothing is left to read it with.
                    if cause == Cause::Size {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// The decoding limits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The open file, to be copied from.
    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// The size of the file in bytes.
    pub(crate) fn size(&self) -> Result<u64> {
        Ok(self.file.metadata().io_context("inspect", &self.path)?.len())
    }

    /// Whether the file consists of packs.
    pub(crate) fn is_packs(&self) -> bool {
        self.packs.iter().any(|found| found.offset == 0)
    }

    /// Every pack that could be read.
    pub(crate) fn packs(&self) -> impl Iterator<Item = LocatedPack<'_>> {
        // `read_index` has parsed them all.
        self.packs
            .iter()
            .filter_map(|index| Some(LocatedPack { file: self, index, pack: PackIndex::pack(index).ok()? }))
    }

    /// The frame that `image` is stored in, alone or with others of its block, as it is in the file.
    pub(crate) fn stored(&self, found: &PackIndex, pack: &Pack<'_>, image: &Image<'_>) -> Result<Vec<u8>> {
        let range = pack.frame_range(image).map_err(|error| Error::check(error.to_string()));
        let FrameRange { offset, size, .. } = range?;
        let start = found.offset.saturating_add(pack.payload_offset()).saturating_add(offset);
        read_at(&self.file, start, size).io_context("read", &self.path)
    }

    /// The raw bytes of `image`, checked against its hash. Only its frame and those of its ancestors are read.
    pub(crate) fn decode(&self, found: &PackIndex, pack: &Pack<'_>, image: &Image<'_>) -> Result<Vec<u8>> {
        let size = self.size()?;
        let start = found.offset.saturating_add(pack.payload_offset());
        let fetch = |offset: u64, length: u64| {
            let offset = start.saturating_add(offset);
            // A record is a claim: memory is taken only for what the file has.
            if offset.checked_add(length).is_none_or(|end| end > size) {
                return Err(Unreadable::from("its record points outside the file".to_string()));
            }
            let bytes =
                read_at(&self.file, offset, length).map_err(|error| Unreadable::from(error.to_string()))?;
            Ok(Cow::Owned(bytes))
        };
        let decoded = match image.block {
            Some(number) => found
                .block(number, || decode_block_with(pack, number, fetch))
                .and_then(|content| Ok(decode_in_block(pack, image, &content)?)),
            None => decode_with(pack, image, fetch),
        };
        decoded.map_err(|Unreadable { reason, .. }| {
            let [target, module] = [image.target_text, image.module].map(escaped);
            let path = self.path.display();
            Error::check(format!("image {target} of module {module} in `{path}`: {reason}"))
        })
    }
}

/// Error of reading an image or an index.
struct Unreadable {
    reason: String,
    cause: Cause,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// It holds more than the file may.
    Size,
    /// It is damaged, or the system cannot read it.
    Other,
}

impl From<String> for Unreadable {
    fn from(reason: String) -> Unreadable {
        Unreadable { reason, cause: Cause::Other }
    }
}

impl From<offload_format::Error> for Unreadable {
    fn from(error: offload_format::Error) -> Unreadable {
        match error.kind() {
            ErrorKind::TooLarge { .. } => Unreadable { reason: with_limit_hint(&error), cause: Cause::Size },
            _ => Unreadable::from(error.to_string()),
        }
    }
}

/// The index of the pack at `offset`, or why there is none.
///
/// # Errors
/// The system could not read it.
fn read_index(
    file: &File,
    offset: u64,
    budget: &mut PackBudget,
) -> io::Result<std::result::Result<PackIndex, Unreadable>> {
    let mut failure = None;
    let found = PackIndex::read(offset, budget, |size| {
        if size > scan::MAX_INDEX {
            return Err(Unreadable::from(format!("its index of {size} bytes is too large")));
        }
        read_at(file, offset, size).map_err(|error| {
            let reason = Unreadable::from(error.to_string());
            // A file that ends too soon is damaged.
            failure = Some(error).filter(|error| error.kind() != io::ErrorKind::UnexpectedEof);
            reason
        })
    });
    failure.map_or(Ok(found), Err)
}
