//! The ways in which a frame holds its image, and their limits.

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

/// The level of the mode `balanced`, for release builds.
pub const RELEASE_LEVEL: i32 = 19;
/// The level of the mode `fast`.
pub const DEV_LEVEL: i32 = 1;
/// The window of a [`ZstdStream`](super::ZstdStream), in bytes: so much of an image it keeps in memory.
pub const STREAM_WINDOW: u64 = 1 << STREAM_WINDOW_LOG;
/// The same as a power of two. Larger ones find a little more and take their size of every packer's memory.
pub(super) const STREAM_WINDOW_LOG: u32 = 24;
/// The largest image that [`decode`](super::decode) makes, in bytes.
pub const MAX_IMAGE: u64 = 4 << 30;
/// The largest block of images that is decoded, in bytes.
pub const MAX_BLOCK: u64 = 64 << 20;
/// The largest image that is stored relative to another one or is a parent, in bytes: two of them fit the
/// window that every decoder of zstd takes.
pub const MAX_RELATED: u64 = 64 << 20;
/// The largest dictionary of an LZMA stream that we write, in bytes; it takes eight times that to write one.
#[cfg(any(feature = "archive", feature = "packer"))]
pub(crate) const LZMA_REACH: u64 = 16 << 20;
/// The most frames that have to be decoded before an image's own; a patch needs none of its own.
pub const MAX_ANCESTORS: usize = 2;
/// Up to this level matches are looked for in one table of hashes, which is usually as large as half a megabyte wants.
pub(super) const ONE_TABLE_LEVEL: i32 = 2;

impl Codec {
    /// Whether a frame says nothing without the content of its parent.
    pub fn needs_parent(self) -> bool {
        matches!(self, Codec::ZstdPrefix | Codec::Patch | Codec::LzmaPrefix)
    }

    /// Whether this build of this release reads the codec.
    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            Codec::Raw | Codec::Zstd | Codec::ZstdPrefix | Codec::Patch => Ok(()),
            #[cfg(feature = "archive")]
            Codec::Lzma | Codec::LzmaPrefix => Ok(()),
            other => Err(other.unsupported()),
        }
    }

    pub(super) fn unsupported(self) -> Error {
        match self {
            Codec::Lzma | Codec::LzmaPrefix => {
                ErrorKind::Feature { what: "an image compressed for download", feature: "archive" }.into()
            }
            other => ErrorKind::Unsupported { what: "codec", value: other.to_u16().into() }.into(),
        }
    }
}
