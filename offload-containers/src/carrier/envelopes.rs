//! Sequences of OffloadBinaries and SYCLBINs.

use super::kind::FileKind;
use super::measure;
use super::range::RangeOrigin;
use super::search::{FileRange, Position, Search};
use crate::offload_binary::ALIGN;
use offload_format::{Error, bytes};

impl<'a> Search<'a> {
    /// Adds each SYCLBIN of `range` as a range, because a runtime reads each as a file, and the binaries between two of them
    /// as one range.
    pub(super) fn envelopes(
        &mut self,
        range: FileRange<'a>,
        origin: RangeOrigin<'a>,
        at: Position<'a>,
    ) -> Result<(), Error> {
        let all = range.bytes()?;
        // The end of the last added range.
        let mut added = 0u64;
        let mut next = 0u64;
        while let Some((kind, length)) = measure(rest(all, next)) {
            self.budget.spend(64)?;
            let end = next.saturating_add(length);
            if kind == FileKind::Syclbin {
                if added < next {
                    self.add(range.inner(added, next.saturating_sub(added)), origin, at)?;
                }
                self.add(range.inner(next, length), origin, at)?;
                added = end.checked_next_multiple_of(ALIGN).unwrap_or(u64::MAX);
            }
            next = end.checked_next_multiple_of(ALIGN).unwrap_or(u64::MAX);
        }
        // A runtime ignores other bytes behind a SYCLBIN. A truncated envelope is added, so that its reader reports it.
        if added == 0 || is_envelope(rest(all, added)) {
            self.add(range.inner(added, range.size.saturating_sub(added)), origin, at)?;
        }
        Ok(())
    }
}

/// Whether `bytes` start with an OffloadBinary or SYCLBIN whose recorded size fits.
pub(super) fn is_measured(bytes: &[u8]) -> bool {
    measure(bytes).is_some()
}

/// Whether `bytes` start as an OffloadBinary or SYCLBIN.
pub(super) fn is_envelope(bytes: &[u8]) -> bool {
    matches!(FileKind::detect(bytes), Some(FileKind::OffloadBinary | FileKind::Syclbin))
}

/// The kind and recorded size of the envelope at the start of `bytes`.
fn measure(bytes: &[u8]) -> Option<(FileKind, u64)> {
    let kind = FileKind::detect(bytes)?;
    match kind {
        FileKind::OffloadBinary | FileKind::Syclbin => Some((kind, measure::size(kind, bytes)?)),
        _ => None,
    }
}

fn rest(bytes: &[u8], offset: u64) -> &[u8] {
    let size = (bytes.len() as u64).saturating_sub(offset);
    bytes::range(bytes, offset, size, "OffloadBinary").unwrap_or_default()
}
