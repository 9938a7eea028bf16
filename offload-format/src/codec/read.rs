//! Decoding of images: delta chains of at most two ancestors, and blocks.

use std::borrow::Cow;
use std::ops::Range;

use super::decoder::{Expected, FrameDecoder};
use super::filter::Filter;
use super::method::{Codec, MAX_ANCESTORS, MAX_BLOCK, MAX_IMAGE, MAX_RELATED};
use super::threads::Threads;
use crate::pack::{Block, Image, Pack};
use crate::{Error, ErrorKind, Hash128};

/// Decodes `image` and verifies its size and hash.
///
/// Only the frames of the image and its ancestors are read, or those of its block.
///
/// # Errors
/// [`ErrorKind::Damaged`] if size or hash differ; [`ErrorKind::Unsupported`] for unknown codecs and filters;
/// [`ErrorKind::Feature`] for an LZMA image without the feature `archive`; [`ErrorKind::Invalid`] if an image has too many
/// ancestors; [`ErrorKind::TooLarge`] above [`MAX_IMAGE`].
pub fn decode(pack: &Pack<'_>, image: &Image<'_>) -> Result<Vec<u8>, Error> {
    decode_on(pack, image, Threads::ONE)
}

/// As [`decode`], in up to `threads`: the chunks of large images are decoded, and images are hashed, side by side.
///
/// # Errors
/// As [`decode`].
pub fn decode_on(pack: &Pack<'_>, image: &Image<'_>, threads: Threads) -> Result<Vec<u8>, Error> {
    decode_chain(pack, image, threads, |offset, size| pack.payload(offset, size).map(Cow::Borrowed))
}

/// As [`decode`], for a reader with the pack's index in memory; `fetch` reads a range of the payload by offset and size.
///
/// # Errors
/// As [`decode`], and those of `fetch`.
pub fn decode_with<'f, E: From<Error>>(
    pack: &Pack<'_>,
    image: &Image<'_>,
    fetch: impl FnMut(u64, u64) -> Result<Cow<'f, [u8]>, E>,
) -> Result<Vec<u8>, E> {
    decode_chain(pack, image, Threads::ONE, fetch)
}

fn decode_chain<'f, E: From<Error>>(
    pack: &Pack<'_>,
    image: &Image<'_>,
    threads: Threads,
    mut fetch: impl FnMut(u64, u64) -> Result<Cow<'f, [u8]>, E>,
) -> Result<Vec<u8>, E> {
    let chain = chain(pack, image)?;
    if let Some(number) = image.block {
        let mut content = decode_block_with(pack, number, fetch)?;
        let range = range_in_block(image, &content)?;
        content.truncate(range.end);
        content.drain(..range.start);
        content.shrink_to_fit();
        return Ok(unfilter(image, content, threads)?);
    }
    let mut decoder = FrameDecoder::new(threads);
    for link in chain.iter().rev() {
        let frame = fetch(link.offset, link.stored_size)?;
        decoder.step(link.codec, &frame, Expected { size: link.raw_size, what: "the frame of the image" })?;
    }
    Ok(unfilter(image, decoder.into_content(), threads)?)
}

/// Decodes block number `number` once for [`decode_in_block`] of several of its images.
///
/// # Errors
/// As [`decode_with`]; the hash of the block is not verified, those of its images are.
pub fn decode_block_with<'f, E: From<Error>>(
    pack: &Pack<'_>,
    number: u32,
    mut fetch: impl FnMut(u64, u64) -> Result<Cow<'f, [u8]>, E>,
) -> Result<Vec<u8>, E> {
    let mut decoder = FrameDecoder::new(Threads::ONE);
    for block in block_chain(pack, number)?.iter().rev() {
        let frame = fetch(block.offset, block.stored_size)?;
        decoder.step(block.codec, &frame, Expected { size: block.raw_size, what: "a block of images" })?;
    }
    Ok(decoder.into_content())
}

