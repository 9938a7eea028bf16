//! OffloadBinaries one after another, of which some are SYCLBINs.

use super::found::Place;
use super::kind::FileKind;
use super::measure;
use super::search::{At, Part, Search};
use crate::offload_binary::ALIGN;
use offload_format::{Error, bytes};

impl<'a> Search<'a> {
    /// What starts `part`: a runtime reads each SYCLBIN as a file of its own, so each is told alone; the
    /// binaries between two of them are told as one.
    pub(super) fn envelopes(&mut self, part: Part<'a>, place: Place<'a>, at: At<'a>) -> Result<(), Error> {
        let all = part.bytes()?;
        let (mut told, mut next) = (0u64, 0u64);
        while let Some((kind, length)) = starts(rest(all, next)) {
            self.budget.spend(64)?;
            let end = next.saturating_add(length);
            if kind == FileKind::Syclbin {
                if told < next {
                    self.add(part.inner(told, next.saturating_sub(told)), place, at)?;
                }
                self.add(part.inner(next, length), place, at)?;
                told = end.checked_next_multiple_of(ALIGN).unwrap_or(u64::MAX);
            }
            next = end.checked_next_multiple_of(ALIGN).unwrap_or(u64::MAX);
        }
        // A runtime ignores what follows a SYCLBIN and is none, but the reader of a cut one says what is missing.
        if told == 0 || is_envelope(rest(all, told)) {
            self.add(part.inner(told, part.size.saturating_sub(told)), place, at)?;
        }
        Ok(())
    }
}

/// Whether `bytes` start with an OffloadBinary or SYCLBIN that says how large it is, and fits.
pub(super) fn is_measured(bytes: &[u8]) -> bool {
    starts(bytes).is_some()
}

/// Whether `bytes` start as an OffloadBinary or SYCLBIN.
pub(super) fn is_envelope(bytes: &[u8]) -> bool {
    matches!(FileKind::detect(bytes), Some(FileKind::OffloadBinary | FileKind::Syclbin))
}

fn starts(bytes: &[u8]) -> Option<(FileKind, u64)> {
    let kind = FileKind::detect(bytes)?;
    let known = matches!(kind, FileKind::OffloadBinary | FileKind::Syclbin);
    Some((kind, known.then(|| measure::size(kind, bytes)).flatten()?))
}

fn rest(bytes: &[u8], offset: u64) -> &[u8] {
    let size = (bytes.len() as u64).saturating_sub(offset);
    bytes::range(bytes, offset, size, "OffloadBinary").unwrap_or_default()
}
