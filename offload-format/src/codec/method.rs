//! Codecs of frames and their limits.

use crate::open_enum;
use crate::{Error, ErrorKind};

open_enum! {
    /// The codec of a frame.
    Codec {
        /// The uncompressed content.
        Raw = 0 => "raw",
        /// A zstd frame with content size and checksum (RFC 8878).
        Zstd = 1 => "zstd",
        /// A zstd frame with the parent's content as prefix.
        ZstdPrefix = 2 => "zstd-prefix",
        /// A patch of the parent's content.
        Patch = 3 => "patch",
        /// An LZMA stream, for downloads; needs the feature `archive`.
        Lzma = 4 => "lzma",
        /// An LZMA stream with the parent's content as preset dictionary; needs the feature `archive`.
        LzmaPrefix = 5 => "lzma-prefix",
        /// A byte code of matches, for pages of an index alone.
        Lz = 6 => "lz",
        /// A zstd frame with the [preset dictionary](super::PRESET) as prefix.
        ZstdPreset = 7 => "zstd-preset",
        /// An LZMA stream with the preset dictionary; needs the feature `archive`.
        LzmaPreset = 8 => "lzma-preset",
        /// zstd frames of the chunks of a large image, of which all but the first have the first as prefix.
        ZstdChunks = 9 => "zstd-chunks",
    }
}

/// The level of the mode `balanced`, for release builds.
pub const RELEASE_LEVEL: i32 = 19;
/// The level of the mode `fast`.
pub const DEV_LEVEL: i32 = 1;
/// The window of a [`ZstdStream`](super::ZstdStream) in bytes: the part of an image that it keeps in memory.
pub const STREAM_WINDOW: u64 = 1 << STREAM_WINDOW_LOG;
/// The binary logarithm of the window. A larger one gains little, and takes its size from the memory for packing.
pub(super) const STREAM_WINDOW_LOG: u32 = 24;
/// The largest image that [`decode`](super::decode) returns, in bytes.
pub const MAX_IMAGE: u64 = 4 << 30;
/// The largest block of images that is decoded, in bytes.
pub const MAX_BLOCK: u64 = 64 << 20;
/// The largest image in a delta chain, in bytes: two of them fit into the window that every zstd decoder accepts.
pub const MAX_RELATED: u64 = 64 << 20;
/// The largest dictionary of an LZMA stream that we write, in bytes; the encoder needs eight times its size.
#[cfg(any(feature = "archive", feature = "write"))]
pub const LZMA_REACH: u64 = 16 << 20;
/// The size from which content is compressed in chunks, in bytes.
const MIN_CHUNKED: u64 = 16 << 20;
/// The length limit of delta chains: the most frames decoded before an image's own. Patches do not count.
pub const MAX_ANCESTORS: usize = 2;
/// The last level whose match finder is a single hash table, by default sized for half a megabyte.
pub(super) const ONE_TABLE_LEVEL: i32 = 2;

impl Codec {
    /// Whether decoding requires the content of a parent.
    pub fn needs_parent(self) -> bool {
        matches!(self, Codec::ZstdPrefix | Codec::Patch | Codec::LzmaPrefix)
    }

    /// The codec of the frame that this one makes of `size` bytes without a parent: zstd compresses large content in
    /// chunks. Levels 1 and 2, whose matches are near, do not.
    pub fn for_content(self, size: u64, level: i32) -> Codec {
        if self == Codec::Zstd && size >= MIN_CHUNKED && level > ONE_TABLE_LEVEL {
            return Codec::ZstdChunks;
        }
        self
    }

    /// Fails if this build does not support the codec.
    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            Codec::Raw | Codec::Zstd | Codec::ZstdPrefix | Codec::ZstdPreset | Codec::ZstdChunks => Ok(()),
            Codec::Patch => Ok(()),
            #[cfg(feature = "archive")]
            Codec::Lzma | Codec::LzmaPrefix | Codec::LzmaPreset => Ok(()),
            other => Err(other.unsupported()),
        }
    }

    pub(super) fn unsupported(self) -> Error {
        match self {
            Codec::Lzma | Codec::LzmaPrefix | Codec::LzmaPreset => {
                ErrorKind::Feature { what: "an image compressed for download", feature: "archive" }.into()
            }
            Codec::Zstd | Codec::ZstdPrefix | Codec::ZstdPreset | Codec::ZstdChunks => {
                ErrorKind::Feature { what: "an image compressed with zstd", feature: "libzstd" }.into()
            }
            other => ErrorKind::Unsupported { what: "codec", value: other.to_u16().into() }.into(),
        }
    }
}
