//! Registration records of SYCL programs
//! (<https://github.com/intel/llvm/blob/sycl/sycl/source/detail/compiler.hpp>).
//!
//! Neither a section nor a symbol marks them: every mapped range is scanned. A record is valid if all of its pointers are.

use super::range::{RangeOrigin, SyclImage};
use super::search::{FileRange, Position, Search};
use super::view::{Records, View};
use offload_format::{Error, bytes};

/// The length of a device target, in bytes.
const MAX_TARGET: usize = 64;
/// Size of the smaller record in bytes.
const MIN_RECORD: usize = 80;
/// The offset of the pointers to the image in version 3, and behind the manifest pointers of earlier versions.
const IMAGE: u64 = 32;
const IMAGE_BEHIND_MANIFEST: u64 = 48;

impl<'a> Search<'a> {
    /// Adds every image that a record in `view` points to.
    pub(super) fn sycl(&mut self, view: &View<'a>, at: Position<'a>) -> Result<(), Error> {
        for map in view.maps.iter().filter(|map| map.records == Records::Possible) {
            let Some((_, run)) = view.at(map.address) else { continue };
            self.budget.spend(run.len() as u64)?;
            // Records are aligned as pointers are, and do not overlap.
            let skip = if view.linked { (map.address.wrapping_neg() % 8) as usize } else { 0 };
            let mut next = 0;
            for (index, head) in run.get(skip..).unwrap_or_default().chunks_exact(8).enumerate() {
                let address = map.address.saturating_add(skip as u64).saturating_add(8 * index as u64);
                if index < next || !is_record_head(head) {
                    continue;
                }
                if let Some((record, offset, size)) = record(view, head, address) {
                    self.add(FileRange { file: view.file, offset, size }, RangeOrigin::Sycl(record), at)?;
                    next = index.saturating_add(MIN_RECORD / 8);
                }
            }
        }
        Ok(())
    }
}

/// Version, offload kind (4, and 8 since LLVM 21), format, and zeros up to the first pointer.
fn is_record_head(head: &[u8]) -> bool {
    matches!(head, [1..=3, 0, 4 | 8, 0..=4, 0, 0, 0, 0])
}

/// The record at `address`, and the offset and size of its image in the file.
fn record<'a>(view: &View<'a>, head: &[u8], address: u64) -> Option<(SyclImage<'a>, u64, u64)> {
    let target = view.text(pointer_at(view, address, 8)?, MAX_TARGET).filter(|target| is_target(target))?;
    // Compile and link options are strings or null.
    for offset in [16, 24] {
        let options = pointer_at(view, address, offset)?;
        if options != 0 && view.at(options).is_none() {
            return None;
        }
    }
    let has_manifest = pointer_at(view, address, IMAGE)? == 0 && pointer_at(view, address, IMAGE + 8)? == 0;
    let image = if has_manifest { IMAGE_BEHIND_MANIFEST } else { IMAGE };
    let start = pointer_at(view, address, image)?;
    let end = pointer_at(view, address, image + 8)?;
    let size = end.checked_sub(start).filter(|size| *size > 0)?;
    let (offset, rest) = view.at(start)?;
    bytes::range(rest, 0, size, "the image").ok()?;
    let version = bytes::u16_at(head, 0, "the record").ok()?;
    let format = head.get(3).copied()?;
    Some((SyclImage { version, target, format }, offset, size))
}

fn pointer_at(view: &View<'_>, record: u64, offset: u64) -> Option<u64> {
    view.pointer(record.checked_add(offset)?)
}

fn is_target(target: &str) -> bool {
    let known = ["spir", "nvptx", "amdgcn", "native_cpu", "llvm_nvptx64", "llvm_amdgcn", "<unknown>"];
    known.iter().any(|known| target.starts_with(known)) && target.bytes().all(|byte| byte.is_ascii_graphic())
}
