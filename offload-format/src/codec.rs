//! Frames: compression of images and verified decoding.
//!
//! An image passes through its [`Filter`] and then through its [`Codec`]. The output of the filter is its *content*. Delta
//! chains relate contents, so that a filter is inverted once per image.

pub(crate) mod columns;
mod compress;
mod decoder;
mod elf_symbols;
mod filter;
mod frame;
#[cfg(feature = "archive")]
mod lzma;
pub(crate) mod memory;
mod method;
mod patch;
mod read;
mod spirv_ids;
pub(crate) mod zstd;

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
pub use self::read::{check, decode, decode_block_with, decode_in_block, decode_with};
pub use self::zstd::ZstdStream;
#[cfg(feature = "write")]
pub use self::zstd::compressed_size;
