//! Execution of a plan: encoding of images and blocks.

use super::need::MemoryNeed;
use super::pieces::PIECE;
use super::plan::{BlockPlan, Plan, Step};
use super::settings::{MAX_LEVEL, MAX_WHOLE};
use super::source::{ImageSource, side_by_side};
use offload_format::codec::{
    self, Codec, EncodeOptions, Filter, Frame, FrameInfo, InBlock, Parent, PatchBuilder, RELEASE_LEVEL,
    STREAM_WINDOW, ZstdStream,
};
use offload_format::{Error, Hash128};

/// Encodes the frame of an image. The image and its parent are in memory, unless it is a patch.
///
/// # Errors
/// Those of `source` and of the codec; [`ErrorKind::Invalid`](offload_format::ErrorKind::Invalid) for an image in a block, or one that is not in the
/// plan.
pub fn encode_image<S: ImageSource>(plan: &Plan, source: &S, image: Hash128) -> Result<Frame, S::Error> {
    let Some(Step::Frame { codec, filter, parent }) = plan.step(image) else {
        return Err(Error::invalid("the image of a plan", 0).into());
    };
    if let (Codec::Patch, Filter::None, Some(parent)) = (codec, filter, parent) {
        return match plan.patch(image) {
            Some((size, patch)) => Ok(codec::patch_frame(patch.clone(), *size, image, *parent)),
            None => patch(source, *parent, image),
        };
    }
    let base = match parent {
        Some(hash) => Some((*hash, content(source.read(*hash)?, plan.filter(*hash))?)),
        None => None,
    };
    let parent = base.as_ref().map(|(hash, content)| Parent { hash: *hash, content });
    let bytes = source.read(image)?;
    let level = frame_level(plan.level(), bytes.len());
    let options = EncodeOptions { codec: *codec, filter: *filter, parent, level };
    // The source finds bytes by their hash, which is not computed again.
    Ok(codec::encode_with_hash(&bytes, image, &options)?)
}

/// The patch from `parent` to `image`; neither is in memory as a whole.
fn patch<S: ImageSource>(source: &S, parent: Hash128, image: Hash128) -> Result<Frame, S::Error> {
    let mut diff = PatchBuilder::new(usize::MAX);
    let mut size = 0u64;
    let whole = side_by_side(source, parent, &[image], &mut |_, parent, image| {
        size = size.saturating_add(image.len() as u64);
        diff.feed(parent, image)
    })?;
    if whole != [true] {
        return Err(Error::invalid("the size of the parent of a patch", size).into());
    }
    Ok(codec::patch_frame(diff.finish(), size, image, parent))
}

/// The content of an image; without a filter the image itself, without a copy.
fn content(image: Vec<u8>, filter: Filter) -> Result<Vec<u8>, Error> {
    match filter {
        Filter::None => Ok(image),
        filter => Ok(codec::content_of(&image, filter)?.into_owned()),
    }
}

/// Encodes the frame of block number `block`; its hash and size are those of the block's content.
///
/// # Errors
/// Those of `source` and of the codec; [`ErrorKind::Invalid`](offload_format::ErrorKind::Invalid) for a block that does not exist.
pub fn encode_block<S: ImageSource>(plan: &Plan, source: &S, block: usize) -> Result<Frame, S::Error> {
    let block = block_plan(plan, block)?;
    let base = match block.parent {
        Some(parent) => {
            let parent = block_plan(plan, parent)?;
            Some(join_contents(source, &parent.members, parent.filter)?)
        }
        None => None,
    };
    let parent = base.as_ref().map(|content| Parent { hash: Hash128::digest(content), content });
    let content = join_contents(source, &block.members, block.filter)?;
    let level = frame_level(plan.level(), content.len());
    let options = EncodeOptions { codec: block.codec, filter: Filter::None, parent, level };
    Ok(codec::encode_with(&content, &options)?)
}

/// The largest content that is searched as thoroughly as zstd can: it takes less than a second.
const THOROUGH_CONTENT: usize = 1 << 20;

/// The level of zstd for a frame whose content has `size` bytes.
pub(super) fn frame_level(level: i32, size: usize) -> i32 {
    if level >= RELEASE_LEVEL && size <= THOROUGH_CONTENT { MAX_LEVEL } else { level }
}

fn block_plan(plan: &Plan, block: usize) -> Result<&BlockPlan, Error> {
    plan.blocks().get(block).ok_or_else(|| Error::invalid("the block of a plan", block as u64))
}

/// The content of a block: the contents of its images, one after another.
pub(super) fn join_contents<'i, S: ImageSource>(
    source: &S,
    images: impl IntoIterator<Item = &'i Hash128>,
    filter: Filter,
) -> Result<Vec<u8>, S::Error> {
    let mut content = Vec::new();
    for image in images {
        content.extend_from_slice(&codec::content_of(&source.read(*image)?, filter)?);
    }
    Ok(content)
}

/// The memory for encoding the frame of an image; `size` returns the size of an image.
pub fn image_need(plan: &Plan, image: Hash128, size: impl Fn(Hash128) -> u64) -> MemoryNeed {
    let Some(Step::Frame { codec, filter, parent }) = plan.step(image) else {
        return MemoryNeed::default();
    };
    let image_size = size(image);
    match (codec, filter) {
        (Codec::Raw, _) => MemoryNeed::default(),
        (Codec::Patch, Filter::None) => patch_need(image_size),
        _ if image_size > MAX_WHOLE => MemoryNeed::for_encoding(*codec, plan.level(), STREAM_WINDOW, 0),
        _ => MemoryNeed::for_encoding(*codec, plan.level(), image_size, parent.map_or(0, size)),
    }
}

/// Two pieces and the patch, whose buffer doubles while it grows.
fn patch_need(size: u64) -> MemoryNeed {
    MemoryNeed { images: size.min(2 * PIECE as u64).saturating_add(size / 8), tables: 0 }
}

/// The memory for encoding block number `block`; `size` returns the size of an image.
pub fn block_need(plan: &Plan, block: usize, size: impl Fn(Hash128) -> u64) -> MemoryNeed {
    let Some(block) = plan.blocks().get(block) else { return MemoryNeed::default() };
    let parent = block.parent.and_then(|parent| plan.blocks().get(parent));
    let parent_size = parent.map_or(0, |parent| content_size(parent, &size));
    MemoryNeed::for_encoding(block.codec, plan.level(), content_size(block, &size), parent_size)
}

fn content_size(block: &BlockPlan, size: impl Fn(Hash128) -> u64) -> u64 {
    block.members.iter().map(|image| size(*image)).fold(0, u64::saturating_add)
}

/// The records of the images in block number `block`, whose content has the hash `content`; `size` returns the size of an
/// image.
pub fn in_block(
    plan: &Plan,
    block: usize,
    content: Hash128,
    size: impl Fn(Hash128) -> u64,
) -> Vec<FrameInfo> {
    let Some(block) = plan.blocks().get(block) else { return Vec::new() };
    let mut offset = 0u64;
    let mut records = Vec::new();
    for image in &block.members {
        let size = size(*image);
        let record = FrameInfo::new(block.codec, size, size, *image).related(block.filter, None);
        records.push(record.in_block(InBlock { hash: content, offset }));
        offset = offset.saturating_add(size);
    }
    records
}

/// The compressor of an image above [`MAX_WHOLE`](super::MAX_WHOLE), of `size` bytes.
///
/// # Errors
/// [`ErrorKind::Compression`](offload_format::ErrorKind::Compression).
pub fn stream(plan: &Plan, size: u64) -> Result<ZstdStream, Error> {
    ZstdStream::new(plan.level(), size)
}
