//! Which bytes of a program move where when the packs in it change their size. No address in memory changes.
//!
//! Bytes leave and come in whole pages: what lies behind keeps its offset modulo the alignment of the segments. Packs
//! at the end of a segment make it shorter or longer. Packs in its midst, where LLD and mold put them, split it.

use std::ops::Range;
use std::path::Path;

use object::LittleEndian as LE;
use object::elf::{ProgramHeader64, SHF_ALLOC, SHF_TLS, SHT_NOBITS, SHT_PROGBITS};
use object::endian::{U32, U64};

use super::headers::{Headers, Span};
use super::moves::{Change, Moves};
use super::rejoin::Parts;
use super::slot;
use super::{no_room, refused};
use crate::error::Result;

/// What a program becomes.
#[derive(Debug)]
pub(super) struct Plan {
    /// The headers with everything in its new place.
    pub(super) headers: Headers,
    pub(super) moves: Moves,
    /// Bytes of zeros behind the packs, up to what follows.
    pub(super) padding: u64,
    /// How many of these stay the last pack's own.
    pub(super) spare: u64,
}

/// The packs' place in the file and how large they will be.
#[derive(Clone, Debug)]
pub(super) struct Room {
    pub(super) old: Range<u64>,
    pub(super) new_size: u64,
}

impl Room {
    fn old_size(&self) -> u64 {
        self.old.end.saturating_sub(self.old.start)
    }

    pub(super) fn new_end(&self) -> u64 {
        self.old.start.saturating_add(self.new_size)
    }
}

/// Decides how `room` of the program with `headers` changes its size.
pub(super) fn plan(path: &Path, headers: &Headers, room: &Room) -> Result<Plan> {
    let (index, segment) = segment_of(path, headers, room)?;
    check_section(path, headers, room)?;
    let at_end = room.old.end == segment.end() && segment.file_size == segment.memory_size;
    if at_end {
        resize(path, headers, (index, &segment), room)
    } else {
        shrink(path, headers, (index, &segment), room)
    }
}

fn segment_of(path: &Path, headers: &Headers, room: &Room) -> Result<(usize, Span)> {
    let inside = |span: &Span| span.offset <= room.old.start && room.old.end <= span.end();
    let found = headers.loads().find(|(_, span)| inside(span));
    found.ok_or_else(|| refused(path, "its images lie outside the segments that are loaded"))
}

/// The section with the packs has nothing behind them: a section cannot have a hole.
fn check_section(path: &Path, headers: &Headers, room: &Room) -> Result<()> {
    let touching = |[start, end]: [u64; 2]| start < room.old.end && room.old.start < end;
    for (_, range) in headers.filled_sections().filter(|(_, range)| touching(*range)) {
        if range[0] > room.old.start || range[1] != room.old.end {
            return Err(refused(path, "other large data lies beside the images in their section"));
        }
    }
    Ok(())
}

/// The segment ends with the packs: it ends earlier or later.
fn resize(path: &Path, headers: &Headers, (index, segment): (usize, &Span), room: &Room) -> Result<Plan> {
    let next = next_content(headers, room.old.end);
    let unit = unit_behind(headers, next);
    let moved =
        slide(next, room.new_end(), unit).ok_or_else(|| refused(path, "it would become too large"))?;
    let address = segment.address.saturating_add(room.new_end().saturating_sub(segment.offset));
    let end_page = address.checked_next_multiple_of(segment.align.max(PAGE));
    let above = headers.loads().filter(|(_, span)| span.address >= segment.memory_end());
    let limit = above.map(|(_, span)| page(span.address, span.align)).min();
    if limit.is_some_and(|limit| end_page.is_none_or(|end| end > limit)) {
        let parts = Parts::find(headers, (index, *segment), room);
        let joined = parts.and_then(|parts| parts.join(headers, room));
        return joined
            .ok_or_else(|| no_room(path, "they do not fit between the parts of it that are loaded"));
    }
    let change = Change { old: room.old.start..next, new_size: moved.saturating_sub(room.old.start) };
    let padding = change.new_size.saturating_sub(room.new_size);
    let moves = Moves::new(vec![change]);
    let mut headers = moved_headers(headers, &moves, room);
    if let Some(header) = headers.segments.get_mut(index) {
        set_size(header, room.new_end().saturating_sub(segment.offset));
    }
    Ok(Plan { headers, moves, padding, spare: 0 })
}

/// The packs lie in the midst of a segment: what is left of them stays in its first part, and the second starts at the
/// page in which they ended.
fn shrink(path: &Path, headers: &Headers, (index, segment): (usize, &Span), room: &Room) -> Result<Plan> {
    if room.new_end() > room.old.end {
        return Err(no_room(path, "they are larger than the room that the linker gave them"));
    }
    let rest = page(room.old.end, segment.align).max(room.old.start);
    let unit = unit_behind(headers, rest).max(segment.align);
    let moved = slide(rest, room.new_end(), unit).unwrap_or(rest);
    let kept = room.old.end.saturating_sub(rest);
    let saved = rest.saturating_sub(moved);
    let slot = if saved == 0 { None } else { slot::find(path, headers, (index, saved))? };
    let Some(slot) = slot else { return Ok(in_place(headers, room)) };

    let change =
        Change { old: room.old.clone(), new_size: moved.saturating_sub(room.old.start).saturating_add(kept) };
    let padding = change.new_size.saturating_sub(room.new_size);
    let moves = Moves::new([change].into_iter().chain(slot.change()).collect());
    let mut out = moved_headers(headers, &moves, room);
    split(&mut out, (index, segment), (rest, moved), room);
    slot.apply(&mut out, headers);
    Ok(Plan { headers: out, moves, padding, spare: 0 })
}

