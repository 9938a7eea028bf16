//! Joining of a segment that an earlier change has split, because the packs need the whole address range.

use object::LittleEndian as LE;
use object::elf::PT_NULL;
use object::endian::{U32, U64};

use super::headers::{Headers, Segment};
use super::layout::{PacksRange, Plan, moved_headers};
use super::offsets::{Change, OffsetMap};

/// The parts, and where the second one's content starts behind the zeros that were left of old packs.
#[derive(Debug)]
pub(super) struct Parts {
    first: Segment,
    second: Segment,
    content: u64,
}

impl Parts {
    /// The parts, if the packs in `range` end the segment `first` and would fit in front of what follows.
    pub(super) fn find(headers: &Headers, first: Segment, range: &PacksRange) -> Option<Parts> {
        let above = headers.loads().filter(|other| other.address >= first.memory_end());
        let second = above.min_by_key(|other| other.address)?;
        // Without section headers the start of the content is unknown.
        let starts = headers.filled_sections().map(|(_, [start, _])| start);
        let content = starts.filter(|start| *start >= second.offset).min()?;
        let parts = Parts { first, second, content };
        let room_end = parts.joined_offset()?.checked_add(content.checked_sub(second.offset)?)?;
        let fits = first.flags == second.flags && content < second.end() && range.new_end() <= room_end;
        let in_order = first.end() <= second.offset && parts.joined_offset()? >= second.offset;
        (fits && in_order).then_some(parts)
    }

    /// The file offset of the second part without the hole before it.
    fn joined_offset(&self) -> Option<u64> {
        let first = self.first;
        let second = self.second;
        first.offset.checked_add(second.address.checked_sub(first.address)?)
    }

    /// The program with one segment; its table keeps an unused entry.
    pub(super) fn join(&self, headers: &Headers, range: &PacksRange) -> Option<Plan> {
        let first = self.first;
        let second = self.second;
        let zeros = self.content.checked_sub(second.offset)?;
        let new_size = self.joined_offset()?.checked_add(zeros)?.checked_sub(range.old.start)?;
        let change = Change { old: range.old.start..self.content, new_size };
        let offsets = OffsetMap::new(vec![change]);
        let mut out = moved_headers(headers, &offsets, range);
        let skipped = second.address.checked_sub(first.address)?;
        let joined = out.segments.get_mut(self.first.index)?;
        joined.p_filesz = U64::new(LE, skipped.checked_add(second.file_size)?);
        joined.p_memsz = U64::new(LE, skipped.checked_add(second.memory_size)?);
        let mut unused = out.segments.remove(self.second.index);
        unused.p_type = U32::new(LE, PT_NULL);
        for field in [
            &mut unused.p_offset,
            &mut unused.p_vaddr,
            &mut unused.p_paddr,
            &mut unused.p_filesz,
            &mut unused.p_memsz,
        ] {
            *field = U64::new(LE, 0);
        }
        out.segments.push(unused);
        Some(Plan { headers: out, offsets, padding: new_size.checked_sub(range.new_size)?, spare: 0 })
    }
}
