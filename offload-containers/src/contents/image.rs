//! An image of a container.

use std::borrow::Cow;
use std::fmt;

use super::source::{BundleSlice, ImageBytes};
use crate::Checksum;
use crate::carrier::FileKind;
use offload_format::{Error, Hash128, Limits, OffloadKind, Target};

/// An image in a container.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Image<'a> {
    /// The containers around it, outermost first.
    pub containers: Vec<FileKind>,
    /// The format of its bytes, as far as it is known without decoding.
    pub format: Option<FileKind>,
    /// Its target, if this project has a name for it.
    pub target: Option<Target>,
    /// The target in the spelling of the container, as `hipv4-amdgcn-amd-amdhsa--gfx90a`; empty if it has none.
    pub label: String,
    /// The programming model that launches it.
    pub offload_kind: OffloadKind,
    /// Its name in the container, mostly empty.
    pub name: String,
    /// Its compression.
    pub compression: Compression,
    /// Its size in the file, in bytes; its proportional share if the bundle is compressed as a whole.
    pub stored_size: u64,
    /// Its recorded size in bytes, with the padding of an image in a fatbin.
    pub raw_size: u64,
    pub(super) source: ImageBytes<'a>,
}

/// The compression of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Compression {
    /// None.
    None,
    /// zlib, in one stream with the other images of its bundle.
    Zlib,
    /// zstd.
    Zstd,
    /// LZ4.
    Lz4,
    /// An unknown method: the image cannot be decoded.
    Unknown,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Compression::None => "raw",
            Compression::Zlib => "zlib",
            Compression::Zstd => "zstd",
            Compression::Lz4 => "lz4",
            Compression::Unknown => "unknown",
        })
    }
}

impl<'a> Image<'a> {
    /// The text of the target, or else the label.
    pub fn target_text(&self) -> String {
        self.target.as_ref().map_or_else(|| self.label.clone(), Target::to_string)
    }

    /// The text of the target, the label, or else the format.
    pub fn described_target(&self) -> String {
        match (self.target_text(), self.format) {
            (text, Some(format)) if text.is_empty() => format!("{format} of no named target"),
            (text, None) if text.is_empty() => "bytes of an unknown format".to_string(),
            (text, _) => text,
        }
    }

    /// Whether a driver may load it: LLVM bitcode and NVIDIA's LTO-IR are inputs of a link, and the host's entry of a bundle
    /// is no device image.
    pub fn is_loadable(&self) -> bool {
        let is_for_link = matches!(self.format, Some(FileKind::LlvmBitcode | FileKind::LtoIr));
        !is_for_link && !self.label.starts_with("host-")
    }

    /// Decodes the image.
    ///
    /// # Errors
    /// Those of the container's method of compression; [`TooLarge`](offload_format::ErrorKind::TooLarge) over `limits`.
    pub fn decode(&self, limits: &Limits) -> Result<Cow<'_, [u8]>, Error> {
        self.source.decode(limits)
    }

    /// The checksum that [`Image::decode`] verifies; `None` if the file has none, so that damage is undetectable.
    pub fn checksum(&self) -> Option<Checksum> {
        self.source.checksum()
    }

    /// A hash of the compressed bytes and the method: images with equal hashes decode to the same bytes. `None` for an image
    /// that is not compressed, or compressed together with others. Libraries repeat images, and a cache by this hash decodes
    /// each once.
    pub fn frame_hash(&self) -> Option<Hash128> {
        self.source.frame_hash()
    }

    /// The range of the image in its bundle, if that is compressed as a whole. [`Image::decode`] inflates such a bundle into
    /// memory; use [`Ccob::steps`](crate::ccob::Ccob::steps) to inflate it into another buffer.
    pub fn bundle_slice(&self) -> Option<BundleSlice<'a>> {
        self.source.bundle_slice()
    }
}
