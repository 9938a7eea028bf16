//! From a pack's records to the bytes of an image, through at most two ancestors or a block.

use std::borrow::Cow;

use super::decoder::{Expected, FrameDecoder};
use super::filter::Filter;
use super::method::{Codec, MAX_ANCESTORS, MAX_BLOCK, MAX_IMAGE, MAX_RELATED};
use crate::pack::{Block, Image, Pack};
use crate::{Error, ErrorKind, Hash128};

/// The raw bytes of `image`, checked against its recorded size and hash.
///
/// Only the image's frame and those of its ancestors are looked at, or the block it lies in.
///
/// # Errors
/// [`ErrorKind::Damaged`] if the bytes are not those that were packed; [`ErrorKind::Unsupported`] for codecs and
/// filters of later releases; [`ErrorKind::Feature`] for `archive` packs in a program that does not read them;
/// [`ErrorKind::Invalid`] if an image has too many ancestors; [`ErrorKind::TooLarge`] above [`MAX_IMAGE`].
pub fn decode(pack: &Pack<'_>, image: &Image<'_>) -> Result<Vec<u8>, Error> {
    decode_with(pack, image, |offset, size| pack.payload(offset, size).map(Cow::Borrowed))
}

/// As [`decode`], for a reader that has the pack's index in memory and fetches parts of the payload itself: `fetch` is
/// given offset and size from the payload's start.
///
/// # Errors
/// As [`decode`], and those of `fetch`.
pub fn decode_with<'f, E: From<Error>>(
    pack: &Pack<'_>,
    image: &Image<'_>,
    mut fetch: impl FnMut(u64, u64) -> Result<Cow<'f, [u8]>, E>,
) -> Result<Vec<u8>, E> {
    let chain = chain(pack, image)?;
    if let Some(number) = image.block {
        let mut content = decode_block_with(pack, number, fetch)?;
        let Part { start, end } = Part::of(image, &content)?;
        content.truncate(end);
        content.drain(..start);
        content.shrink_to_fit();
        return Ok(finished(image, content)?);
    }
    let mut decoder = FrameDecoder::default();
    for link in chain.iter().rev() {
        let frame = fetch(link.offset, link.stored_size)?;
        decoder.step(link.codec, &frame, Expected { size: link.raw_size, what: "the frame of the image" })?;
    }
    Ok(finished(image, decoder.into_content())?)
}

/// The content of block number `number`, for [`decode_in_block`]: who wants many of its images decodes it once.
///
/// # Errors
/// As [`decode_with`], but for the block's hash, which is not compared: those of its images are.
pub fn decode_block_with<'f, E: From<Error>>(
    pack: &Pack<'_>,
    number: u32,
    mut fetch: impl FnMut(u64, u64) -> Result<Cow<'f, [u8]>, E>,
) -> Result<Vec<u8>, E> {
    let mut decoder = FrameDecoder::default();
    for block in block_chain(pack, number)?.iter().rev() {
        let frame = fetch(block.offset, block.stored_size)?;
        decoder.step(block.codec, &frame, Expected { size: block.raw_size, what: "a block of images" })?;
    }
    Ok(decoder.into_content())
}

/// As [`decode`], for an image in the block whose content this is.
///
/// # Errors
/// As [`decode`].
pub fn decode_in_block(pack: &Pack<'_>, image: &Image<'_>, content: &[u8]) -> Result<Vec<u8>, Error> {
    checked(pack, image)?;
    let Part { start, end } = Part::of(image, content)?;
    finished(image, content.get(start..end).unwrap_or_default().to_vec())
}

/// The image with this content, checked.
fn finished(image: &Image<'_>, content: Vec<u8>) -> Result<Vec<u8>, Error> {
    let raw = image.filter.inverse(content)?;
    if raw.len() as u64 != image.raw_size || Hash128::of(&raw) != image.hash {
        return Err(damaged("the image"));
    }
    Ok(raw)
}

/// Where an image lies in the content of its block.
struct Part {
    start: usize,
    end: usize,
}

