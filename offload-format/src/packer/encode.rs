//! Carrying a plan out.

use super::need::Need;
use super::pieces::PIECE;
use super::plan::{BlockPlan, Plan, Step};
use super::settings::MAX_WHOLE;
use super::source::{ImageSource, side_by_side};
use crate::codec::{
    self, Codec, Diff, EncodeOptions, Filter, Frame, FrameInfo, InBlock, Parent, STREAM_WINDOW, ZstdStream,
};
use crate::{Error, Hash128};

/// The frame of an image that has one of its own; in memory are the image and its parent, unless it is a patch.
///
/// # Errors
/// Those of `source` and of the codec; [`crate::ErrorKind::Invalid`] for an image that lies in a block, or that the plan
/// does not know.
pub fn encode_image<S: ImageSource>(plan: &Plan, source: &S, image: Hash128) -> Result<Frame, S::Error> {
    let Some(Step::Frame { codec, filter, parent }) = plan.step(image) else {
        return Err(Error::invalid("the image of a plan", 0).into());
    };
    if let (Codec::Patch, Filter::None, Some(parent)) = (codec, filter, parent) {
        return match plan.patch(image) {
            Some((size, patch)) => Ok(codec::patched(patch.clone(), *size, image, *parent)),
            None => patch(source, *parent, image),
        };
    }
    let base = match parent {
        Some(hash) => Some((*hash, content(source.read(*hash)?, plan.filter(*hash))?)),
        None => None,
    };
    let parent = base.as_ref().map(|(hash, content)| Parent { hash: *hash, content });
    let options = EncodeOptions { codec: *codec, filter: *filter, parent, level: plan.level() };
    // Who has the bytes by their hash need not hash them again.
    Ok(codec::encode_known(&source.read(image)?, image, &options)?)
}

/// The patch that makes `image` of `parent`; neither is in memory as a whole.
fn patch<S: ImageSource>(source: &S, parent: Hash128, image: Hash128) -> Result<Frame, S::Error> {
    let (mut diff, mut size) = (Diff::new(usize::MAX), 0u64);
    let whole = side_by_side(source, parent, &[image], &mut |_, parent, image| {
        size = size.saturating_add(image.len() as u64);
        diff.feed(parent, image)
    })?;
    if whole != [true] {
        return Err(Error::invalid("the size of the parent of a patch", size).into());
    }
    Ok(codec::patched(diff.finish(), size, image, parent))
}

/// What `filter` makes of an image; without one the image itself, of which there is no need to have two.
fn content(image: Vec<u8>, filter: Filter) -> Result<Vec<u8>, Error> {
    match filter {
        Filter::None => Ok(image),
        filter => Ok(codec::content_of(&image, filter)?.into_owned()),
    }
}

/// The frame of block number `block`; its hash and size are those of the block's content.
///
/// # Errors
/// Those of `source` and of the codec; [`crate::ErrorKind::Invalid`] for a block that does not exist.
pub fn encode_block<S: ImageSource>(plan: &Plan, source: &S, block: usize) -> Result<Frame, S::Error> {
    let found = planned(plan, block)?;
    let base = match found.parent {
        Some(parent) => {
            let parent = planned(plan, parent)?;
            Some(joined(source, &parent.members, parent.filter)?)
        }
        None => None,
    };
    let parent = base.as_ref().map(|content| Parent { hash: Hash128::of(content), content });
    let content = joined(source, &found.members, found.filter)?;
    let options = EncodeOptions { codec: found.codec, filter: Filter::None, parent, level: plan.level() };
    Ok(codec::encode_with(&content, &options)?)
}

fn planned(plan: &Plan, block: usize) -> Result<&BlockPlan, Error> {
    plan.blocks().get(block).ok_or_else(|| Error::invalid("the block of a plan", block as u64))
}

/// The content of a block: what `filter` makes of each image.
pub(super) fn joined<'i, S: ImageSource>(
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

/// How much memory it takes to compress an image that has a frame of its own; `size` gives an image's size.
pub fn image_need(plan: &Plan, image: Hash128, size: impl Fn(Hash128) -> u64) -> Need {
    let Some(Step::Frame { codec, filter, parent }) = plan.step(image) else { return Need::default() };
    let (image, parent) = match (codec, filter, parent) {
        (Codec::Raw, _, _) => return Need::default(),
        (Codec::Patch, Filter::None, _) => return patch_need(size(image)),
        _ if size(image) > MAX_WHOLE => (STREAM_WINDOW, 0),
        (_, _, parent) => (size(image), parent.map_or(0, &size)),
    };
    Need::encoding(*codec, plan.level(), image, parent)
}

/// Two pieces and the patch, which doubles while it grows.
fn patch_need(size: u64) -> Need {
    Need { images: size.min(2 * PIECE as u64).saturating_add(size / 8), tables: 0 }
}

/// The same for block number `block`.
pub fn block_need(plan: &Plan, block: usize, size: impl Fn(Hash128) -> u64) -> Need {
    let content =
        |block: &BlockPlan| block.members.iter().fold(0u64, |all, image| all.saturating_add(size(*image)));
    let Some(block) = plan.blocks().get(block) else { return Need::default() };
    let parent = block.parent.and_then(|parent| plan.blocks().get(parent));
    Need::encoding(block.codec, plan.level(), content(block), parent.map_or(0, content))
}

/// What is recorded of the images in block number `block`, whose content has the hash `content`; `size` gives an image's
/// size.
pub fn in_block(
    plan: &Plan,
    block: usize,
    content: Hash128,
    size: impl Fn(Hash128) -> u64,
) -> Vec<FrameInfo> {
    let Some(found) = plan.blocks().get(block) else { return Vec::new() };
    let mut offset = 0u64;
    let mut place = |image: &Hash128| {
        let size = size(*image);
        let at = InBlock { hash: content, offset };
        offset = offset.saturating_add(size);
        FrameInfo::new(found.codec, size, size, *image).related(found.filter, None).in_block(at)
    };
    found.members.iter().map(&mut place).collect()
}

/// The compressor of an image above [`MAX_WHOLE`](super::MAX_WHOLE), of `size` bytes.
///
/// # Errors
/// [`crate::ErrorKind::Zstd`].
pub fn stream(plan: &Plan, size: u64) -> Result<ZstdStream, Error> {
    ZstdStream::new(plan.level(), size)
}