/// Nothing would be saved: less than a page is free, or to split the segment costs what is.
fn in_place(headers: &Headers, room: &Room) -> Plan {
    let change = Change { old: room.old.clone(), new_size: room.old_size() };
    let padding = change.new_size.saturating_sub(room.new_size);
    let moves = Moves::new(vec![change]);
    // The section keeps its size, so that later changes find all of the room.
    let room = Room { old: room.old.clone(), new_size: room.old_size() };
    Plan { headers: moved_headers(headers, &moves, &room), moves, padding, spare: padding }
}

fn split(out: &mut Headers, (index, segment): (usize, &Span), (rest, moved): (u64, u64), room: &Room) {
    let Some(first) = out.segments.get_mut(index) else { return };
    let mut second: ProgramHeader64<LE> = *first;
    set_size(first, room.new_end().saturating_sub(segment.offset));
    let skipped = rest.saturating_sub(segment.offset);
    let at = |value: u64| U64::new(LE, value);
    second.p_offset = at(moved);
    second.p_vaddr = at(segment.address.saturating_add(skipped));
    second.p_paddr = at(second.p_paddr.get(LE).saturating_add(skipped));
    second.p_filesz = at(segment.file_size.saturating_sub(skipped));
    second.p_memsz = at(segment.memory_size.saturating_sub(skipped));
    out.segments.insert(index.saturating_add(1), second);
}

fn set_size(header: &mut ProgramHeader64<LE>, size: u64) {
    header.p_filesz = U64::new(LE, size);
    header.p_memsz = U64::new(LE, size);
}

/// All offsets in their new place, and the packs' section in its new size.
pub(super) fn moved_headers(headers: &Headers, moves: &Moves, room: &Room) -> Headers {
    let mut out = headers.clone();
    let map = |field: &mut U64<LE>| *field = U64::new(LE, moves.map(field.get(LE)));
    map(&mut out.file.e_phoff);
    map(&mut out.file.e_shoff);
    out.segments.iter_mut().for_each(|segment| map(&mut segment.p_offset));
    for section in &mut out.sections {
        let start = section.sh_offset.get(LE);
        if section.sh_type.get(LE) != SHT_NOBITS
            && start <= room.old.start
            && start.saturating_add(section.sh_size.get(LE)) == room.old.end
        {
            section.sh_size = U64::new(LE, room.new_end().saturating_sub(start));
        }
        map(&mut section.sh_offset);
    }
    out.size = moves.map(headers.size);
    out
}

/// Sections of zeros between two segments that became one have bytes in the file now.
pub(super) fn fill_sections(out: &mut Headers, gap: &Range<u64>, address: u64, offset: u64) {
    for section in &mut out.sections {
        let start = section.sh_addr.get(LE);
        let flags = section.sh_flags.get(LE);
        let zeros =
            section.sh_type.get(LE) == SHT_NOBITS && flags.contains(SHF_ALLOC) && !flags.contains(SHF_TLS);
        if zeros && gap.contains(&start) && section.sh_size.get(LE) > 0 {
            section.sh_type = U32::new(LE, SHT_PROGBITS);
            section.sh_offset = U64::new(LE, offset.saturating_add(start.saturating_sub(address)));
        }
    }
}

/// The smallest page of any machine.
const PAGE: u64 = 4096;
/// Alignment of the bytes behind the last segment.
const LEAST_UNIT: u64 = 16;

/// Where the first thing behind `end` starts.
fn next_content(headers: &Headers, end: u64) -> u64 {
    let sections = headers.filled_sections().map(|(_, [start, _])| start);
    let segments = headers.segments.iter().filter(|segment| segment.p_filesz.get(LE) > 0);
    let segments = segments.map(|segment| segment.p_offset.get(LE));
    let tables = [headers.file.e_phoff.get(LE), headers.file.e_shoff.get(LE), headers.size];
    sections.chain(segments).chain(tables).filter(|start| *start >= end).min().unwrap_or(end)
}

/// By multiples of what the things behind `start` may move.
fn unit_behind(headers: &Headers, start: u64) -> u64 {
    let segments = headers
        .loads()
        .filter(|(_, span)| span.end() > start && span.file_size > 0)
        .map(|(_, span)| span.align.max(PAGE));
    let sections = headers.filled_sections().filter(|(_, [from, _])| *from >= start);
    let sections = sections.filter_map(|(index, _)| Some(headers.sections.get(index)?.sh_addralign.get(LE)));
    segments.chain(sections).fold(LEAST_UNIT, u64::max)
}

/// The smallest place from `least` on that differs from `from` by a multiple of `unit`.
fn slide(from: u64, least: u64, unit: u64) -> Option<u64> {
    match from.checked_sub(least) {
        Some(room) => from.checked_sub(room / unit.max(1) * unit),
        None => from.checked_add(least.checked_sub(from)?.checked_next_multiple_of(unit)?),
    }
}

fn page(address: u64, align: u64) -> u64 {
    address - address % align.max(1)
}

#[cfg(test)]
mod tests;
