//! Where frames go in the payload: each image's bytes once, each block once.

use std::collections::BTreeMap;

use super::layout::NONE;
use super::write::{NewBlock, NewImage, Placement, aligned, small, too_large};
use crate::codec::{FrameInfo, InBlock};
use crate::{Error, Hash128};

pub(super) struct Placed {
    /// Of the images with these hashes: the number of the first one, and what is recorded of all of them.
    by_hash: BTreeMap<Hash128, (u32, FrameInfo, u64)>,
    /// The blocks in the order of their numbers, and where their frames lie.
    pub(super) blocks: Vec<(NewBlock, u64)>,
    numbers: BTreeMap<Hash128, u32>,
    pub(super) frames: Vec<Placement>,
    pub(super) size: u64,
}

/// What an image's record says of its bytes.
pub(super) struct Stored {
    pub(super) frame: FrameInfo,
    pub(super) parent: u32,
    pub(super) block: u32,
    pub(super) offset: u64,
}

pub(super) fn place(
    images: &[(NewImage, FrameInfo)],
    blocks: &BTreeMap<Hash128, NewBlock>,
) -> Result<Placed, Error> {
    let mut placed = Placed {
        by_hash: BTreeMap::new(),
        blocks: Vec::new(),
        numbers: BTreeMap::new(),
        frames: Vec::new(),
        size: 0,
    };
    for (number, (_, frame)) in images.iter().enumerate() {
        if placed.by_hash.contains_key(&frame.hash) {
            continue;
        }
        let offset = match frame.block {
            Some(InBlock { hash, offset }) => {
                placed
                    .block(blocks.get(&hash).ok_or_else(|| Error::invalid("block of an image", offset))?)?;
                offset
            }
            None => placed.frame(frame.hash, frame.stored_size)?,
        };
        placed.by_hash.insert(frame.hash, (small(number)?, *frame, offset));
    }
    Ok(placed)
}

impl Placed {
    fn frame(&mut self, hash: Hash128, size: u64) -> Result<u64, Error> {
        let offset = aligned(self.size)?;
        self.size = offset.checked_add(size).ok_or_else(|| too_large(offset))?;
        self.frames.push(Placement { hash, offset, size });
        Ok(offset)
    }

    /// Blocks come in the order in which images first lie in them.
    fn block(&mut self, block: &NewBlock) -> Result<(), Error> {
        if !self.numbers.contains_key(&block.hash) {
            self.numbers.insert(block.hash, small(self.blocks.len())?);
            let offset = self.frame(block.hash, block.stored_size)?;
            self.blocks.push((*block, offset));
        }
        Ok(())
    }

    pub(super) fn stored(&self, frame: &FrameInfo) -> Result<Stored, Error> {
        let lost = || Error::invalid("parent or block of an image", frame.raw_size);
        let (_, frame, offset) = *self.by_hash.get(&frame.hash).ok_or_else(lost)?;
        let parent = match frame.parent {
            Some(parent) => self.by_hash.get(&parent).ok_or_else(lost)?.0,
            None => NONE,
        };
        let block = match frame.block {
            Some(block) => *self.numbers.get(&block.hash).ok_or_else(lost)?,
            None => NONE,
        };
        Ok(Stored { frame, parent, block, offset })
    }
}
