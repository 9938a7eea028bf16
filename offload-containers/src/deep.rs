//! The deep search for device images in all bytes of a file: libraries keep some among their constants.
//!
//! Every eighth byte is tried. A container or a GPU's ELF image counts only if its reader lists images in it, within its
//! recorded size.
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
use crate::carrier::{self, FileKind, ImageRange, RangeOrigin};
use crate::contents;
use offload_format::limits::{Budget, push};
use offload_format::{Error, Limits, bytes};
use offload_images::{code_object, cubin};

/// Compilers align containers and images to 8 at least.
const STEP: usize = 8;

/// The results of [`carrier::find`] and the images outside of them, in the order of the file. A file with damaged headers
/// is searched too.
///
/// # Errors
/// [`TooMany`](offload_format::ErrorKind::TooMany) if more is found than `limits` allow.
pub fn find<'a>(file: &'a [u8], limits: &Limits) -> Result<Vec<ImageRange<'a>>, Error> {
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
    found: Vec<ImageRange<'a>>,
}

impl<'a> Search<'_, 'a> {
    /// Adds the images that start and end in `range` of the file.
    fn scan(&mut self, range: Range<usize>) -> Result<(), Error> {
        let Some(mut offset) = range.start.checked_next_multiple_of(STEP) else { return Ok(()) };
        while let Some(rest) = self.file.get(offset..range.end).filter(|rest| !rest.is_empty()) {
            let found = if has_magic(rest) { readable_range(rest, offset as u64, self)? } else { None };
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

/// Whether `rest` starts with the magic of a format with a recorded size: a cheap filter for every word of the file.
fn has_magic(rest: &[u8]) -> bool {
    let magics: [&[u8]; 5] =
        [b"\x7fELF", b"\x10\xff\x10\xad", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB", b"\x50\xed\x55\xba"];
    let first = rest.first();
    magics.iter().any(|magic| magic.first() == first && rest.starts_with(magic))
}

/// The container or image at the start of `rest`, if its reader lists images in it.
fn readable_range<'a>(
    rest: &'a [u8],
    offset: u64,
    search: &mut Search<'_, 'a>,
) -> Result<Option<ImageRange<'a>>, Error> {
    let Some(kind) = FileKind::detect(rest) else { return Ok(None) };
    let Some(size) = recorded_size(kind, rest, &mut search.budget)? else { return Ok(None) };
    // A header at every word may claim the whole file.
    search.budget.spend(size)?;
    let Ok(bytes) = bytes::range(rest, 0, size, "the device images") else { return Ok(None) };
    let found = ImageRange { kind: Some(kind), offset, bytes, origin: RangeOrigin::Bytes, member: None };
    let images = contents::images_of(&found, search.limits).unwrap_or_default();
    Ok((!images.is_empty() && is_readable(kind, bytes)).then_some(found))
}

fn recorded_size(kind: FileKind, rest: &[u8], budget: &mut Budget) -> Result<Option<u64>, Error> {
    if !is_elf(kind) {
        return Ok(carrier::recorded_size(kind, rest));
    }
    let Some(tables) = ElfTables::parse(rest) else { return Ok(None) };
    budget.spend(tables.size())?;
    Ok(tables.file_size(rest))
}

fn is_elf(kind: FileKind) -> bool {
    matches!(kind, FileKind::AmdCodeObject | FileKind::Cubin | FileKind::Zebin)
}

/// Whether the reader of an image accepts it; the reader of a container already has.
fn is_readable(kind: FileKind, bytes: &[u8]) -> bool {
    match kind {
        FileKind::AmdCodeObject => code_object::info(bytes).is_ok(),
        FileKind::Cubin => cubin::info(bytes).is_ok(),
        FileKind::Zebin => object::File::parse(bytes).is_ok(),
        _ => true,
    }
}
