//! The records with which SYCL programs register device images
//! (<https://github.com/intel/llvm/blob/sycl/sycl/source/detail/compiler.hpp>).
//!
//! No section and no symbol tells where they lie: they are searched for in everything that has addresses. A record
//! counts if all of its pointers lead where they should.

use super::found::{Place, SyclImage};
use super::search::{At, Part, Search};
use super::view::{Records, View};
use offload_format::{Error, bytes};

/// The longest device target that is believed.
const LONGEST_TARGET: usize = 64;
/// Size of the smaller record in bytes.
const SMALLEST: usize = 80;
/// Pointers of a record to the image: version 3 has none to a manifest in front of them.
const IMAGE: u64 = 32;
const IMAGE_BEHIND_MANIFEST: u64 = 48;

impl<'a> Search<'a> {
    /// Every image that a record in `view` points to.
    pub(super) fn sycl(&mut self, view: &View<'a>, at: At<'a>) -> Result<(), Error> {
        for map in view.maps.iter().filter(|map| map.records == Records::Possible) {
            let Some((_, run)) = view.at(map.address) else { continue };
            self.budget.spend(run.len() as u64)?;
            // Records are aligned as pointers are, and do not overlap.
            let skip = if view.linked { (map.address.wrapping_neg() % 8) as usize } else { 0 };
            let mut next = 0;
            for (index, head) in run.get(skip..).unwrap_or_default().chunks_exact(8).enumerate() {
                let address = map.address.saturating_add(skip as u64).saturating_add(8 * index as u64);
                if index < next || !is_head(head) {
                    continue;
                }
                if let Some((record, offset, size)) = record(view, head, address) {
                    self.add(Part { file: view.file, offset, size }, Place::Sycl(record), at)?;
                    next = index.saturating_add(SMALLEST / 8);
                }
            }
        }
        Ok(())
    }
}

/// Version, kind of offloading (4, and 8 since LLVM 21), format, and zeros up to the first pointer.
fn is_head(head: &[u8]) -> bool {
    matches!(head, [1..=3, 0, 4 | 8, 0..=4, 0, 0, 0, 0])
}

/// What the record at `address` says, and where its image lies in the file.
fn record<'a>(view: &View<'a>, head: &[u8], address: u64) -> Option<(SyclImage<'a>, u64, u64)> {
    let pointer = |offset: u64| view.pointer(address.checked_add(offset)?);
    let target = view.text(pointer(8)?, LONGEST_TARGET).filter(|target| is_target(target))?;
    // Compile and link options are texts, or not there.
    let text = |address: u64| address == 0 || view.at(address).is_some();
    if !text(pointer(16)?) || !text(pointer(24)?) {
        return None;
    }
    let manifest = pointer(IMAGE)? == 0 && pointer(IMAGE + 8)? == 0;
    let image = if manifest { IMAGE_BEHIND_MANIFEST } else { IMAGE };
    let (start, end) = (pointer(image)?, pointer(image + 8)?);
    let size = end.checked_sub(start).filter(|size| *size > 0)?;
    let (offset, rest) = view.at(start)?;
    bytes::range(rest, 0, size, "the image").ok()?;
    let version = bytes::u16_at(head, 0, "the record").ok()?;
    let format = head.get(3).copied()?;
    Some((SyclImage { version, target, format }, offset, size))
}

fn is_target(target: &str) -> bool {
    let known = ["spir", "nvptx", "amdgcn", "native_cpu", "llvm_nvptx64", "llvm_amdgcn", "<unknown>"];
    known.iter().any(|known| target.starts_with(known)) && target.bytes().all(|byte| byte.is_ascii_graphic())
}
