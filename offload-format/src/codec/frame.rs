//! Encoding of frames.

use std::borrow::Cow;

use super::filter::Filter;
use super::method::{Codec, MAX_RELATED};
use super::patch as patches;
use crate::{Error, ErrorKind, Hash128};

/// The record of an image's frame, or of an image within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameInfo {
    /// The codec.
    pub codec: Codec,
    /// The filter applied before compression.
    pub filter: Filter,
    /// The parent image, by its hash.
    pub parent: Option<Hash128>,
    /// The place within a block, if the image has no frame of its own.
    pub block: Option<InBlock>,
    /// Size of the frame.
    pub stored_size: u64,
    /// Size of the image.
    pub raw_size: u64,
    /// Hash of the image.
    pub hash: Hash128,
}

/// A place within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InBlock {
    /// Hash of the block's content.
    pub hash: Hash128,
    /// Offset within the block's content, in bytes.
    pub offset: u64,
}

/// Options for encoding an image.
#[derive(Clone, Copy, Debug)]
pub struct EncodeOptions<'p> {
    /// The codec.
    pub codec: Codec,
    /// The filter applied before compression.
    pub filter: Filter,
    /// The parent image, for a codec that needs one.
    pub parent: Option<Parent<'p>>,
    /// The level of zstd, 1 to 22.
    pub level: i32,
}

/// The parent of an image in a delta chain.
#[derive(Clone, Copy, Debug)]
pub struct Parent<'p> {
    /// Hash of the image.
    pub hash: Hash128,
    /// Its content, the output of its own filter; see [`content_of`].
    pub content: &'p [u8],
}

impl FrameInfo {
    /// The record of a frame without filter and parent, for a writer that cached the output of [`encode`].
    pub fn new(codec: Codec, stored_size: u64, raw_size: u64, hash: Hash128) -> FrameInfo {
        FrameInfo { codec, filter: Filter::None, parent: None, block: None, stored_size, raw_size, hash }
    }

    /// The same after `filter`, relative to the image with the hash `parent`.
    #[must_use]
    pub fn related(self, filter: Filter, parent: Option<Hash128>) -> FrameInfo {
        FrameInfo { filter, parent, ..self }
    }

    /// The same within a block.
    #[must_use]
    pub fn in_block(self, block: InBlock) -> FrameInfo {
        let stored_size = self.raw_size;
        FrameInfo { codec: Codec::Raw, parent: None, block: Some(block), stored_size, ..self }
    }
}

/// A frame in memory.
#[derive(Clone, Debug)]
pub struct Frame {
    info: FrameInfo,
    bytes: Vec<u8>,
}

impl Frame {
    /// Its record.
    pub fn info(&self) -> FrameInfo {
        self.info
    }

