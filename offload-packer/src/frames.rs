//! Parallel encoding of all frames of a plan.

use std::collections::BTreeMap;

use super::budget::{Pool, Workers};
use super::encode::{block_need, image_need, in_block};
use super::need::MemoryNeed;
use super::plan::{Plan, Step};
use offload_format::codec::FrameInfo;
use offload_format::pack::NewBlock;
use offload_format::{Error, Hash128};

/// An encoder of frames with their storage, such as a cache.
pub trait FrameMaker: Sync {
    /// A reference to a stored frame.
    type Stored: Send;
    /// The error of encoding or storing a frame.
    type Error: From<Error> + Send;

    /// The size of an image in bytes.
    fn size(&self, image: Hash128) -> u64;

    /// The memory for encoding the frame of an image.
    fn need(&self, plan: &Plan, image: Hash128) -> MemoryNeed {
        image_need(plan, image, |image| self.size(image))
    }

    /// Encodes and stores the frame of an image.
    ///
    /// # Errors
    /// The image cannot be read, or its frame cannot be stored.
    fn image(&self, plan: &Plan, image: Hash128)
    -> Result<StoredFrame<FrameInfo, Self::Stored>, Self::Error>;

    /// Encodes and stores the frame of block number `block`.
    ///
    /// # Errors
    /// As [`FrameMaker::image`].
    fn block(&self, plan: &Plan, block: usize) -> Result<StoredFrame<NewBlock, Self::Stored>, Self::Error>;
}

/// A stored frame with its record.
#[derive(Clone, Debug)]
pub struct StoredFrame<I, S> {
    /// The record for the index.
    pub record: I,
    /// The reference to the bytes.
    pub stored: S,
}

/// The frames of a plan, each once.
#[derive(Debug)]
#[non_exhaustive]
pub struct Frames<S> {
    /// The record of each image, in blocks too.
    pub infos: BTreeMap<Hash128, FrameInfo>,
    /// The references to frames, by the hash of the image or of the block's content.
    pub stored: BTreeMap<Hash128, S>,
    /// The blocks, in the order of the plan.
    pub blocks: Vec<NewBlock>,
}

impl<S> Default for Frames<S> {
    fn default() -> Frames<S> {
        Frames { infos: BTreeMap::new(), stored: BTreeMap::new(), blocks: Vec::new() }
    }
}

/// Executes `plan` for `images` in their order: first images with frames of their own, then blocks.
///
/// # Errors
/// The first error of `maker`, in the order of the images.
pub fn make_frames<M: FrameMaker>(
    plan: &Plan,
    images: &[Hash128],
    maker: &M,
    workers: &dyn Workers,
) -> Result<Frames<M::Stored>, M::Error> {
    let pool = Pool::new(workers);
    let mut frames = Frames::default();
    let mut own_frames = Vec::new();
    for image in images {
        if let Some(Step::Frame { .. }) = plan.step(*image) {
            own_frames.push(*image);
        }
    }
    let encoded =
        pool.map_with_need(&own_frames, |image| maker.need(plan, *image), |image| maker.image(plan, *image))?;
    for StoredFrame { record, stored } in encoded {
        frames.infos.insert(record.hash, record);
        frames.stored.insert(record.hash, stored);
    }
    let numbers: Vec<usize> = (0..plan.blocks().len()).collect();
    let blocks = pool.map_with_need(
        &numbers,
        |number| block_need(plan, *number, |image| maker.size(image)),
        |number| maker.block(plan, *number),
    )?;
    for (number, StoredFrame { record: block, stored }) in numbers.into_iter().zip(blocks) {
        let members = in_block(plan, number, block.hash, |image| maker.size(image));
        frames.infos.extend(members.into_iter().map(|info| (info.hash, info)));
        frames.stored.insert(block.hash, stored);
        frames.blocks.push(block);
    }
    Ok(frames)
}
