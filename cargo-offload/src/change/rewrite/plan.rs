//! Plan of the file ranges that move when packs change their size. Memory addresses stay.
//!
//! The file grows and shrinks by whole pages, so that later content keeps its offset modulo the alignment of the
//! segments. Packs at the end of a segment change its length. Packs in the middle, where LLD and mold put them, split
//! it.

use std::path::Path;

use object::LittleEndian as LE;
use object::elf::ProgramHeader64;
use object::endian::U64;

use super::headers::{Headers, Segment};
use super::layout::{PacksRange, Plan, moved_headers, set_size};
use super::offsets::{Change, OffsetMap};
use super::refusal::{does_not_fit, refused};
use super::rejoin::Parts;
use super::slot;
use crate::error::Result;

/// Decides how `range` of the program with `headers` changes its size.
pub(super) fn plan(path: &Path, headers: &Headers, range: &PacksRange) -> Result<Plan> {
    let segment = segment_of(path, headers, range)?;
    check_section(path, headers, range)?;
    let at_end = range.old.end == segment.end() && segment.file_size == segment.memory_size;
    if at_end { resize(path, headers, &segment, range) } else { shrink(path, headers, &segment, range) }
}

fn segment_of(path: &Path, headers: &Headers, range: &PacksRange) -> Result<Segment> {
    let found =
        headers.loads().find(|segment| segment.offset <= range.old.start && range.old.end <= segment.end());
    found.ok_or_else(|| refused(path, "its images lie outside the segments that are loaded"))
}

/// The section with the packs has nothing behind them: a section cannot have a hole.
fn check_section(path: &Path, headers: &Headers, range: &PacksRange) -> Result<()> {
    for (_, [start, end]) in
        headers.filled_sections().filter(|(_, [start, end])| *start < range.old.end && range.old.start < *end)
    {
        if start > range.old.start || end != range.old.end {
            return Err(refused(path, "other large data lies beside the images in their section"));
        }
    }
    Ok(())
}

/// The segment ends with the packs: it ends earlier or later.
fn resize(path: &Path, headers: &Headers, segment: &Segment, range: &PacksRange) -> Result<Plan> {
    let next = next_content(headers, range.old.end);
    let unit = unit_behind(headers, next);
    let moved =
        slide(next, range.new_end(), unit).ok_or_else(|| refused(path, "it would become too large"))?;
    let address = segment.address.saturating_add(range.new_end().saturating_sub(segment.offset));
    let end_page = address.checked_next_multiple_of(segment.align.max(PAGE));
    let above = headers.loads().filter(|other| other.address >= segment.memory_end());
    let limit = above.map(|other| page(other.address, other.align)).min();
    if limit.is_some_and(|limit| end_page.is_none_or(|end| end > limit)) {
        let parts = Parts::find(headers, *segment, range);
        let joined = parts.and_then(|parts| parts.join(headers, range));
        return joined
            .ok_or_else(|| does_not_fit(path, "they do not fit between the parts of it that are loaded"));
    }
    let change = Change { old: range.old.start..next, new_size: moved.saturating_sub(range.old.start) };
    let padding = change.new_size.saturating_sub(range.new_size);
    let offsets = OffsetMap::new(vec![change]);
    let mut headers = moved_headers(headers, &offsets, range);
    if let Some(header) = headers.segments.get_mut(segment.index) {
        set_size(header, range.new_end().saturating_sub(segment.offset));
    }
    Ok(Plan { headers, offsets, padding, spare: 0 })
}

/// The packs lie in the midst of a segment: what is left of them stays in its first part, and the second starts at the
/// page in which they ended.
fn shrink(path: &Path, headers: &Headers, segment: &Segment, range: &PacksRange) -> Result<Plan> {
    if range.new_end() > range.old.end {
        return Err(does_not_fit(path, "they are larger than the space that the linker gave them"));
    }
    let rest = page(range.old.end, segment.align).max(range.old.start);
    let unit = unit_behind(headers, rest).max(segment.align);
    let moved = slide(rest, range.new_end(), unit).unwrap_or(rest);
    let kept = range.old.end.saturating_sub(rest);
    let saved = rest.saturating_sub(moved);
    let slot = if saved == 0 {
        None
    } else {
        slot::find(path, headers, slot::Split { segment: segment.index, saved })?
    };
    let Some(slot) = slot else { return Ok(in_place(headers, range)) };

    let change = Change {
        old: range.old.clone(),
        new_size: moved.saturating_sub(range.old.start).saturating_add(kept),
    };
    let padding = change.new_size.saturating_sub(range.new_size);
    let offsets = OffsetMap::new([change].into_iter().chain(slot.change()).collect());
    let mut out = moved_headers(headers, &offsets, range);
    split(&mut out, segment, Rest { old: rest, new: moved }, range);
    slot.apply(&mut out, headers);
    Ok(Plan { headers: out, offsets, padding, spare: 0 })
}

/// Nothing would be saved: less than a page is free, or to split the segment costs what is.
fn in_place(headers: &Headers, range: &PacksRange) -> Plan {
    let change = Change { old: range.old.clone(), new_size: range.old_size() };
    let padding = change.new_size.saturating_sub(range.new_size);
    let offsets = OffsetMap::new(vec![change]);
    // The section keeps its size, so that later changes find all of it.
    let range = PacksRange { old: range.old.clone(), new_size: range.old_size() };
    Plan { headers: moved_headers(headers, &offsets, &range), offsets, padding, spare: padding }
}

/// File offsets of the second part of a segment.
struct Rest {
    old: u64,
    new: u64,
}

fn split(out: &mut Headers, segment: &Segment, rest: Rest, range: &PacksRange) {
    let Some(first) = out.segments.get_mut(segment.index) else { return };
    let mut second: ProgramHeader64<LE> = *first;
    set_size(first, range.new_end().saturating_sub(segment.offset));
    let skipped = rest.old.saturating_sub(segment.offset);
    second.p_offset = U64::new(LE, rest.new);
    second.p_vaddr = U64::new(LE, segment.address.saturating_add(skipped));
    second.p_paddr = U64::new(LE, second.p_paddr.get(LE).saturating_add(skipped));
    second.p_filesz = U64::new(LE, segment.file_size.saturating_sub(skipped));
    second.p_memsz = U64::new(LE, segment.memory_size.saturating_sub(skipped));
    out.segments.insert(segment.index.saturating_add(1), second);
}

/// The smallest page of any machine.
const PAGE: u64 = 4096;
/// Alignment of the bytes behind the last segment.
const LEAST_UNIT: u64 = 16;

/// The start of the first content after `end`.
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
        .filter(|segment| segment.end() > start && segment.file_size > 0)
        .map(|segment| segment.align.max(PAGE));
    let sections = headers.filled_sections().filter(|(_, [from, _])| *from >= start);
    let sections = sections.filter_map(|(index, _)| Some(headers.sections.get(index)?.sh_addralign.get(LE)));
    segments.chain(sections).fold(LEAST_UNIT, u64::max)
}

/// The smallest place from `least` on that differs from `from` by a multiple of `unit`.
fn slide(from: u64, least: u64, unit: u64) -> Option<u64> {
    match from.checked_sub(least) {
        Some(range) => from.checked_sub(range / unit.max(1) * unit),
        None => from.checked_add(least.checked_sub(from)?.checked_next_multiple_of(unit)?),
    }
}

fn page(address: u64, align: u64) -> u64 {
    address - address % align.max(1)
}

#[cfg(test)]
mod tests;