    /// The stored bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The stored bytes, without a copy.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Compresses `image` with `codec`, without a parent; `level` is zstd's (1 to 22). An image that does not shrink is stored
/// raw; of one of 16 MiB or more [`Codec::Zstd`] makes [`Codec::ZstdChunks`] from level 3 on.
///
/// The same input gives the same bytes: libzstd is built from the sources that the crate `zstd-sys` pins.
///
/// # Errors
/// [`ErrorKind::Compression`]; [`ErrorKind::Invalid`] for a codec that needs a parent; [`ErrorKind::Unsupported`] and
/// [`ErrorKind::Feature`] for one that this build does not write.
pub fn encode(image: &[u8], codec: Codec, level: i32) -> Result<Frame, Error> {
    encode_with(image, &EncodeOptions { codec, filter: Filter::None, parent: None, level })
}

/// Compresses `image` with `options`. Content that does not shrink, even with a parent, is stored raw.
///
/// ```
/// use offload_format::codec::{Codec, Filter, Parent, EncodeOptions, encode_with};
/// use offload_format::Hash128;
///
/// let parent = b"the quick brown fox".repeat(9);
/// let image = b"the quick Brown fox".repeat(9);
/// let related = Parent { hash: Hash128::digest(&parent), content: &parent };
/// let options = EncodeOptions { codec: Codec::ZstdPrefix, filter: Filter::None, parent: Some(related), level: 19 };
/// let frame = encode_with(&image, &options)?;
/// assert_eq!(frame.info().parent, Some(Hash128::digest(&parent)));
/// # Ok::<(), offload_format::Error>(())
/// ```
///
/// # Errors
/// As [`encode`]; [`ErrorKind::Invalid`] if the filter does not apply to the image, or the codec does not match the
/// presence of a parent; [`ErrorKind::TooLarge`] above [`MAX_RELATED`] with a parent.
pub fn encode_with(image: &[u8], options: &EncodeOptions<'_>) -> Result<Frame, Error> {
    encode_with_hash(image, Hash128::digest(image), options)
}

/// As [`encode_with`], for an image with a known hash.
///
/// # Errors
/// As [`encode_with`].
pub fn encode_with_hash(image: &[u8], hash: Hash128, options: &EncodeOptions<'_>) -> Result<Frame, Error> {
    let &EncodeOptions { mut codec, filter, parent, level } = options;
    if codec.needs_parent() != parent.is_some() {
        return Err(Error::invalid("the parent of a frame with this codec", codec.to_u16().into()));
    }
    let content = content_of(image, filter)?;
    let bytes = match parent {
        Some(parent) => {
            check_related(image)?;
            check_related(parent.content)?;
            match codec {
                Codec::Patch => patches::diff(parent.content, &content, content.len()).ok_or_else(|| {
                    Error::invalid("the size of the parent of a patch", parent.content.len() as u64)
                })?,
                _ => codec.compress(&content, Some(parent.content), level)?,
            }
        }
        None => {
            codec = codec.for_content(content.len() as u64, level);
            codec.compress(&content, None, level)?
        }
    };
    if codec != Codec::Patch && bytes.len() >= content.len() {
        let info = FrameInfo::new(Codec::Raw, content.len() as u64, image.len() as u64, hash);
        return Ok(Frame { info: info.related(filter, None), bytes: content.into_owned() });
    }
    let info = FrameInfo::new(codec, bytes.len() as u64, image.len() as u64, hash);
    let info = info.related(filter, parent.map(|parent| parent.hash));
    Ok(Frame { info, bytes })
}

/// The frame of an image of `size` bytes as a patch of `parent`, without filters.
#[cfg(feature = "write")]
pub fn patch_frame(patch: Vec<u8>, size: u64, hash: Hash128, parent: Hash128) -> Frame {
    let info =
        FrameInfo::new(Codec::Patch, patch.len() as u64, size, hash).related(Filter::None, Some(parent));
    Frame { info, bytes: patch }
}

/// Trial compression: the size of a zstd frame of `content` with `prefix`, at most that of `content`.
///
/// # Errors
/// [`ErrorKind::Compression`].
#[cfg(feature = "write")]
pub fn trial_size(content: &[u8], prefix: Option<&[u8]>, level: i32) -> Result<u64, Error> {
    let frame = Codec::Zstd.compress(content, prefix, level)?;
    Ok(frame.len().min(content.len()) as u64)
}

/// The content of an image: the output of `filter`.
///
/// # Errors
/// [`ErrorKind::Invalid`] if the filter does not apply to the image.
pub fn content_of(image: &[u8], filter: Filter) -> Result<Cow<'_, [u8]>, Error> {
    if filter == Filter::None {
        return Ok(Cow::Borrowed(image));
    }
    match filter.forward(image) {
        Some(content) => Ok(Cow::Owned(content)),
        None => Err(Error::invalid("filter of an image", filter.to_u16().into())),
    }
}

/// The patch from `parent` to `content`, if it is at most `limit` bytes.
pub fn patch(parent: &[u8], content: &[u8], limit: usize) -> Option<Vec<u8>> {
    patches::diff(parent, content, limit)
}

fn check_related(bytes: &[u8]) -> Result<(), Error> {
    let size = bytes.len() as u64;
    if size > MAX_RELATED {
        return Err(ErrorKind::TooLarge { what: "a related image", size, limit: MAX_RELATED }.into());
    }
    Ok(())
}
