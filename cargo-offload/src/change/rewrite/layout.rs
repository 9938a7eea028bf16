//! Layout of a rewritten program: its headers, and the file ranges that move.

use std::ops::Range;

use object::LittleEndian as LE;
use object::elf::{ProgramHeader64, SHF_ALLOC, SHF_TLS, SHT_NOBITS, SHT_PROGBITS};
use object::endian::{U32, U64};

use super::headers::{Headers, Segment};
use super::offsets::OffsetMap;

/// New layout of a program.
#[derive(Debug)]
pub(super) struct Plan {
    /// The headers with everything in its new place.
    pub(super) headers: Headers,
    pub(super) offsets: OffsetMap,
    /// Bytes of zeros behind the packs, up to what follows.
    pub(super) padding: u64,
    /// Number of these bytes that stay spare in the last pack.
    pub(super) spare: u64,
}

/// The packs' place in the file and how large they will be.
#[derive(Clone, Debug)]
pub(super) struct PacksRange {
    pub(super) old: Range<u64>,
    pub(super) new_size: u64,
}

impl PacksRange {
    pub(super) fn old_size(&self) -> u64 {
        self.old.end.saturating_sub(self.old.start)
    }

    pub(super) fn new_end(&self) -> u64 {
        self.old.start.saturating_add(self.new_size)
    }
}

/// The size of a segment, in the file and in memory.
pub(super) fn set_size(header: &mut ProgramHeader64<LE>, size: u64) {
    header.p_filesz = U64::new(LE, size);
    header.p_memsz = U64::new(LE, size);
}

/// All offsets in their new place, and the packs' section in its new size.
pub(super) fn moved_headers(headers: &Headers, offsets: &OffsetMap, range: &PacksRange) -> Headers {
    let mut out = headers.clone();
    move_offset(&mut out.file.e_phoff, offsets);
    move_offset(&mut out.file.e_shoff, offsets);
    out.segments.iter_mut().for_each(|segment| move_offset(&mut segment.p_offset, offsets));
    for section in &mut out.sections {
        let start = section.sh_offset.get(LE);
        if section.sh_type.get(LE) != SHT_NOBITS
            && start <= range.old.start
            && start.saturating_add(section.sh_size.get(LE)) == range.old.end
        {
            section.sh_size = U64::new(LE, range.new_end().saturating_sub(start));
        }
        move_offset(&mut section.sh_offset, offsets);
    }
    out.size = offsets.map(headers.size);
    out
}

/// Sections of zeros between two segments that became one have bytes in the file now; `joined` is that one.
pub(super) fn fill_sections(out: &mut Headers, gap: &Range<u64>, joined: &Segment) {
    for section in &mut out.sections {
        let start = section.sh_addr.get(LE);
        let flags = section.sh_flags.get(LE);
        let zeros =
            section.sh_type.get(LE) == SHT_NOBITS && flags.contains(SHF_ALLOC) && !flags.contains(SHF_TLS);
        if zeros && gap.contains(&start) && section.sh_size.get(LE) > 0 {
            section.sh_type = U32::new(LE, SHT_PROGBITS);
            section.sh_offset =
                U64::new(LE, joined.offset.saturating_add(start.saturating_sub(joined.address)));
        }
    }
}

/// Replaces the file offset in a header by the new one.
fn move_offset(field: &mut U64<LE>, offsets: &OffsetMap) {
    *field = U64::new(LE, offsets.map(field.get(LE)));
}
