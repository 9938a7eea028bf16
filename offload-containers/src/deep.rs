//! Device images anywhere in a file, whatever section they lie in: libraries keep some among their constants.
//!
//! Every eighth byte is looked at. What starts as a container or as an ELF image of a GPU counts only if its reader lists
//! images in it, each within the bytes that it records for itself.
//!
//! ```
//! use offload_containers::{Limits, bundle, deep};
//!
//! let image = bundle::BundleImage { id: "hipv4-amdgcn-amd-amdhsa--gfx90a", bytes: b"code object" };
//! let file = [&[0; 64][..], &bundle::write(&[image], bundle::HIP_ALIGN)?, b"and more"].concat();
//! assert_eq!(deep::find(&file, &Limits::default())?[0].offset, 64);
//! # Ok::<(), offload_containers::Error>(())
//! ```

mod elf_tables;

use std::ops::Range;

use self::elf_tables::ElfTables;
use crate::carrier::{self, FileKind, Found, Place};
use crate::contents;
use offload_format::limits::{Budget, push};
use offload_format::{Error, Limits, bytes};
use offload_images::{code_object, cubin};

/// Compilers align containers and images to 8 at least.
const STEP: usize = 8;

/// What [`carrier::find`] finds, and what lies outside of it, in the order of the file. A file whose headers are damaged
/// is searched all the same.
///
/// # Errors
/// [`TooMany`](offload_format::ErrorKind::TooMany) if more is found than `limits` allow.
pub fn find<'a>(file: &'a [u8], limits: &Limits) -> Result<Vec<Found<'a>>, Error> {
    let known = carrier::find(file, limits).unwrap_or_default();
    let budget = Budget::for_file("the search of the file", file.len() as u64);
    let mut search = Search { file, limits, budget, found: Vec::new() };
    let mut from = 0;
    for known in &known {
        let start = usize::try_from(known.offset).unwrap_or(usize::MAX);
        search.scan(from..start)?;
        from = from.max(start.saturating_add(known.bytes.len()));
    }
    search.scan(from..file.len())?;
    search.found.extend(known);
    search.found.sort_by_key(|found| found.offset);
    Ok(search.found)
}

struct Search<'l, 'a> {
    file: &'a [u8],
    limits: &'l Limits,
    budget: Budget,
    found: Vec<Found<'a>>,
}

impl<'a> Search<'_, 'a> {
    /// Adds what starts in `range` of the file and ends there.
    fn scan(&mut self, range: Range<usize>) -> Result<(), Error> {
        let Some(mut offset) = range.start.checked_next_multiple_of(STEP) else { return Ok(()) };
        while let Some(rest) = self.file.get(offset..range.end).filter(|rest| !rest.is_empty()) {
            let found = if candidate(rest) { sound(rest, offset as u64, self)? } else { None };
            let step = found.map_or(STEP, |found| found.bytes.len());
            if let Some(found) = found {
                self.limits.records("the list of device images", self.found.len() as u64 + 1)?;
                push(&mut self.found, found);
            }
            let next = offset.checked_add(step).and_then(|next| next.checked_next_multiple_of(STEP));
            let Some(next) = next else { break };
            offset = next;
        }
        Ok(())
    }
}

/// What may start something that records its size: cheap to refuse, for it is asked at every word of the file.
fn candidate(rest: &[u8]) -> bool {
    let magics: [&[u8]; 5] =
        [b"\x7fELF", b"\x10\xff\x10\xad", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB", b"\x50\xed\x55\xba"];
    let first = rest.first();
    magics.iter().any(|magic| magic.first() == first && rest.starts_with(magic))
}

/// What starts `rest`, if a reader lists images in it.
fn sound<'a>(rest: &'a [u8], offset: u64, search: &mut Search<'_, 'a>) -> Result<Option<Found<'a>>, Error> {
    let Some(kind) = FileKind::detect(rest) else { return Ok(None) };
    let Some(size) = recorded_size(kind, rest, &mut search.budget)? else { return Ok(None) };
    // What starts at every word may claim the whole file at each.
    search.budget.spend(size)?;
    let Ok(bytes) = bytes::range(rest, 0, size, "the device images") else { return Ok(None) };
    let found = Found { kind: Some(kind), offset, bytes, place: Place::Bytes, member: None };
    let listed = contents::images_of(&found, search.limits);
    let sound = listed.is_ok_and(|images| !images.is_empty()) && is_readable(kind, bytes);
    Ok(sound.then_some(found))
}

fn recorded_size(kind: FileKind, rest: &[u8], budget: &mut Budget) -> Result<Option<u64>, Error> {
    if !is_elf(kind) {
        return Ok(carrier::recorded_size(kind, rest));
    }
    let Some(tables) = ElfTables::of(rest) else { return Ok(None) };
    budget.spend(tables.size())?;
    Ok(tables.file_size(rest))
}

fn is_elf(kind: FileKind) -> bool {
    matches!(kind, FileKind::AmdCodeObject | FileKind::Cubin | FileKind::Zebin)
}

/// Whether an image's own reader takes it; a container's reader has been asked.
fn is_readable(kind: FileKind, bytes: &[u8]) -> bool {
    match kind {
        FileKind::AmdCodeObject => code_object::info(bytes).is_ok(),
        FileKind::Cubin => cubin::info(bytes).is_ok(),
        FileKind::Zebin => object::File::parse(bytes).is_ok(),
        _ => true,
    }
}
