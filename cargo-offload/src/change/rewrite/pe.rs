//! Replacement of the packs in a program or DLL of Windows.
//!
//! The section with the packs keeps its memory, which the loader fills with zeros behind what the file has of it; its content
//! in the file ends earlier, at a multiple of the alignment of files, and everything behind moves.

use std::fs::File;
use std::io;
use std::path::Path;

use super::offsets::{Change, OffsetMap, OldFile};
use super::refusal::{does_not_fit, refused_as_it_is};
use super::replacement::{Replacement, arrange, descriptor_patch, packs_range, too_large};
use super::rewritten::{Patch, Rewritten, Seal};
use crate::error::{Error, IoContext, Result};
use crate::files::pieces::{Piece, total};
use crate::files::read_at::read_at;
use crate::read::pack_file::PackFile;
use crate::read::pack_file::pe::{
    CERTIFICATES, CHECKSUM, DEBUG, INITIALIZED_DATA, PeFile, PeSection, SECTION_SIZE,
};

/// Size of an entry of the debug directory.
const DEBUG_ENTRY: u64 = 28;
/// Zeros are compared in parts of this size.
const PART: u64 = 64 << 10;

pub(super) fn rewrite(program: &PackFile, packs: &[Replacement]) -> Result<Rewritten> {
    let path = program.path();
    let file = program.file();
    let headers = PeFile::read(file).io_context("read", path)?;
    let headers = headers.ok_or_else(|| refused_as_it_is(path, "its headers are damaged"))?;
    if headers.directory(CERTIFICATES).is_some() {
        return Err(signed(path));
    }
    let old = packs_range(path, packs)?;
    let found = headers.sections.iter().position(|section| {
        section.offset <= old.start && old.end <= section.offset.saturating_add(section.size)
    });
    let number = found.ok_or_else(|| refused_as_it_is(path, "its images lie in several sections"))?;
    let section = *headers.sections.get(number).ok_or_else(|| too_large(path))?;
    let end = section.offset.saturating_add(section.size);
    if !is_zero(file, old.end, end).io_context("read", path)? {
        return Err(refused_as_it_is(path, "other data lies behind the images in their section"));
    }
    let start = packs.iter().map(|pack| pack.link.pack_address).min().ok_or_else(|| too_large(path))?;
    // Linkers for Windows put them one after another, and there is no more room than they have.
    let arranged = arrange(packs, start, u64::MAX).ok_or_else(|| too_large(path))?;
    let new_size = total(&arranged.content).ok_or_else(|| too_large(path))?;
    let before = old.start.saturating_sub(section.offset);
    let used = before.checked_add(new_size).ok_or_else(|| too_large(path))?;
    if used > section.memory_size.max(old.end.saturating_sub(section.offset)) {
        return Err(does_not_fit(path, "they are larger than the space that the linker gave them"));
    }
    let size = used.checked_next_multiple_of(headers.file_alignment()).ok_or_else(|| too_large(path))?;
    let change = Change { old: old.start..end, new_size: size.saturating_sub(before) };
    let padding = change.new_size.saturating_sub(new_size);
    let offsets = OffsetMap::new(vec![change]);
    let moved = Moved { headers: &headers, offsets: &offsets };
    let mut patches = moved.header_patches(number, size);
    patches.extend(moved.debug_patches(file).io_context("read", path)?);
    for (pack, address) in packs.iter().zip(arranged.addresses) {
        let offset = offsets.map(pack.link.descriptor_offset);
        patches.push(descriptor_patch(pack, address, 0, offset));
    }
    let content = arranged.content.into_iter().chain([Piece::Zeros(padding)]).collect();
    let whole = OldFile { file, size: program.size()?, packs: old.start };
    let checksum = headers.optional.saturating_add(CHECKSUM);
    Ok(Rewritten {
        pieces: offsets.pieces(&whole, content),
        patches,
        ids: packs.iter().map(|pack| pack.pack.id.0).collect(),
        seal: (headers.number(checksum) != 0).then_some(Seal::Checksum(checksum)),
    })
}

fn signed(path: &Path) -> Error {
    Error::check(format!("`{}` is signed, and a changed program has no valid signature", path.display()))
        .hint("change it before it is signed, or remove the signature: `signtool remove /s FILE` or `osslsigncode remove-signature`")
}

/// Whether all bytes of a range of the file are zero.
pub(super) fn is_zero(file: &File, start: u64, end: u64) -> io::Result<bool> {
    let mut at = start;
    while at < end {
        let size = end.saturating_sub(at).min(PART);
        if read_at(file, at, size)?.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        at = at.saturating_add(size);
    }
    Ok(true)
}

/// The headers, and where what they refer to is in the new file.
struct Moved<'a> {
    headers: &'a PeFile,
    offsets: &'a OffsetMap,
}

impl Moved<'_> {
    /// The headers, where the content of section `number` has the size `size`.
    fn header_patches(&self, number: usize, size: u64) -> Vec<Patch> {
        /// Offsets in a section header of file offsets: of content, relocations and line numbers.
        const OFFSETS: [u64; 3] = [20, 24, 28];
        const SIZE: u64 = 16;
        let headers = self.headers;
        // The table of symbols.
        let mut patches = vec![self.moved(headers.coff.saturating_add(8))];
        for (index, section) in headers.sections.iter().enumerate() {
            let header = headers.table.saturating_add((index as u64).saturating_mul(SECTION_SIZE));
            patches.extend(OFFSETS.map(|field| self.moved(header.saturating_add(field))));
            if index == number {
                patches.push(number_patch(header.saturating_add(SIZE), size));
                patches.push(self.initialized_data(section, size));
            }
        }
        patches
    }

    /// The sum of the sizes of initialised data.
    fn initialized_data(&self, section: &PeSection, size: u64) -> Patch {
        let field = self.headers.optional.saturating_add(INITIALIZED_DATA);
        let sum = u64::from(self.headers.number(field));
        number_patch(field, sum.saturating_sub(section.size).saturating_add(size))
    }

    /// The file offset in the field at `field` of the headers.
    fn moved(&self, field: u64) -> Patch {
        number_patch(field, self.offsets.map(self.headers.number(field).into()))
    }

    /// The file offsets of debug information.
    fn debug_patches(&self, file: &File) -> io::Result<Vec<Patch>> {
        const OFFSET: u64 = 24;
        let mut patches = Vec::new();
        let Some(directory) = self.headers.directory(DEBUG) else { return Ok(patches) };
        let Some(start) = self.headers.relative_offset(directory.address) else { return Ok(patches) };
        for number in 0..directory.size / DEBUG_ENTRY {
            let field = number.saturating_mul(DEBUG_ENTRY).saturating_add(start).saturating_add(OFFSET);
            let bytes = read_at(file, field, 4)?;
            let offset = offload_format::bytes::u32_at(&bytes, 0, "debug directory").unwrap_or(0);
            patches.push(number_patch(self.offsets.map(field), self.offsets.map(offset.into())));
        }
        Ok(patches)
    }
}

/// A number of 32 bits: the file has no more than it had, or than its headers can say.
fn number_patch(offset: u64, number: u64) -> Patch {
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    Patch { offset, bytes: number.to_le_bytes().to_vec() }
}
