//! All frames of a plan, made on several threads.

use std::collections::BTreeMap;

use super::budget::{Pool, Workers};
use super::encode::{block_need, image_need, in_block};
use super::need::Need;
use super::plan::{Plan, Step};
use crate::codec::FrameInfo;
use crate::pack::NewBlock;
use crate::{Error, Hash128};

/// How frames are made or found, and where they are kept.
pub trait FrameMaker: Sync {
    /// Where a frame is kept.
    type Stored: Send;
    /// What can go wrong.
    type Error: From<Error> + Send;

    /// The size of an image in bytes.
    fn size(&self, image: Hash128) -> u64;

    /// How much memory it takes to make the frame of an image.
    fn need(&self, plan: &Plan, image: Hash128) -> Need {
        image_need(plan, image, |image| self.size(image))
    }

    /// The frame of an image that has one of its own.
    ///
    /// # Errors
    /// The image cannot be read, or its frame cannot be kept.
    fn image(&self, plan: &Plan, image: Hash128)
    -> Result<StoredFrame<FrameInfo, Self::Stored>, Self::Error>;

    /// The frame of block number `block`.
    ///
    /// # Errors
    /// As [`FrameMaker::image`].
    fn block(&self, plan: &Plan, block: usize) -> Result<StoredFrame<NewBlock, Self::Stored>, Self::Error>;
}

/// A frame that is kept somewhere: what a pack records of it, and where it is.
#[derive(Clone, Debug)]
pub struct StoredFrame<I, S> {
    /// For the index.
    pub record: I,
    /// The bytes.
    pub stored: S,
}

/// The frames of a plan, each once.
#[derive(Debug)]
#[non_exhaustive]
pub struct Frames<S> {
    /// What is recorded of each image, also of those in blocks.
    pub infos: BTreeMap<Hash128, FrameInfo>,
    /// Where frames are kept, by the hash of the image or of the block's content.
    pub stored: BTreeMap<Hash128, S>,
    /// The blocks, in the order of the plan.
    pub blocks: Vec<NewBlock>,
}

impl<S> Default for Frames<S> {
    fn default() -> Frames<S> {
        Frames { infos: BTreeMap::new(), stored: BTreeMap::new(), blocks: Vec::new() }
    }
}

/// Carries out `plan` for `images`, in their order: those that it puts into frames of their own, then its blocks.
///
/// # Errors
/// The first one of `maker`, in the order of the images.
pub fn make_frames<M: FrameMaker>(
    plan: &Plan,
    images: &[Hash128],
    maker: &M,
    workers: &dyn Workers,
) -> Result<Frames<M::Stored>, M::Error> {
    let pool = Pool::new(workers);
    let mut frames = Frames::default();
    let alone = |image: &&Hash128| matches!(plan.step(**image), Some(Step::Frame { .. }));
    let alone: Vec<Hash128> = images.iter().filter(alone).copied().collect();
    let need = |image: &Hash128| maker.need(plan, *image);
    for made in pool.map_needing(&alone, need, |image| maker.image(plan, *image))? {
        let hash = made.record.hash;
        frames.infos.insert(hash, made.record);
        frames.stored.insert(hash, made.stored);
    }
    let numbers: Vec<usize> = (0..plan.blocks().len()).collect();
    let size = |image| maker.size(image);
    let need = |number: &usize| block_need(plan, *number, size);
    let blocks = pool.map_needing(&numbers, need, |number| maker.block(plan, *number))?;
    for (number, StoredFrame { record: block, stored }) in numbers.into_iter().zip(blocks) {
        let members = in_block(plan, number, block.hash, size);
        frames.infos.extend(members.into_iter().map(|info| (info.hash, info)));
        frames.stored.insert(block.hash, stored);
        frames.blocks.push(block);
    }
    Ok(frames)
}
