//! Frames: compression of images and verified decoding.
//!
//! An image passes through its [`Filter`] and then through its [`Codec`]. The output of the filter is its *content*. Delta
//! chains relate contents, so that a filter is inverted once per image.

#[cfg(any(feature = "libzstd", feature = "pure", target_family = "wasm"))]
mod chunks;
pub(crate) mod columns;
mod compress;
mod decoder;
mod elf_symbols;
mod filter;
mod frame;
mod lz;
#[cfg(feature = "archive")]
mod lzma;
#[cfg_attr(
    not(all(feature = "libzstd", not(target_family = "wasm"))),
    allow(dead_code, reason = "compression alone, or no decoder, uses some of it")
)]
pub(crate) mod memory;
mod method;
mod patch;
mod preset;
mod read;
mod spirv_ids;
mod threads;
#[cfg(all(feature = "libzstd", not(target_family = "wasm")))]
pub(crate) mod zstd;
#[cfg(any(target_family = "wasm", all(feature = "pure", any(test, not(feature = "libzstd")))))]
mod zstd_in_rust;

pub(crate) use self::decoder::{Expected, inflate};
#[cfg(feature = "write")]
pub use self::decoder::{FrameContent, decode_frame};
pub use self::filter::Filter;
pub use self::frame::{
    EncodeOptions, Frame, FrameInfo, InBlock, Parent, content_of, encode, encode_with, patch,
};
#[cfg(feature = "write")]
pub use self::frame::{encode_with_hash, patch_frame, trial_size};
#[cfg(feature = "write")]
pub use self::memory::image_buffer;
#[cfg(feature = "write")]
pub use self::method::LZMA_REACH;
pub use self::method::{
    Codec, DEV_LEVEL, MAX_ANCESTORS, MAX_BLOCK, MAX_IMAGE, MAX_RELATED, RELEASE_LEVEL, STREAM_WINDOW,
};
#[cfg(feature = "write")]
pub use self::patch::PatchBuilder;
pub use self::preset::PRESET;
pub use self::read::{check, decode, decode_block_with, decode_in_block, decode_on, decode_with};
pub use self::threads::Threads;
#[cfg(all(feature = "libzstd", not(target_family = "wasm")))]
pub use self::zstd::ZstdStream;
#[cfg(all(feature = "write", not(target_family = "wasm")))]
pub use self::zstd::compressed_size;
