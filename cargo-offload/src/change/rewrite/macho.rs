//! Replacement of the packs in a program or dynamic library of macOS.
//!
//! The packs are the only section of their segment, which keeps its memory: behind what the file has of it there are zeros.
//! Its content in the file ends earlier, at a page, and everything behind moves: that is what dyld reads, symbols and the
//! signature.

use std::path::Path;

use super::offsets::{Change, OffsetMap, OldFile};
use super::pe::is_zero;
use super::refusal::{does_not_fit, refused_as_it_is};
use super::replacement::{Replacement, arrange, descriptor_patch, packs_range, too_large};
use super::rewritten::{Patch, Rewritten, Seal};
use super::signature::{self, NewSignature};
use crate::error::{Error, IoContext, Result};
use crate::files::pieces::{Piece, total};
use crate::files::read_at::read_at;
use crate::read::pack_file::PackFile;
use crate::read::pack_file::macho::{CHAINED_FIXUPS, LoadCommand, MachFile, MachSegment};

/// `LC_CODE_SIGNATURE`.
const SIGNATURE: u32 = 0x1d;
/// `LC_REQ_DYLD`, beside the number of a command.
const REQUIRED: u32 = 0x8000_0000;
/// The highest number of which it is known whether the command has file offsets.
const LAST_COMMAND: u32 = 0x38;

pub(super) fn rewrite(program: &PackFile, headers: &MachFile, packs: &[Replacement]) -> Result<Rewritten> {
    let path = program.path();
    let file = program.file();
    let old = packs_range(path, packs)?;
    let segment = headers.pack_segment().filter(|segment| {
        segment.sections.len() == 1 && segment.offset <= old.start && old.end <= segment.end()
    });
    let segment = segment.ok_or_else(|| refused_as_it_is(path, "their segment has something else"))?;
    if !is_zero(file, old.end, segment.end()).io_context("read", path)? {
        return Err(refused_as_it_is(path, "other data lies behind the images in their segment"));
    }
    let start = packs.iter().map(|pack| pack.link.pack_address).min().ok_or_else(|| too_large(path))?;
    let arranged = arrange(packs, start, u64::MAX).ok_or_else(|| too_large(path))?;
    let new_size = total(&arranged.content).ok_or_else(|| too_large(path))?;
    let before = old.start.saturating_sub(segment.offset);
    let used = before.checked_add(new_size).ok_or_else(|| too_large(path))?;
    if used > segment.memory_size {
        return Err(does_not_fit(path, "they are larger than the space that the linker gave them"));
    }
    let size = used.checked_next_multiple_of(headers.page_size()).ok_or_else(|| too_large(path))?;
    let change = Change { old: old.start..segment.end(), new_size: size.saturating_sub(before) };
    let padding = change.new_size.saturating_sub(new_size);
    let moved = Moved { path, headers, offsets: OffsetMap::new(vec![change]) };
    let mut patches = vec![long_patch(segment.command.saturating_add(48), size)];
    patches.push(section_patch(segment, used).ok_or_else(|| too_large(path))?);
    patches.extend(moved.header_patches()?);
    for (pack, address) in packs.iter().zip(arranged.addresses) {
        let pointer = headers.with_address(pack.link.descriptor.pack.cast_unsigned(), address);
        let pointer = pointer.ok_or_else(|| too_large(path))?;
        let offset = moved.offsets.map(pack.link.descriptor_offset);
        patches.push(descriptor_patch(pack, pointer, 0, offset));
    }
    let mut whole = OldFile { file, size: program.size()?, packs: old.start };
    let mut seal = None;
    if let Some(signed) = moved.signature(program)? {
        whole.size = signed.old_offset;
        patches.extend(signed.patches);
        seal = Some(Seal::PageHashes(signed.new.hashes));
    }
    let content = arranged.content.into_iter().chain([Piece::Zeros(padding)]).collect();
    Ok(Rewritten {
        pieces: moved.offsets.pieces(&whole, content),
        patches,
        ids: packs.iter().map(|pack| pack.pack.id.0).collect(),
        seal,
    })
}

/// The size of the section, whose content is its memory.
fn section_patch(segment: &MachSegment, used: u64) -> Option<Patch> {
    let section = segment.sections.first()?;
    let content = segment.address.checked_add(used)?.checked_sub(section.address)?;
    Some(long_patch(section.header.saturating_add(40), section.size_for(content)?))
}

