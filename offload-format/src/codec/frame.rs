//! Making frames.

use std::borrow::Cow;

use super::filter::Filter;
use super::method::{Codec, MAX_RELATED};
use super::patch as patches;
use crate::{Error, ErrorKind, Hash128};

/// What a pack records about a frame, or about an image within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameInfo {
    /// How the frame holds its image.
    pub codec: Codec,
    /// The filter applied before compression.
    pub filter: Filter,
    /// The image whose content the frame needs, by its hash.
    pub parent: Option<Hash128>,
    /// Where the image lies, if its frame is that of a block.
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

/// How to store an image.
#[derive(Clone, Copy, Debug)]
pub struct EncodeOptions<'p> {
    /// How the frame holds the content.
    pub codec: Codec,
    /// What the image goes through before.
    pub filter: Filter,
    /// The image whose content `codec` builds on.
    pub parent: Option<Parent<'p>>,
    /// The level of zstd, 1 to 22.
    pub level: i32,
}

/// An image that another one is stored relative to.
#[derive(Clone, Copy, Debug)]
pub struct Parent<'p> {
    /// Hash of the image.
    pub hash: Hash128,
    /// Its bytes after its own filter; see [`content_of`].
    pub content: &'p [u8],
}

impl FrameInfo {
    /// A frame without filter and parent, for a writer that kept it from an earlier [`encode`].
    pub fn new(codec: Codec, stored_size: u64, raw_size: u64, hash: Hash128) -> FrameInfo {
        FrameInfo { codec, filter: Filter::None, parent: None, block: None, stored_size, raw_size, hash }
    }

    /// The same after `filter`, relative to the image with the hash `parent`.
    #[must_use]
    pub fn related(self, filter: Filter, parent: Option<Hash128>) -> FrameInfo {
        FrameInfo { filter, parent, ..self }
    }

    /// The same within a block, as it is after its filter.
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
    /// What a pack records about it.
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

/// Compresses `image` with `codec`, alone; `level` is zstd's (1 to 22). An image that does not shrink is stored raw.
///
/// The same input gives the same bytes: libzstd is built from the sources that the crate `zstd-sys` pins.
///
/// # Errors
/// [`ErrorKind::Zstd`]; [`ErrorKind::Invalid`] for a codec that needs a parent; [`ErrorKind::Unsupported`] and
/// [`ErrorKind::Feature`] for one that this build does not write.
pub fn encode(image: &[u8], codec: Codec, level: i32) -> Result<Frame, Error> {
    encode_with(image, &EncodeOptions { codec, filter: Filter::None, parent: None, level })
}

/// Stores `image` as `options` says. Content that does not shrink, be it by a parent, is stored raw.
///
/// ```
/// use offload_format::codec::{Codec, Filter, Parent, EncodeOptions, encode_with};
/// use offload_format::Hash128;
///
/// let (parent, image) = (b"the quick brown fox".repeat(9), b"the quick Brown fox".repeat(9));
/// let related = Parent { hash: Hash128::of(&parent), content: &parent };
/// let options = EncodeOptions { codec: Codec::ZstdPrefix, filter: Filter::None, parent: Some(related), level: 19 };
/// let frame = encode_with(&image, &options)?;
/// assert_eq!(frame.info().parent, Some(Hash128::of(&parent)));
/// # Ok::<(), offload_format::Error>(())
/// ```
///
/// # Errors
/// As [`encode`]; [`ErrorKind::Invalid`] if the filter cannot do anything with the image, or codec and parent do not go
/// together; [`ErrorKind::TooLarge`] above [`MAX_RELATED`] with a parent.
pub fn encode_with(image: &[u8], options: &EncodeOptions<'_>) -> Result<Frame, Error> {
    encode_known(image, Hash128::of(image), options)
}

/// As [`encode_with`], for who knows the image's hash.
pub(crate) fn encode_known(image: &[u8], hash: Hash128, options: &EncodeOptions<'_>) -> Result<Frame, Error> {
    let &EncodeOptions { codec, filter, parent, level } = options;
    if codec.needs_parent() != parent.is_some() {
        return Err(Error::invalid("the parent of a frame with this codec", codec.to_u16().into()));
    }
    let content = content_of(image, filter)?;
    let bytes = match parent {
        Some(parent) => {
            within_reach(image)?;
            within_reach(parent.content)?;
            match codec {
                Codec::Patch => patches::diff(parent.content, &content, content.len()).ok_or_else(|| {
                    Error::invalid("the size of the parent of a patch", parent.content.len() as u64)
                })?,
                _ => codec.compress(&content, Some(parent.content), level)?,
            }
        }
        None => codec.compress(&content, None, level)?,
    };
    let raw = codec != Codec::Patch && bytes.len() >= content.len();
    let (codec, bytes) = if raw { (Codec::Raw, content.into_owned()) } else { (codec, bytes) };
    let parent = parent.map(|parent| parent.hash).filter(|_| !raw);
    let info = FrameInfo::new(codec, bytes.len() as u64, image.len() as u64, hash);
    Ok(Frame { info: info.related(filter, parent), bytes })
}

/// The frame of an image of `size` bytes that is `patch` on `parent`, without filters.
#[cfg(feature = "packer")]
pub(crate) fn patched(patch: Vec<u8>, size: u64, hash: Hash128, parent: Hash128) -> Frame {
    let info =
        FrameInfo::new(Codec::Patch, patch.len() as u64, size, hash).related(Filter::None, Some(parent));
    Frame { info, bytes: patch }
}

/// How many bytes zstd makes of `content` next to `prefix`.
#[cfg(feature = "packer")]
pub(crate) fn trial(content: &[u8], prefix: Option<&[u8]>, level: i32) -> Result<u64, Error> {
    let frame = Codec::Zstd.compress(content, prefix, level)?;
    Ok(frame.len().min(content.len()) as u64)
}

/// `image` after `filter`.
///
/// # Errors
/// [`ErrorKind::Invalid`] if the filter cannot do anything with the image.
pub fn content_of(image: &[u8], filter: Filter) -> Result<Cow<'_, [u8]>, Error> {
    match filter {
        Filter::None => Ok(Cow::Borrowed(image)),
        other => {
            let content = other.forward(image).map(Cow::Owned);
            content.ok_or_else(|| Error::invalid("filter of an image", other.to_u16().into()))
        }
    }
}

/// The patch that makes `content` of `parent`, both after their filters, if it is at most `limit` bytes.
pub fn patch(parent: &[u8], content: &[u8], limit: usize) -> Option<Vec<u8>> {
    patches::diff(parent, content, limit)
}

fn within_reach(bytes: &[u8]) -> Result<(), Error> {
    let size = bytes.len() as u64;
    if size > MAX_RELATED {
        return Err(ErrorKind::TooLarge { what: "a related image", size, limit: MAX_RELATED }.into());
    }
    Ok(())
}
