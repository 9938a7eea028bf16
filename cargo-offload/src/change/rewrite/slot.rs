//! Search for an unused entry in the table of program headers.
//!
//! The table stays in place: GNU strip always writes it after the ELF header.

use std::ops::Range;
use std::path::Path;

use object::LittleEndian as LE;
use object::elf::{PT_NULL, PT_PHDR, ProgramHeader64};
use object::endian::{U16, U64};

use super::headers::{Headers, Segment};
use super::layout::fill_sections;
use super::offsets::Change;
use super::refusal::refused;
use crate::error::Result;

/// Slot for the additional entry.
#[derive(Debug)]
pub(super) enum Slot {
    /// In place of an unused entry.
    Unused,
    /// Behind the last entry, where nothing lies.
    Behind,
    /// In place of the second of two neighbouring segments that become one.
    Merged(Pair),
}

/// Two loaded segments with the same rights, next to each other in memory. LLD and mold write such a pair: the data that
/// becomes read-only after relocation, and the data that does not.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    first: Segment,
    second: Segment,
}

const ENTRY: u64 = size_of::<ProgramHeader64<LE>>() as u64;

/// A segment that becomes two, by its index, and how many bytes that saves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub(super) segment: usize,
    pub(super) saved: u64,
}

/// A slot for `split`; `None` if it costs as many bytes as that saves.
///
/// # Errors
/// There is none.
pub(super) fn find(path: &Path, headers: &Headers, split: Split) -> Result<Option<Slot>> {
    if headers.segments.iter().any(|segment| segment.p_type.get(LE) == PT_NULL) {
        return Ok(Some(Slot::Unused));
    }
    if is_free_behind(headers) {
        return Ok(Some(Slot::Behind));
    }
    let pair = pairs(headers, split.segment).filter(|pair| pair.cost().is_some()).min_by_key(Pair::cost);
    let pair = pair.ok_or_else(|| refused(path, "its table of segments is full"))?;
    let pays = pair.cost().is_some_and(|cost| cost < split.saved);
    Ok(pays.then_some(Slot::Merged(pair)))
}

fn is_free_behind(headers: &Headers) -> bool {
    let start = headers.file.e_phoff.get(LE);
    let end = start.saturating_add(ENTRY.saturating_mul(headers.segments.len() as u64));
    let sections = headers.filled_sections().map(|(_, range)| range);
    let segments = headers.spans().filter(|segment| segment.file_size > 0);
    let starts = sections.map(|[start, _]| start).chain(segments.map(|segment| segment.offset));
    let next = starts.chain([headers.file.e_shoff.get(LE), headers.size]).filter(|start| *start >= end).min();
    // Without section headers the use of these bytes is unknown.
    !headers.sections.is_empty() && next.is_some_and(|next| next >= end.saturating_add(ENTRY))
}

fn pairs(headers: &Headers, split: usize) -> impl Iterator<Item = Pair> + '_ {
    let mut loads: Vec<Segment> = headers.loads().collect();
    loads.sort_by_key(|segment| segment.address);
    let neighbours: Vec<[Segment; 2]> = loads.windows(2).filter_map(|pair| pair.try_into().ok()).collect();
    neighbours.into_iter().filter_map(move |[first, second]| {
        let pair = Pair { first, second };
        let apart = first.index != split && second.index != split && first.flags == second.flags;
        let gap = pair.file_gap();
        let fits = apart && first.memory_end() <= second.address && gap.start <= gap.end;
        (fits && headers.filled_sections().all(|(_, [start, end])| end <= gap.start || gap.end <= start))
            .then_some(pair)
    })
}

impl Pair {
    /// The bytes of the file between the two.
    fn file_gap(&self) -> Range<u64> {
        self.first.end()..self.second.offset
    }

    /// The bytes of memory between the bytes of the two.
    fn memory_gap(&self) -> Range<u64> {
        self.first.address.saturating_add(self.first.file_size)..self.second.address
    }

    /// The growth of the file.
    fn cost(&self) -> Option<u64> {
        let file = self.file_gap();
        let memory = self.memory_gap();
        let memory = memory.end.checked_sub(memory.start)?;
        Some(memory.saturating_sub(file.end.checked_sub(file.start)?))
    }
}

impl Slot {
    /// The change of the file outside of the headers.
    pub(super) fn change(&self) -> Option<Change> {
        let Slot::Merged(pair) = self else { return None };
        let gap = pair.memory_gap();
        Some(Change { old: pair.file_gap(), new_size: gap.end.saturating_sub(gap.start) })
    }

    /// Makes the table of `out` as long as its place; `old` are the headers before any change.
    pub(super) fn apply(&self, out: &mut Headers, old: &Headers) {
        match self {
            Slot::Unused => {
                let unused = out.segments.iter().position(|segment| segment.p_type.get(LE) == PT_NULL);
                unused.map(|index| out.segments.remove(index));
            }
            Slot::Behind => count_one_more(out, old),
            Slot::Merged(pair) => merge(out, pair),
        }
    }
}

fn count_one_more(out: &mut Headers, old: &Headers) {
    out.file.e_phnum = U16::new(LE, old.file.e_phnum.get(LE).saturating_add(1));
    for segment in out.segments.iter_mut().filter(|segment| segment.p_type.get(LE) == PT_PHDR) {
        segment.p_filesz = U64::new(LE, segment.p_filesz.get(LE).saturating_add(ENTRY));
        segment.p_memsz = U64::new(LE, segment.p_memsz.get(LE).saturating_add(ENTRY));
    }
}

fn merge(out: &mut Headers, pair: &Pair) {
    // Addresses stay, and no two loaded segments share one.
    let Some(second) = find_segment(out, pair.second.address) else { return };
    out.segments.remove(second.index);
    let Some(joined) = find_segment(out, pair.first.address) else { return };
    let Some(first) = out.segments.get_mut(joined.index) else { return };
    let skipped = pair.second.address.saturating_sub(pair.first.address);
    first.p_filesz = U64::new(LE, skipped.saturating_add(pair.second.file_size));
    first.p_memsz = U64::new(LE, skipped.saturating_add(pair.second.memory_size));
    first.p_align = U64::new(LE, pair.first.align.max(pair.second.align));
    fill_sections(out, &pair.memory_gap(), &joined);
}

fn find_segment(headers: &Headers, address: u64) -> Option<Segment> {
    headers.loads().find(|segment| segment.address == address)
}
