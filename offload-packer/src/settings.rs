//! Compression modes and the size thresholds of the packer.

use std::fmt;
use std::str::FromStr;

use super::source::RawImage;
use offload_format::codec::{Codec, DEV_LEVEL, LZMA_REACH, RELEASE_LEVEL};
use offload_format::{Error, ErrorKind};

/// zstd's last level.
pub const MAX_LEVEL: i32 = 22;

/// The compression effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// No compression and no delta chains.
    None,
    /// Parents chosen by sketches alone.
    Fast,
    /// Parents, filters and orders chosen by trial compression.
    Balanced,
    /// As balanced, with more candidates and trial compression at a higher level.
    Max,
    /// As balanced, with LZMA instead of zstd.
    Archive,
}

/// The settings of the packer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The compression effort.
    pub mode: Mode,
    /// The level of zstd, 1 to 22; LZMA has none.
    pub level: i32,
}

impl Mode {
    /// The default level of zstd.
    pub fn default_level(self) -> i32 {
        match self {
            Mode::None | Mode::Fast => DEV_LEVEL,
            Mode::Balanced | Mode::Archive => RELEASE_LEVEL,
            Mode::Max => MAX_LEVEL,
        }
    }
}

/// Images below this size share blocks.
pub const SMALL_IMAGE: u64 = 64 << 10;
/// Images below this size share blocks too if there are at least [`MIN_MEDIUM_IMAGES`]. Files that instantiate the same
/// templates resemble each other as well as their builds for other targets, and a tree can follow only one relation.
pub const MEDIUM_IMAGE: u64 = 256 << 10;
/// The number of images below [`MEDIUM_IMAGE`] from which they share blocks.
pub const MIN_MEDIUM_IMAGES: usize = 64;
/// Images below this size share blocks too where trial compression shows that it pays, in sets of at most
/// [`MAX_TRIED_BLOCKS`]: a chain of two ancestors follows fewer relations than a window over all images.
pub const LARGE_IMAGE: u64 = 1 << 20;
/// The most bytes of images for which blocks of larger images are tried.
pub const MAX_TRIED_BLOCKS: u64 = 16 << 20;
/// The most bytes of images for which the mode `balanced` plans with the effort of `max`.
pub(super) const MAX_THOROUGH_SET: u64 = 32 << 20;
/// The share that blocks of larger images must save, as an inverse: a reader decodes a whole block for one image.
pub const MIN_BLOCK_GAIN: u64 = 50;
/// Images above this size are never in memory as a whole: they are patches, or streamed without a parent.
pub const MAX_WHOLE: u64 = 32 << 20;
/// In the mode `fast`, images above this size have no parents except as patches: the compressor's single hash table loses
/// most entries of a larger parent, and the time for filling it does not pay.
const FAST_REACH: u64 = 4 << 20;

impl Settings {
    /// The codec for an image of `image` bytes with a parent of `parent` bytes, or without one. Matches are about as distant
    /// as the parent is large: LZMA's dictionary must reach that far.
    pub fn codec(self, image: u64, parent: Option<u64>) -> Codec {
        match (self.mode, parent) {
            (Mode::Archive, None) => Codec::Lzma,
            (_, None) => Codec::Zstd,
            (Mode::Archive, Some(parent))
                if image <= LZMA_REACH && parent <= LZMA_REACH - LZMA_REACH / 16 =>
            {
                Codec::LzmaPrefix
            }
            (_, Some(_)) => Codec::ZstdPrefix,
        }
    }

    /// The codec for a block without a parent that resembles the preset dictionary.
    pub fn preset_codec(self) -> Codec {
        if self.mode == Mode::Archive { Codec::LzmaPreset } else { Codec::ZstdPreset }
    }
}

/// Whether the image is too large for a compressor to find matches in a parent: it is a patch, or has no parent.
pub(super) fn exceeds_reach(image: &RawImage, mode: Mode) -> bool {
    image.size > if mode == Mode::Fast { FAST_REACH } else { MAX_WHOLE }
}

const MODES: [(Mode, &str); 5] = [
    (Mode::None, "none"),
    (Mode::Fast, "fast"),
    (Mode::Balanced, "balanced"),
    (Mode::Max, "max"),
    (Mode::Archive, "archive"),
];

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = MODES.iter().find(|(mode, _)| mode == self).map_or("", |(_, name)| name);
        f.pad(name)
    }
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Mode, Error> {
        match MODES.iter().find(|(_, name)| *name == text) {
            Some((mode, _)) => Ok(*mode),
            None => Err(ErrorKind::Text { what: "the mode of a packer", offset: 0 }.into()),
        }
    }
}