/// As [`decode`], for an image in the block with this content.
///
/// # Errors
/// As [`decode`].
pub fn decode_in_block(pack: &Pack<'_>, image: &Image<'_>, content: &[u8]) -> Result<Vec<u8>, Error> {
    check_parent(pack, image)?;
    let range = range_in_block(image, content)?;
    unfilter(image, content.get(range).unwrap_or_default().to_vec(), Threads::ONE)
}

/// Inverts the filter and verifies the image.
fn unfilter(image: &Image<'_>, content: Vec<u8>, threads: Threads) -> Result<Vec<u8>, Error> {
    let raw = image.filter.inverse(content)?;
    if raw.len() as u64 != image.raw_size || Hash128::digest_on(&raw, threads) != image.hash {
        return Err(ErrorKind::Damaged { what: "the image" }.into());
    }
    Ok(raw)
}

/// The range of an image in the content of its block.
fn range_in_block(image: &Image<'_>, content: &[u8]) -> Result<Range<usize>, Error> {
    let start = usize::try_from(image.offset).ok();
    let size = usize::try_from(image.raw_size).ok();
    if let Some((start, size)) = start.zip(size)
        && let Some(end) = start.checked_add(size)
        && end <= content.len()
    {
        return Ok(start..end);
    }
    Err(Error::invalid("the offset of an image in its block", image.offset))
}

/// Checks by the records alone whether this build can decode `image`.
///
/// # Errors
/// As [`decode`], except for damaged frames.
pub fn check(pack: &Pack<'_>, image: &Image<'_>) -> Result<(), Error> {
    image.filter.check()?;
    // The fast path: most images have no parent.
    if check_parent(pack, image)?.is_none() {
        return Ok(());
    }
    chain(pack, image).map(drop)
}

/// The delta chain of `image`: the image, its parent, and so on to the root.
fn chain<'p>(pack: &Pack<'p>, image: &Image<'p>) -> Result<Vec<Image<'p>>, Error> {
    let mut chain = vec![image.clone()];
    let mut frames = 0;
    let mut next = check_parent(pack, image)?;
    while let Some(index) = next {
        let parent = pack.image(index)?;
        frames += usize::from(parent.codec != Codec::Patch);
        // A patch does not count as a frame, but only a leaf may be one. This excludes cycles as well.
        let limit = MAX_ANCESTORS + usize::from(image.codec == Codec::Patch);
        if frames > limit || parent.codec == Codec::Patch || parent.block.is_some() {
            return Err(Error::invalid("the parent of an image", index.into()));
        }
        check_size(parent.raw_size, MAX_RELATED)?;
        next = check_parent(pack, &parent)?;
        chain.push(parent);
    }
    Ok(chain)
}

/// Checks the record of `image` and returns its parent.
fn check_parent(pack: &Pack<'_>, image: &Image<'_>) -> Result<Option<u32>, Error> {
    image.codec.check()?;
    check_size(image.raw_size, MAX_IMAGE)?;
    if let Some(block) = image.block {
        block_chain(pack, block)?;
        if image.codec != Codec::Raw {
            return Err(Error::invalid("codec of an image in a block", image.codec.to_u16().into()));
        }
        return Ok(None);
    }
    if !image.codec.needs_parent() {
        return Ok(None);
    }
    if image.parent.is_none() {
        return Err(Error::invalid("the parent of an image", crate::pack::layout::NONE.into()));
    }
    check_size(image.raw_size, MAX_RELATED)?;
    Ok(image.parent)
}

/// The chain of blocks from number `index` to its root.
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
    check_size(block.raw_size, MAX_BLOCK)?;
    match (block.filter, block.codec, block.parent) {
        (Filter::None, codec, None) if !codec.needs_parent() => Ok(()),
        (Filter::None, Codec::ZstdPrefix | Codec::LzmaPrefix, Some(_)) => Ok(()),
        (Filter::None, codec, _) => Err(Error::invalid("codec of a block", codec.to_u16().into())),
        (filter, _, _) => {
            Err(ErrorKind::Unsupported { what: "filter", value: filter.to_u16().into() }.into())
        }
    }
}

fn check_size(size: u64, limit: u64) -> Result<(), Error> {
    if size > limit {
        return Err(ErrorKind::TooLarge { what: "the image", size, limit }.into());
    }
    Ok(())
}
