//! The zstd frames of a kpack: their number, and each behind its size.

use offload_format::{Error, Limits, bytes};

pub(super) const WHAT: &str = "the compressed code objects of the kpack";

/// The frames by their ordinals.
pub(super) struct Frames<'a>(Vec<&'a [u8]>);

impl<'a> Frames<'a> {
    pub(super) fn read(part: &'a [u8], limits: &Limits) -> Result<Frames<'a>, Error> {
        let count = limits.records(WHAT, bytes::u32_at(part, 0, WHAT)?.into())?;
        // Each has a size of four bytes at least, so that a count that fits the file is safe to believe.
        bytes::range(part, 4, count.saturating_mul(4), WHAT)?;
        let mut frames = Vec::with_capacity(usize::try_from(count).unwrap_or_default());
        let mut at = 4u64;
        for _ in 0..count {
            let size = u64::from(bytes::u32_at(part, at, WHAT)?);
            let start = at.saturating_add(4);
            frames.push(bytes::range(part, start, size, WHAT)?);
            at = start.saturating_add(size);
        }
        Ok(Frames(frames))
    }

    pub(super) fn get(&self, ordinal: usize) -> Option<&'a [u8]> {
        self.0.get(ordinal).copied()
    }
}
