//! Which frames of an old pack can be taken as they are.

use std::collections::{BTreeMap, BTreeSet};

use offload_format::codec::{FrameInfo, InBlock};
use offload_format::pack::{Block, Image, NewBlock, Pack};
use offload_format::{Error, Hash128};

/// Longer chains of parents are damage.
const MOST_ANCESTORS: usize = 4;

/// What can stay of one pack.
#[derive(Debug, Default)]
pub(super) struct Reuse {
    /// Images whose frame makes sense without those that are left out.
    frames: BTreeSet<Hash128>,
    /// Blocks of which at least half stays.
    blocks: BTreeMap<u32, Block>,
}

/// A frame that is copied: its place in the payload, its size, and what the new pack records.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) info: FrameInfo,
    pub(super) block: Option<NewBlock>,
    pub(super) offset: u64,
    pub(super) size: u64,
    /// Of the image, or of the block's content.
    pub(super) hash: Hash128,
}

impl Reuse {
    /// For a pack of `kept` images of `pack`; nobody may build on one of `shared`.
    pub(super) fn of(
        pack: &Pack<'_>,
        (kept, shared): (&[Image<'_>], &BTreeSet<Hash128>),
    ) -> Result<Reuse, Error> {
        let mut reuse = Reuse::default();
        let hashes: BTreeSet<Hash128> = kept.iter().map(|image| image.hash).collect();
        let hashes: BTreeSet<Hash128> = hashes.difference(shared).copied().collect();
        let mut held: BTreeMap<u32, BTreeMap<u64, u64>> = BTreeMap::new();
        for image in kept {
            if let Some(block) = image.block {
                held.entry(block).or_default().insert(image.offset, image.raw_size);
            } else if chain_stays(pack, image, &hashes)? {
                reuse.frames.insert(image.hash);
            }
        }
        for (index, sizes) in held {
            let block = pack.block(index)?;
            let stays = sizes.values().fold(0u64, |sum, size| sum.saturating_add(*size));
            if block.parent.is_none() && stays >= block.raw_size / 2 {
                reuse.blocks.insert(index, block);
            }
        }
        Ok(reuse)
    }

    /// How `image` is taken over, unless it has to be compressed anew.
    pub(super) fn take(&self, pack: &Pack<'_>, image: &Image<'_>) -> Result<Option<Taken>, Error> {
        let info = FrameInfo::new(image.codec, image.stored_size, (image.raw_size, image.hash));
        if let Some(index) = image.block {
            return Ok(self.blocks.get(&index).map(|block| in_block(block, (info, image))));
        }
        if !self.frames.contains(&image.hash) {
            return Ok(None);
        }
        let parent = image.parent.map(|parent| pack.image(parent)).transpose()?;
        let info = info.related(image.filter, parent.map(|parent| parent.hash));
        let (offset, size) = (image.offset, image.stored_size);
        Ok(Some(Taken { info, block: None, offset, size, hash: image.hash }))
    }
}

fn in_block(block: &Block, (info, image): (FrameInfo, &Image<'_>)) -> Taken {
    let (hash, size) = (block.hash, block.stored_size);
    let new = NewBlock { codec: block.codec, stored_size: size, raw_size: block.raw_size, hash };
    let info = info.related(image.filter, None).in_block(InBlock { hash, offset: image.offset });
    Taken { info, block: Some(new), offset: block.offset, size, hash }
}

fn chain_stays(pack: &Pack<'_>, image: &Image<'_>, kept: &BTreeSet<Hash128>) -> Result<bool, Error> {
    let mut next = image.parent;
    for _ in 0..MOST_ANCESTORS {
        let Some(index) = next else { return Ok(true) };
        let parent = pack.image(index)?;
        // What lies in a block is nobody's parent.
        if parent.block.is_some() || !kept.contains(&parent.hash) {
            return Ok(false);
        }
        next = parent.parent;
    }
    Ok(false)
}
