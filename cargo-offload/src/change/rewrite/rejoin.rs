//! Two parts of a segment that an earlier change has split become one again, because the packs need all their room.

use object::LittleEndian as LE;
use object::elf::PT_NULL;
use object::endian::{U32, U64};

use super::headers::{Headers, Span};
use super::moves::{Change, Moves};
use super::plan::{Plan, Room, moved_headers};

/// The parts, and where the second one's content starts behind the zeros that were left of old packs.
#[derive(Debug)]
pub(super) struct Parts {
    first: (usize, Span),
    second: (usize, Span),
    content: u64,
}

impl Parts {
    /// The parts, if the packs in `room` end the segment `first` and would fit in front of what follows.
    pub(super) fn find(headers: &Headers, first: (usize, Span), room: &Room) -> Option<Parts> {
        let above = headers.loads().filter(|(_, span)| span.address >= first.1.memory_end());
        let second = above.min_by_key(|(_, span)| span.address)?;
        // Without section headers nobody knows where the content starts.
        let starts = headers.filled_sections().map(|(_, [start, _])| start);
        let content = starts.filter(|start| *start >= second.1.offset).min()?;
        let parts = Parts { first, second, content };
        let room_end = parts.joined_offset()?.checked_add(content.checked_sub(second.1.offset)?)?;
        let fits = first.1.flags == second.1.flags && content < second.1.end() && room.new_end() <= room_end;
        let in_order = first.1.end() <= second.1.offset && parts.joined_offset()? >= second.1.offset;
        (fits && in_order).then_some(parts)
    }

    /// Where the second part starts in the file once there is no hole before it.
    fn joined_offset(&self) -> Option<u64> {
        let (first, second) = (self.first.1, self.second.1);
        first.offset.checked_add(second.address.checked_sub(first.address)?)
    }

    /// The program with one segment; its table keeps an unused entry.
    pub(super) fn join(&self, headers: &Headers, room: &Room) -> Option<Plan> {
        let (first, second) = (self.first.1, self.second.1);
        let zeros = self.content.checked_sub(second.offset)?;
        let new_size = self.joined_offset()?.checked_add(zeros)?.checked_sub(room.old.start)?;
        let change = Change { old: room.old.start..self.content, new_size };
        let moves = Moves::new(vec![change]);
        let mut out = moved_headers(headers, &moves, room);
        let skipped = second.address.checked_sub(first.address)?;
        let joined = out.segments.get_mut(self.first.0)?;
        joined.p_filesz = U64::new(LE, skipped.checked_add(second.file_size)?);
        joined.p_memsz = U64::new(LE, skipped.checked_add(second.memory_size)?);
        let mut unused = out.segments.remove(self.second.0);
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
        Some(Plan { headers: out, moves, padding: new_size.checked_sub(room.new_size)?, spare: 0 })
    }
}
