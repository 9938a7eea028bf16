//! An image, whatever it lies in.

use std::borrow::Cow;
use std::fmt;

use super::source::{ImageBytes, Part};
use crate::Checksum;
use crate::carrier::FileKind;
use offload_format::{Error, Hash128, Limits, OffloadKind, Target};

/// An image in a container.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Image<'a> {
    /// What it lies in, outermost first.
    pub containers: Vec<FileKind>,
    /// What its bytes are, as far as that is known without decoding them.
    pub format: Option<FileKind>,
    /// For which machine it is, if this project has a name for that.
    pub target: Option<Target>,
    /// For what it is in the file's own words, as `hipv4-amdgcn-amd-amdhsa--gfx90a`; empty if it says nothing.
    pub label: String,
    /// Which programming model launches it.
    pub offload_kind: OffloadKind,
    /// Its name in the container, mostly empty.
    pub name: String,
    /// How it is compressed.
    pub compression: Compression,
    /// How many bytes of the file it takes; of a bundle that is compressed as a whole its share.
    pub stored_size: u64,
    /// Its size in bytes, as recorded: of an image in a fatbin with what pads it.
    pub raw_size: u64,
    pub(super) source: ImageBytes<'a>,
}

/// How an image is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    None,
    /// zlib, together with the other images of its bundle.
    Zlib,
    /// zstd.
    Zstd,
    /// LZ4.
    Lz4,
    /// A method that this release does not know: the image cannot be decoded.
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
    /// The target's text, or else the file's own words.
    pub fn target_text(&self) -> String {
        self.target.as_ref().map_or_else(|| self.label.clone(), Target::to_string)
    }

    /// The same, and where the file says nothing the image's format.
    pub fn described_target(&self) -> String {
        match (self.target_text(), self.format) {
            (text, Some(format)) if text.is_empty() => format!("{format} of no named target"),
            (text, None) if text.is_empty() => "bytes of an unknown format".to_string(),
            (text, _) => text,
        }
    }

    /// Whether a driver may load it. LLVM bitcode and NVIDIA's LTO-IR are what a later link compiles, and what stands for
    /// the host in a bundle is no device image.
    pub fn is_loadable(&self) -> bool {
        let is_for_link = matches!(self.format, Some(FileKind::LlvmBitcode | FileKind::LtoIr));
        !is_for_link && !self.label.starts_with("host-")
    }

    /// The bytes of the image.
    ///
    /// # Errors
    /// Those of the container's method of compression; [`TooLarge`](offload_format::ErrorKind::TooLarge) over `limits`.
    pub fn decode(&self, limits: &Limits) -> Result<Cow<'_, [u8]>, Error> {
        self.source.decode(limits)
    }

    /// With what [`Image::decode`] compares the bytes. Where the file records nothing, nobody can tell whether they were
    /// changed.
    pub fn checksum(&self) -> Option<Checksum> {
        self.source.checksum()
    }

    /// A hash of its compressed bytes and of how they are compressed: images with equal ones decode to the same bytes. `None`
    /// for what is not compressed, or together with other images. Libraries repeat images; who keeps what came of the first
    /// one need not decode the others.
    pub fn frame_hash(&self) -> Option<Hash128> {
        self.source.frame_hash()
    }

    /// Where the image lies, if its bundle is compressed as a whole. [`Image::decode`] holds such a bundle in memory; who
    /// wants it elsewhere inflates it by [`Ccob::steps`](crate::ccob::Ccob::steps).
    pub fn part(&self) -> Option<Part<'a>> {
        self.source.part()
    }
}