impl Part {
    fn of(image: &Image<'_>, content: &[u8]) -> Result<Part, Error> {
        let part = || {
            let start = usize::try_from(image.offset).ok()?;
            let end = start.checked_add(usize::try_from(image.raw_size).ok()?)?;
            (end <= content.len()).then_some(Part { start, end })
        };
        part().ok_or_else(|| Error::invalid("the offset of an image in its block", image.offset))
    }
}

/// Whether this build of this release can decode `image`, by the records alone.
///
/// # Errors
/// As [`decode`], save for damage to frames.
pub fn check(pack: &Pack<'_>, image: &Image<'_>) -> Result<(), Error> {
    image.filter.check()?;
    match checked(pack, image)? {
        // Most images: nothing is collected.
        None => Ok(()),
        Some(_) => chain(pack, image).map(drop),
    }
}

/// `image`, its parent, and so on to one that stands for itself.
fn chain<'p>(pack: &Pack<'p>, image: &Image<'p>) -> Result<Vec<Image<'p>>, Error> {
    let mut chain = vec![image.clone()];
    let mut frames = 0;
    let mut next = checked(pack, image)?;
    while let Some(index) = next {
        let parent = pack.image(index)?;
        frames += usize::from(parent.codec != Codec::Patch);
        // A patch costs no frame, but only an image that nobody builds on may be one. That ends cycles as well.
        let most = MAX_ANCESTORS + usize::from(image.codec == Codec::Patch);
        if frames > most || parent.codec == Codec::Patch || parent.block.is_some() {
            return Err(Error::invalid("the parent of an image", index.into()));
        }
        within(parent.raw_size, MAX_RELATED)?;
        next = checked(pack, &parent)?;
        chain.push(parent);
    }
    Ok(chain)
}

/// The parent of `image`, whose record makes sense.
fn checked(pack: &Pack<'_>, image: &Image<'_>) -> Result<Option<u32>, Error> {
    image.codec.check()?;
    within(image.raw_size, MAX_IMAGE)?;
    if let Some(block) = image.block {
        block_chain(pack, block)?;
        return match image.codec {
            Codec::Raw => Ok(None),
            other => Err(Error::invalid("codec of an image in a block", other.to_u16().into())),
        };
    }
    match (image.codec.needs_parent(), image.parent) {
        (true, None) => Err(Error::invalid("the parent of an image", crate::pack::layout::NONE.into())),
        (true, parent) => within(image.raw_size, MAX_RELATED).map(|()| parent),
        (false, _) => Ok(None),
    }
}

/// The block with this number, its parent, and so on to one that stands for itself.
fn block_chain(pack: &Pack<'_>, index: u32) -> Result<Vec<Block>, Error> {
    let mut chain = Vec::new();
    let mut next = Some(index);
    while let Some(index) = next {
        if chain.len() > MAX_ANCESTORS {
            return Err(Error::invalid("the parent of a block", index.into()));
        }
        let block = pack.block(index)?;
        check_block(&block)?;
        next = block.parent;
        chain.push(block);
    }
    Ok(chain)
}

fn check_block(block: &Block) -> Result<(), Error> {
    block.codec.check()?;
    within(block.raw_size, MAX_BLOCK)?;
    match (block.filter, block.codec, block.parent) {
        (Filter::None, codec, None) if !codec.needs_parent() => Ok(()),
        (Filter::None, Codec::ZstdPrefix | Codec::LzmaPrefix, Some(_)) => Ok(()),
        (Filter::None, codec, _) => Err(Error::invalid("codec of a block", codec.to_u16().into())),
        (filter, _, _) => {
            Err(ErrorKind::Unsupported { what: "filter", value: filter.to_u16().into() }.into())
        }
    }
}

fn within(size: u64, limit: u64) -> Result<(), Error> {
    if size > limit {
        return Err(ErrorKind::TooLarge { what: "the image", size, limit }.into());
    }
    Ok(())
}

fn damaged(what: &'static str) -> Error {
    ErrorKind::Damaged { what }.into()
}
