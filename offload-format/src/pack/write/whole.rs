//! Packs that are whole in memory.

use std::collections::BTreeMap;

use super::super::new::Placement;
use super::super::size::usize_of;
use super::{PackLayout, SharedLayout};
use crate::codec::Frame;
use crate::{Error, Hash128};

impl PackLayout {
    /// The whole pack in memory, with `frames`, those of its images and blocks, where they belong. A pack of any size is
    /// streamed instead.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] if a frame is missing, or none has the size that was laid out.
    pub fn with_frames<'f>(&self, frames: impl IntoIterator<Item = &'f Frame>) -> Result<Vec<u8>, Error> {
        fill(self.index.clone(), &self.frames, frames)
    }
}

impl SharedLayout {
    /// All packs in memory, one index after another and then `frames`; see [`PackLayout::with_frames`].
    ///
    /// # Errors
    /// As [`PackLayout::with_frames`].
    pub fn with_frames<'f>(&self, frames: impl IntoIterator<Item = &'f Frame>) -> Result<Vec<u8>, Error> {
        let indexes = self.indexes.iter().flat_map(|index| &index.bytes).copied().collect();
        fill(indexes, &self.frames, frames)
    }
}

/// `bytes` and the frames behind them, with zeros between.
fn fill<'f>(
    mut bytes: Vec<u8>,
    placements: &[Placement],
    frames: impl IntoIterator<Item = &'f Frame>,
) -> Result<Vec<u8>, Error> {
    let key = |frame: &Frame| (frame.info().hash, frame.info().stored_size);
    let frames: BTreeMap<(Hash128, u64), &[u8]> =
        frames.into_iter().map(|frame| (key(frame), frame.bytes())).collect();
    let payload = bytes.len();
    for Placement { hash, offset, size } in placements {
        let frame = frames.get(&(*hash, *size));
        let frame = frame.ok_or_else(|| Error::invalid("the size of a frame of the pack", *size))?;
        bytes.resize(payload.saturating_add(usize_of(*offset)?), 0);
        bytes.extend_from_slice(frame);
    }
    Ok(bytes)
}
