//! Wrappers that HIP and CUDA programs register: magic, version, a pointer to the container, one more field.

use super::kind::FileKind;
use super::measure;
use super::range::RangeOrigin;
use super::search::{FileRange, Position, Search};
use super::view::View;
use offload_format::{Error, bytes};

/// Size of a wrapper in bytes.
const SIZE: u64 = 24;
/// `__hip_fatbin_wrapper` (<https://github.com/ROCm/clr/blob/amd-staging/hipamd/src/hip_fatbin.hpp>).
const HIP: u32 = 0x4849_5046;
/// `__hip_fatbin_wrapper` of images in kpack files.
const HIP_KPACK: u32 = 0x4b50_4948;
/// `__cudaFatCudaBinary` (CUDA toolkit, `fatbinary_section.h`).
const CUDA: u32 = 0x4662_43b1;

/// The address range of a section.
#[derive(Clone, Copy)]
pub(super) struct AddressRange {
    pub(super) address: u64,
    pub(super) size: u64,
}

impl<'a> Search<'a> {
    /// Follows the wrappers of a section.
    pub(super) fn wrappers(
        &mut self,
        view: &View<'a>,
        section: AddressRange,
        at: Position<'a>,
    ) -> Result<(), Error> {
        let AddressRange { address, size } = section;
        // The section header may claim more bytes than the file has.
        let size = view.at(address).map_or(0, |(_, rest)| size.min(rest.len() as u64));
        for index in 0..size / SIZE {
            let wrapper = address.saturating_add(index.saturating_mul(SIZE));
            if let Some(wrapper) = wrapper_at(view, wrapper) {
                self.wrapped(view, wrapper, at)?;
            }
        }
        Ok(())
    }

    fn wrapped(&mut self, view: &View<'a>, wrapper: Wrapper, at: Position<'a>) -> Result<(), Error> {
        let Some((offset, rest)) = view.at(wrapper.target) else { return Ok(()) };
        let (size, origin) = match wrapper.magic {
            HIP_KPACK => (rest.len() as u64, RangeOrigin::KpackReference { index: wrapper.last }),
            _ => {
                let size = FileKind::detect(rest).and_then(|kind| measure::size(kind, rest));
                // A bundle without a recorded size ends with its section at the latest.
                (size.unwrap_or(rest.len() as u64), RangeOrigin::Wrapper)
            }
        };
        self.add(FileRange { file: view.file, offset, size }, origin, at)
    }
}

/// The fields of a wrapper.
#[derive(Clone, Copy)]
struct Wrapper {
    magic: u32,
    /// The address of the container.
    target: u64,
    /// The lower half of the last field.
    last: u32,
}

fn wrapper_at(view: &View<'_>, address: u64) -> Option<Wrapper> {
    let (_, rest) = view.at(address)?;
    let magic = bytes::u32_at(rest, 0, "wrapper").ok()?;
    let last = bytes::u32_at(rest, 16, "wrapper").ok()?;
    if !matches!(magic, HIP | HIP_KPACK | CUDA) {
        return None;
    }
    let target = view.pointer(address.checked_add(8)?)?;
    Some(Wrapper { magic, target, last })
}
