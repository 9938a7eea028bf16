//! Finding SYCLBIN files: a file that is one, or sections of a program or library that hold some.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use object::read::{File as Program, Object, ObjectSection, ReadCache, ReadRef};
use offload_format::Limits;
use offload_format::carrier::FileKind;
use offload_format::offload_binary::ALIGN;
use offload_format::syclbin;

use crate::error::{Error, Result};

/// The header of an OffloadBinary, without what version 3 adds.
const HEADER: u64 = 32;

/// A SYCLBIN and where it is.
#[derive(Debug)]
pub(crate) struct Syclbin {
    /// The file, or a section of it.
    pub(crate) place: String,
    bytes: Vec<u8>,
}

impl Syclbin {
    /// Reads what it holds.
    ///
    /// # Errors
    /// It is malformed.
    pub(crate) fn parse(&self) -> Result<syclbin::File<'_>> {
        let parsed = syclbin::parse(&self.bytes, &Limits::default());
        parsed.map_err(|error| Error::check(format!("the SYCLBIN in {}: {error}", self.place)))
    }
}

/// What `path` holds as SYCLBIN. Of a program only headers and the sections that start as a SYCLBIN are read.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn find(path: &Path) -> Result<Vec<Syclbin>> {
    let failed = |error: std::io::Error| Error::io("read", path, &error);
    let mut file = File::open(path).map_err(|error| Error::io("open", path, &error))?;
    let mut bytes = Vec::new();
    file.by_ref().take(HEADER).read_to_end(&mut bytes).map_err(failed)?;
    let place = format!("`{}`", path.display());
    if !matches!(FileKind::detect(&bytes), Some(FileKind::OffloadBinary | FileKind::Syclbin)) {
        return Ok(in_sections(&file, &place));
    }
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok(if is_syclbin(&bytes) { vec![Syclbin { place, bytes }] } else { Vec::new() })
}

/// Several may lie in one section, each in an envelope that has its size.
fn in_sections(file: &File, place: &str) -> Vec<Syclbin> {
    let cache = ReadCache::new(file);
    let Ok(program) = Program::parse(&cache) else { return Vec::new() };
    let mut found = Vec::new();
    for section in program.sections() {
        let (Some((start, size)), Ok(name)) = (section.file_range(), section.name_bytes()) else { continue };
        let name = String::from_utf8_lossy(name);
        let mut at = 0;
        while let Some(length) = envelope(&cache, start.saturating_add(at), size.saturating_sub(at)) {
            let whole = cache.read_bytes_at(start.saturating_add(at), length).unwrap_or_default();
            if is_syclbin(whole) {
                let place = format!("section `{}` of {place}", name.escape_debug());
                found.push(Syclbin { place, bytes: whole.to_vec() });
            }
            let Some(next) = at.checked_add(length).and_then(|end| end.checked_next_multiple_of(ALIGN))
            else {
                break;
            };
            at = next;
        }
    }
    found
}

/// The size of the OffloadBinary at `offset`, with `left` bytes to the end of its section.
fn envelope(cache: &ReadCache<&File>, offset: u64, left: u64) -> Option<u64> {
    let header = cache.read_bytes_at(offset, left.min(HEADER)).ok()?;
    FileKind::detect(header)
        .filter(|format| matches!(format, FileKind::OffloadBinary | FileKind::Syclbin))?;
    let size = offload_format::bytes::u64_at(header, 8, "OffloadBinary").ok()?;
    (1..=left).contains(&size).then_some(size)
}

/// The draft of the second version is told from other OffloadBinaries by reading it.
pub(crate) fn is_syclbin(bytes: &[u8]) -> bool {
    match FileKind::detect(bytes) {
        Some(FileKind::Syclbin) => true,
        Some(FileKind::OffloadBinary) => syclbin::parse(bytes, &Limits::default()).is_ok(),
        _ => false,
    }
}
