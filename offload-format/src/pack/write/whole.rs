//! Assembly of whole packs in memory.

use std::collections::BTreeMap;

use super::super::new::Placement;
use super::super::size::usize_of;
use super::{PackLayout, SharedLayout};
use crate::codec::Frame;
use crate::{Error, Hash128};

impl PackLayout {
    /// Assembles the whole pack in memory from `frames`, those of its images and blocks. Large packs are streamed instead.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] if no frame has the hash and size of a placement.
    pub fn with_frames<'f>(&self, frames: impl IntoIterator<Item = &'f Frame>) -> Result<Vec<u8>, Error> {
        fill(self.index.clone(), &self.frames, frames)
    }
}

impl SharedLayout {
    /// Assembles all packs in memory, one index after another and then `frames`; see [`PackLayout::with_frames`].
    ///
    /// # Errors
    /// As [`PackLayout::with_frames`].
    pub fn with_frames<'f>(&self, frames: impl IntoIterator<Item = &'f Frame>) -> Result<Vec<u8>, Error> {
        let indexes = self.indexes.iter().flat_map(|index| &index.bytes).copied().collect();
        fill(indexes, &self.frames, frames)
    }
}

/// Appends the frames at their placements, with zeros between them.
fn fill<'f>(
    mut bytes: Vec<u8>,
    placements: &[Placement],
    frames: impl IntoIterator<Item = &'f Frame>,
) -> Result<Vec<u8>, Error> {
    let mut by_key: BTreeMap<(Hash128, u64), &[u8]> = BTreeMap::new();
    for frame in frames {
        let info = frame.info();
        by_key.insert((info.hash, info.stored_size), frame.bytes());
    }
    let payload = bytes.len();
    for Placement { hash, offset, size } in placements {
        let frame = by_key.get(&(*hash, *size));
        let frame = frame.ok_or_else(|| Error::invalid("the size of a frame of the pack", *size))?;
        bytes.resize(payload.saturating_add(usize_of(*offset)?), 0);
        bytes.extend_from_slice(frame);
    }
    Ok(bytes)
}