/// The headers, and where what they refer to is in the new file.
struct Moved<'a> {
    path: &'a Path,
    headers: &'a MachFile,
    offsets: OffsetMap,
}

/// A signature, and what of the file changes with it.
struct Signed {
    /// Where the old one began.
    old_offset: u64,
    new: NewSignature,
    patches: Vec<Patch>,
}

impl Moved<'_> {
    /// The file offsets in load commands.
    fn header_patches(&self) -> Result<Vec<Patch>> {
        let mut patches = Vec::new();
        for segment in &self.headers.segments {
            let field = segment.command.saturating_add(40);
            patches.push(long_patch(field, self.offsets.map(segment.offset)));
        }
        for command in &self.headers.commands {
            if command.number & !REQUIRED > LAST_COMMAND {
                let why = format!("it has the load command {:#x}, which is not known", command.number);
                return Err(refused_as_it_is(self.path, &why));
            }
            for field in offset_fields(command) {
                let field = command.offset.saturating_add(*field);
                let offset = self.offsets.map(self.headers.number(field).into());
                patches.push(number_patch(field, offset));
            }
        }
        Ok(patches)
    }

    /// The signature of the new file, if it has one.
    fn signature(&self, program: &PackFile) -> Result<Option<Signed>> {
        let headers = self.headers;
        let command = headers.commands.iter().find(|command| command.number == SIGNATURE);
        let link_edit = headers.segments.iter().find(|segment| segment.is_link_edit());
        let (Some(command), Some(link_edit)) = (command, link_edit) else { return Ok(None) };
        let size_field = command.offset.saturating_add(12);
        let old_offset = u64::from(headers.number(command.offset.saturating_add(8)));
        let old_size = u64::from(headers.number(size_field));
        let is_last = old_offset.saturating_add(old_size) == program.size()?;
        let old = read_at(program.file(), old_offset, old_size).io_context("read", self.path)?;
        let offset = self.offsets.map(old_offset);
        let new = signature::renew(&old, offset).filter(|_| is_last).ok_or_else(|| signed(self.path))?;
        let size = new.bytes.len() as u64;
        let start = self.offsets.map(link_edit.offset);
        let patches = vec![
            number_patch(size_field, size),
            long_patch(
                link_edit.command.saturating_add(48),
                offset.saturating_add(size).saturating_sub(start),
            ),
            Patch { offset, bytes: new.bytes.clone() },
        ];
        Ok(Some(Signed { old_offset, new, patches }))
    }
}

/// Where a load command has file offsets of 32 bits.
fn offset_fields(command: &LoadCommand) -> &'static [u64] {
    match command.number {
        // LC_SYMTAB
        0x2 => &[8, 16],
        // LC_DYSYMTAB
        0xb => &[32, 40, 48, 56, 64, 72],
        // LC_TWOLEVEL_HINTS
        0x16 => &[8],
        // LC_DYLD_INFO and LC_DYLD_INFO_ONLY
        0x22 | 0x8000_0022 => &[8, 16, 24, 32, 40],
        // LC_SEGMENT_SPLIT_INFO, LC_FUNCTION_STARTS, LC_DATA_IN_CODE, LC_DYLIB_CODE_SIGN_DRS,
        // LC_LINKER_OPTIMIZATION_HINT, LC_DYLD_EXPORTS_TRIE, LC_ATOM_INFO, LC_FUNCTION_VARIANTS and their fixups
        0x1e | 0x26 | 0x29 | 0x2b | 0x2e | 0x8000_0033 | 0x36 | 0x37 | 0x38 => &[8],
        SIGNATURE | CHAINED_FIXUPS => &[8],
        _ => &[],
    }
}

fn signed(path: &Path) -> Error {
    Error::check(format!(
        "`{}` is signed with a certificate, which is not valid for a changed program",
        path.display()
    ))
    .hint("change it before it is signed, or sign it ad hoc: `codesign --force --sign - FILE`")
}

fn long_patch(offset: u64, number: u64) -> Patch {
    Patch { offset, bytes: number.to_le_bytes().to_vec() }
}

/// A number of 32 bits: the file has no more than it had, or than its headers can say.
fn number_patch(offset: u64, number: u64) -> Patch {
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    Patch { offset, bytes: number.to_le_bytes().to_vec() }
}
