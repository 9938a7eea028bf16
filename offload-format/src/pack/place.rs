//! Placement of frames in the payload. Each image and each block is stored once for all packs that share the payload.

use std::collections::BTreeMap;

use super::layout::NONE;
use super::new::{NewBlock, NewImage, Placement};
use super::size::{aligned, small, too_large};
use crate::codec::{FrameInfo, InBlock, MAX_ANCESTORS};
use crate::{Error, Hash128};

/// The longest chain of blocks: a block and its ancestors.
const MAX_BLOCK_CHAIN: usize = MAX_ANCESTORS + 1;

/// The layout of the payload.
#[derive(Default)]
pub(super) struct PayloadLayout {
    /// Images with the offset of their frames, by hash.
    by_hash: BTreeMap<Hash128, (FrameInfo, u64)>,
    blocks: BTreeMap<Hash128, BlockPlacement>,
    pub(super) frames: Vec<Placement>,
    pub(super) size: u64,
}

/// A block with the offset of its frame.
#[derive(Clone, Copy)]
pub(super) struct BlockPlacement {
    pub(super) block: NewBlock,
    pub(super) offset: u64,
}

/// The numbers of images and blocks in one of the packs.
#[derive(Default)]
pub(super) struct Numbering {
    images: BTreeMap<Hash128, u32>,
    block_numbers: BTreeMap<Hash128, u32>,
    /// The blocks in the order of their numbers.
    pub(super) blocks: Vec<BlockPlacement>,
    /// Parents in other packs; their numbers follow those of the pack's own images.
    pub(super) parents: Vec<FrameInfo>,
}

/// The storage fields of an image record.
#[derive(Clone, Copy)]
pub(super) struct StorageFields {
    pub(super) frame: FrameInfo,
    pub(super) parent: u32,
    pub(super) block: u32,
    pub(super) offset: u64,
}

impl PayloadLayout {
    /// Appends the frames of a pack.
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

    /// Places the block and its ancestors.
    fn block(&mut self, hash: Hash128, blocks: &BTreeMap<Hash128, NewBlock>) -> Result<(), Error> {
        let mut next = Some(hash);
        for _ in 0..MAX_BLOCK_CHAIN {
            let Some(hash) = next else { return Ok(()) };
            if self.blocks.contains_key(&hash) {
                return Ok(());
            }
            let block = blocks.get(&hash).ok_or_else(missing_reference)?;
            let offset = self.frame(hash, block.stored_size)?;
            self.blocks.insert(hash, BlockPlacement { block: *block, offset });
            next = block.parent;
        }
        if next.is_none() { Ok(()) } else { Err(missing_reference()) }
    }

    /// Numbers the images and blocks of a pack, with those that they depend on. Equal images share the number of the first
    /// one; blocks are in the order of first use.
    pub(super) fn number(&self, images: &[(NewImage, FrameInfo)]) -> Result<Numbering, Error> {
        let mut numbering = Numbering::default();
        for (number, (_, frame)) in images.iter().enumerate() {
            let number = small(number)?;
            numbering.images.entry(frame.hash).or_insert(number);
        }
        for (_, frame) in images {
            let mut next = Some(self.image(frame.hash)?.0);
            while let Some(frame) = next {
                if let Some(InBlock { hash, .. }) = frame.block {
                    self.number_block(&mut numbering, hash)?;
                }
                next = match frame.parent {
                    Some(parent) if !numbering.images.contains_key(&parent) => {
                        let parent = self.image(parent)?.0;
                        numbering.foreign_parent(images.len(), parent)?;
                        Some(parent)
                    }
                    _ => None,
                };
            }
        }
        Ok(numbering)
    }

    /// Numbers the block and its ancestors.
    fn number_block(&self, numbering: &mut Numbering, block: Hash128) -> Result<(), Error> {
        let mut next = Some(block);
        while let Some(hash) = next {
            let block = *self.blocks.get(&hash).ok_or_else(missing_reference)?;
            numbering.block(block)?;
            next = block.block.parent;
        }
        Ok(())
    }

    fn image(&self, image: Hash128) -> Result<(FrameInfo, u64), Error> {
        self.by_hash.get(&image).copied().ok_or_else(missing_reference)
    }

    /// The storage fields of the image in `frame`, with the numbers of one pack.
    pub(super) fn storage(&self, numbering: &Numbering, frame: &FrameInfo) -> Result<StorageFields, Error> {
        let (frame, offset) = self.image(frame.hash)?;
        let parent = lookup(&numbering.images, frame.parent)?;
        let block = lookup(&numbering.block_numbers, frame.block.map(|block| block.hash))?;
        Ok(StorageFields { frame, parent, block, offset })
    }
}

/// The number of what has `hash`, or [`NONE`] without one.
fn lookup(numbers: &BTreeMap<Hash128, u32>, hash: Option<Hash128>) -> Result<u32, Error> {
    match hash {
        Some(hash) => numbers.get(&hash).copied().ok_or_else(missing_reference),
        None => Ok(NONE),
    }
}

impl StorageFields {
    /// The same fields with `base` bytes before the first frame.
    pub(super) fn with_base(mut self, base: u64) -> Result<StorageFields, Error> {
        // In a block the offset is relative to the block's content.
        if self.block == NONE {
            self.offset = self.offset.checked_add(base).ok_or_else(|| too_large(base))?;
        }
        Ok(self)
    }
}

impl Numbering {
    fn block(&mut self, block: BlockPlacement) -> Result<(), Error> {
        if !self.block_numbers.contains_key(&block.block.hash) {
            self.block_numbers.insert(block.block.hash, small(self.blocks.len())?);
            self.blocks.push(block);
        }
        Ok(())
    }

    /// The number of the parent of `block`.
    pub(super) fn parent(&self, block: &NewBlock) -> Result<u32, Error> {
        lookup(&self.block_numbers, block.parent)
    }

    /// Numbers a parent in another pack, behind the `own` images of this one.
    fn foreign_parent(&mut self, own: usize, parent: FrameInfo) -> Result<(), Error> {
        self.images.insert(parent.hash, small(own.saturating_add(self.parents.len()))?);
        self.parents.push(parent);
        Ok(())
    }
}

fn missing_reference() -> Error {
    Error::invalid("the parent or block of an image", NONE.into())
}
