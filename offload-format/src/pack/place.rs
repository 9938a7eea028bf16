//! Where frames go in the payload: each image's bytes once, each block once, whatever the number of packs that share it.

use std::collections::BTreeMap;

use super::layout::NONE;
use super::new::{NewBlock, NewImage, Placement};
use super::size::{aligned, small, too_large};
use crate::codec::{FrameInfo, InBlock, MAX_ANCESTORS};
use crate::{Error, Hash128};

/// A block and its ancestors.
const MOST_BLOCKS: usize = MAX_ANCESTORS + 1;

/// The payload, and what is recorded of the images in it.
#[derive(Default)]
pub(super) struct Placed {
    /// Of the images with these hashes: what is recorded of all of them, and where the frame lies.
    by_hash: BTreeMap<Hash128, (FrameInfo, u64)>,
    blocks: BTreeMap<Hash128, PlacedBlock>,
    pub(super) frames: Vec<Placement>,
    pub(super) size: u64,
}

/// A block, and where its frame lies.
#[derive(Clone, Copy)]
pub(super) struct PlacedBlock {
    pub(super) block: NewBlock,
    pub(super) offset: u64,
}

/// How one of the packs numbers what it refers to.
#[derive(Default)]
pub(super) struct Numbers {
    images: BTreeMap<Hash128, u32>,
    block_numbers: BTreeMap<Hash128, u32>,
    /// The blocks in the order of their numbers.
    pub(super) blocks: Vec<PlacedBlock>,
    /// Parents in other packs; their numbers follow those of the pack's own images.
    pub(super) parents: Vec<FrameInfo>,
}

/// What an image's record says of its bytes.
#[derive(Clone, Copy)]
pub(super) struct Stored {
    pub(super) frame: FrameInfo,
    pub(super) parent: u32,
    pub(super) block: u32,
    pub(super) offset: u64,
}

impl Placed {
    /// Places the frames of a pack behind those that are there.
    pub(super) fn add(
        &mut self,
        images: &[(NewImage, FrameInfo)],
        blocks: &BTreeMap<Hash128, NewBlock>,
    ) -> Result<(), Error> {
        for (_, frame) in images {
            if self.by_hash.contains_key(&frame.hash) {
                continue;
            }
            let offset = match frame.block {
                Some(InBlock { hash, offset }) => {
                    self.block(hash, blocks)?;
                    offset
                }
                None => self.frame(frame.hash, frame.stored_size)?,
            };
            self.by_hash.insert(frame.hash, (*frame, offset));
        }
        Ok(())
    }

    fn frame(&mut self, hash: Hash128, size: u64) -> Result<u64, Error> {
        let offset = aligned(self.size)?;
        self.size = offset.checked_add(size).ok_or_else(|| too_large(offset))?;
        self.frames.push(Placement { hash, offset, size });
        Ok(offset)
    }

    /// Places the block and those that it builds on.
    fn block(&mut self, hash: Hash128, blocks: &BTreeMap<Hash128, NewBlock>) -> Result<(), Error> {
        let mut next = Some(hash);
        for _ in 0..MOST_BLOCKS {
            let Some(hash) = next.filter(|hash| !self.blocks.contains_key(hash)) else { return Ok(()) };
            let block = blocks.get(&hash).ok_or_else(lost)?;
            let offset = self.frame(hash, block.stored_size)?;
            self.blocks.insert(hash, PlacedBlock { block: *block, offset });
            next = block.parent;
        }
        if next.is_none() { Ok(()) } else { Err(lost()) }
    }

    /// Numbers what the pack of `images` refers to. Equal images go by the first one's number, and blocks come in the
    /// order in which images first lie in them.
    pub(super) fn numbers(&self, images: &[(NewImage, FrameInfo)]) -> Result<Numbers, Error> {
        let mut numbers = Numbers::default();
        for (number, (_, frame)) in images.iter().enumerate() {
            let number = small(number)?;
            numbers.images.entry(frame.hash).or_insert(number);
        }
        for (_, frame) in images {
            let mut next = Some(self.found(frame.hash)?.0);
            while let Some(frame) = next {
                if let Some(InBlock { hash, .. }) = frame.block {
                    self.number(&mut numbers, hash)?;
                }
                next = match frame.parent {
                    Some(parent) if !numbers.images.contains_key(&parent) => {
                        let parent = self.found(parent)?.0;
                        numbers.foreign_parent(images.len(), parent)?;
                        Some(parent)
                    }
                    _ => None,
                };
            }
        }
        Ok(numbers)
    }

    /// Numbers the block and those that it builds on.
    fn number(&self, numbers: &mut Numbers, block: Hash128) -> Result<(), Error> {
        let mut next = Some(block);
        while let Some(hash) = next {
            let block = *self.blocks.get(&hash).ok_or_else(lost)?;
            numbers.block(block)?;
            next = block.block.parent;
        }
        Ok(())
    }

    fn found(&self, image: Hash128) -> Result<(FrameInfo, u64), Error> {
        self.by_hash.get(&image).copied().ok_or_else(lost)
    }

    /// What the record of the image in `frame` says in the pack with these numbers.
    pub(super) fn stored(&self, numbers: &Numbers, frame: &FrameInfo) -> Result<Stored, Error> {
        let (frame, offset) = self.found(frame.hash)?;
        let number = |numbers: &BTreeMap<Hash128, u32>, hash: Option<Hash128>| match hash {
            Some(hash) => numbers.get(&hash).copied().ok_or_else(lost),
            None => Ok(NONE),
        };
        let parent = number(&numbers.images, frame.parent)?;
        let block = number(&numbers.block_numbers, frame.block.map(|block| block.hash))?;
        Ok(Stored { frame, parent, block, offset })
    }
}

impl Stored {
    /// The same with `base` bytes before the first frame.
    pub(super) fn behind(mut self, base: u64) -> Result<Stored, Error> {
        // In a block the offset counts from the block's content.
        if self.block == NONE {
            self.offset = self.offset.checked_add(base).ok_or_else(|| too_large(base))?;
        }
        Ok(self)
    }
}

impl Numbers {
    fn block(&mut self, block: PlacedBlock) -> Result<(), Error> {
        if !self.block_numbers.contains_key(&block.block.hash) {
            self.block_numbers.insert(block.block.hash, small(self.blocks.len())?);
            self.blocks.push(block);
        }
        Ok(())
    }

    /// The number of the block that `block` builds on.
    pub(super) fn parent(&self, block: &NewBlock) -> Result<u32, Error> {
        match block.parent {
            Some(parent) => self.block_numbers.get(&parent).copied().ok_or_else(lost),
            None => Ok(NONE),
        }
    }

    /// Numbers a parent in another pack, behind the `own` images of this one.
    fn foreign_parent(&mut self, own: usize, parent: FrameInfo) -> Result<(), Error> {
        self.images.insert(parent.hash, small(own.saturating_add(self.parents.len()))?);
        self.parents.push(parent);
        Ok(())
    }
}

fn lost() -> Error {
    Error::invalid("the parent or block of an image", NONE.into())
}
