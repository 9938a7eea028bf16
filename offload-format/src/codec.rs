//! Frames: one image compressed, and back, verified.
//!
//! An image goes through its [`Filter`] and then through its [`Codec`]. What lies between the two is its *content*:
//! what a parent lends to its children is content, so that the way back through a filter is gone once for each image.

pub(crate) mod columns;
mod descent;
mod elf_symbols;
mod filter;
mod frame;
#[cfg(feature = "archive")]
mod lzma;
pub(crate) mod memory;
mod patch;
mod read;
mod spirv_ids;
pub(crate) mod zstd;

pub(crate) use self::descent::inflate;
pub use self::filter::Filter;
pub use self::frame::{Frame, FrameInfo, InBlock, Parent, Recipe, content_of, encode, encode_with, patch};
#[cfg(feature = "packer")]
pub(crate) use self::frame::{encode_known, patched, trial};
#[cfg(feature = "packer")]
pub(crate) use self::patch::Diff;
pub use self::read::{check, decode, decode_with};
pub use self::zstd::ZstdStream;

use crate::open_enum;
use crate::{Error, ErrorKind};

open_enum! {
    /// How a frame holds its image.
    Codec {
        /// The content itself.
        Raw = 0 => "raw",
        /// A zstd frame with content size and checksum (RFC 8878).
        Zstd = 1 => "zstd",
        /// A zstd frame with the parent's content as prefix.
        ZstdPrefix = 2 => "zstd-prefix",
        /// The parent's content with bytes replaced.
        Patch = 3 => "patch",
        /// An LZMA stream, for downloads; needs the feature `archive`.
        Lzma = 4 => "lzma",
        /// An LZMA stream with the parent's content as preset dictionary; needs the feature `archive`.
        LzmaPrefix = 5 => "lzma-prefix",
    }
}

/// The level for release builds.
pub const RELEASE_LEVEL: i32 = 19;
/// The level for development builds.
pub const DEV_LEVEL: i32 = 1;
/// The window of a [`ZstdStream`], in bytes: that much of an image it holds.
pub const STREAM_WINDOW: u64 = 1 << zstd::STREAM_WINDOW_LOG;
/// The largest image that [`decode`] makes, in bytes.
pub const MAX_IMAGE: u64 = 4 << 30;
/// The largest block of images that is decoded, in bytes.
pub const MAX_BLOCK: u64 = 64 << 20;
/// The largest image that is stored relative to another one or lends its content, in bytes: two of them fit the
/// window that every decoder of zstd takes.
pub const MAX_RELATED: u64 = 64 << 20;
/// The largest dictionary of an LZMA stream that we write, in bytes; it takes eight times that to write one.
#[cfg(any(feature = "archive", feature = "packer"))]
pub(crate) const LZMA_REACH: u64 = 16 << 20;
/// The most frames that have to be decoded before an image's own; a patch needs none of its own.
pub const MAX_ANCESTORS: usize = 2;

impl Codec {
    /// Whether a frame says nothing without the content of its parent.
    pub fn needs_parent(self) -> bool {
        matches!(self, Codec::ZstdPrefix | Codec::Patch | Codec::LzmaPrefix)
    }

    /// Compresses `content`; `prefix` is the content of the parent.
    fn compress(self, content: &[u8], prefix: Option<&[u8]>, level: i32) -> Result<Vec<u8>, Error> {
        match self {
            Codec::Raw => Ok(content.to_vec()),
            Codec::Zstd | Codec::ZstdPrefix => zstd::compress(content, prefix, level),
            #[cfg(feature = "archive")]
            Codec::Lzma | Codec::LzmaPrefix => lzma::compress(content, prefix),
            other => Err(other.unsupported()),
        }
    }

    /// How many bytes of tables it takes to compress an image of `image` bytes next to `parent` ones, at most.
    #[cfg(feature = "packer")]
    pub(crate) fn tables(self, level: i32, (image, parent): (u64, u64)) -> u64 {
        match self {
            #[cfg(feature = "archive")]
            Codec::Lzma | Codec::LzmaPrefix => lzma::tables(image, parent),
            _ => zstd::tables(level, image, parent),
        }
    }

    /// Whether this build of this release reads the codec.
    fn check(self) -> Result<(), Error> {
        match self {
            Codec::Raw | Codec::Zstd | Codec::ZstdPrefix | Codec::Patch => Ok(()),
            #[cfg(feature = "archive")]
            Codec::Lzma | Codec::LzmaPrefix => Ok(()),
            other => Err(other.unsupported()),
        }
    }

    fn unsupported(self) -> Error {
        match self {
            Codec::Lzma | Codec::LzmaPrefix => {
                ErrorKind::Feature { what: "an image compressed for download", feature: "archive" }.into()
            }
            other => ErrorKind::Unsupported { what: "codec", value: other.to_u16().into() }.into(),
        }
    }
}
