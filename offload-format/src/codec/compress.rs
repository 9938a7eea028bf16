//! Compression and decompression by codec.

#[cfg(any(feature = "libzstd", feature = "pure", target_family = "wasm"))]
use super::chunks;
use super::lz;
#[cfg(feature = "archive")]
use super::lzma;
use super::memory::Output;
use super::method::Codec;
#[cfg(any(feature = "libzstd", feature = "pure", feature = "archive", target_family = "wasm"))]
use super::preset::PRESET;
use super::threads::Threads;
#[cfg(all(feature = "libzstd", not(target_family = "wasm")))]
use super::zstd;
// zstd's own library is faster: where a build has both decoders, it decodes.
#[cfg(all(feature = "libzstd", not(target_family = "wasm")))]
use super::zstd::decompress as decompress_zstd;
#[cfg(any(target_family = "wasm", all(feature = "pure", not(feature = "libzstd"))))]
use super::zstd_in_rust::decompress as decompress_zstd;
use crate::Error;

impl Codec {
    /// Compresses `content`; `prefix` is the content of the parent.
    pub(super) fn compress(
        self,
        content: &[u8],
        prefix: Option<&[u8]>,
        level: i32,
    ) -> Result<Vec<u8>, Error> {
        #[cfg(not(all(feature = "libzstd", not(target_family = "wasm"))))]
        let _ = (prefix, level);
        match self {
            Codec::Raw => Ok(content.to_vec()),
            #[cfg(all(feature = "libzstd", not(target_family = "wasm")))]
            Codec::Zstd | Codec::ZstdPrefix => zstd::compress(content, prefix, level),
            #[cfg(all(feature = "libzstd", not(target_family = "wasm")))]
            Codec::ZstdPreset => zstd::compress(content, Some(PRESET), level),
            #[cfg(all(feature = "libzstd", not(target_family = "wasm")))]
            Codec::ZstdChunks => chunks::compress(content, level),
            #[cfg(feature = "archive")]
            Codec::Lzma | Codec::LzmaPrefix => lzma::compress(content, prefix),
            #[cfg(feature = "archive")]
            Codec::LzmaPreset => lzma::compress(content, Some(PRESET)),
            #[cfg(feature = "write")]
            Codec::Lz => Ok(lz::compress(content)),
            other => Err(other.unsupported()),
        }
    }

    /// The largest size of match finder tables for `image` bytes with a parent of `parent` bytes.
    #[cfg(all(feature = "write", not(target_family = "wasm")))]
    pub fn tables(self, level: i32, image: u64, parent: u64) -> u64 {
        match self {
            #[cfg(feature = "archive")]
            Codec::Lzma | Codec::LzmaPrefix | Codec::LzmaPreset => lzma::tables(image, parent),
            _ => zstd::tables(level, image, parent),
        }
    }

    /// Decompresses `frame`; `parent` is the content of the parent.
    pub(super) fn decompress(
        self,
        frame: &[u8],
        parent: Option<&[u8]>,
        output: Output<'_>,
        threads: Threads,
    ) -> Result<Vec<u8>, Error> {
        #[cfg(not(any(feature = "libzstd", feature = "pure", target_family = "wasm")))]
        let _ = threads;
        match (self, parent) {
            (Codec::Raw, _) => Ok(frame.to_vec()),
            (Codec::Lz, _) => lz::decompress(frame, output),
            #[cfg(any(feature = "libzstd", feature = "pure", target_family = "wasm"))]
            (Codec::Zstd, _) => decompress_zstd(frame, None, output),
            #[cfg(any(feature = "libzstd", feature = "pure", target_family = "wasm"))]
            (Codec::ZstdPrefix, Some(prefix)) => decompress_zstd(frame, Some(prefix), output),
            #[cfg(any(feature = "libzstd", feature = "pure", target_family = "wasm"))]
            (Codec::ZstdPreset, _) => decompress_zstd(frame, Some(PRESET), output),
            #[cfg(any(feature = "libzstd", feature = "pure", target_family = "wasm"))]
            (Codec::ZstdChunks, _) => chunks::decompress(frame, output, threads),
            #[cfg(feature = "archive")]
            (Codec::Lzma, _) => lzma::decompress(frame, None, output),
            #[cfg(feature = "archive")]
            (Codec::LzmaPrefix, Some(prefix)) => lzma::decompress(frame, Some(prefix), output),
            #[cfg(feature = "archive")]
            (Codec::LzmaPreset, _) => lzma::decompress(frame, Some(PRESET), output),
            (other, _) => Err(other.unsupported()),
        }
    }
}
