//! How hard to try, and from which sizes on what is tried.

use std::fmt;
use std::str::FromStr;

use super::source::RawImage;
use crate::codec::{Codec, DEV_LEVEL, LZMA_REACH, RELEASE_LEVEL};
use crate::{Error, ErrorKind};

/// zstd's last level.
pub const MAX_LEVEL: i32 = 22;

/// How hard to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// Nothing is compressed or stored relative to something else.
    None,
    /// Relations are taken from sketches alone.
    Fast,
    /// Relations, filters and orders are measured.
    Balanced,
    /// As balanced, with all relations measured and a closer measure.
    Max,
    /// As balanced, with LZMA instead of zstd.
    Archive,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How hard to try.
    pub mode: Mode,
    /// The level of zstd, 1 to 22; LZMA has none.
    pub level: i32,
}

impl Mode {
    /// The level of zstd for those who say nothing of it.
    pub fn usual_level(self) -> i32 {
        match self {
            Mode::None | Mode::Fast => DEV_LEVEL,
            Mode::Balanced | Mode::Archive => RELEASE_LEVEL,
            Mode::Max => MAX_LEVEL,
        }
    }
}

/// Images below this size share blocks.
pub const SMALL: u64 = 64 << 10;
/// So do those below this size where there are [`MANY`] of them and size matters: files that instantiate the same
/// templates have much in common with each other as well as from target to target, and a tree follows only one of both.
pub const MEDIUM: u64 = 256 << 10;
/// How many images are many.
pub const MANY: usize = 64;
/// Images above this size are never in memory as a whole: they are patches, or compressed as a stream, alone.
pub const MAX_WHOLE: u64 = 32 << 20;
/// Where time matters, images above this size have no parent but as patches: the compressor's one table of hashes has
/// lost most of a parent that is larger, and the time to fill it is not made up for.
const FAST_REACH: u64 = 4 << 20;

impl Settings {
    /// The codec for `image` bytes that stand for themselves, or that lie next to `parent` ones. What an image has in
    /// common with its parent lies about as far behind as the parent is large: LZMA has to reach that far.
    pub fn codec(self, image: u64, parent: Option<u64>) -> Codec {
        let near = |parent| image <= LZMA_REACH && parent <= LZMA_REACH - LZMA_REACH / 16;
        match (self.mode, parent) {
            (Mode::Archive, None) => Codec::Lzma,
            (_, None) => Codec::Zstd,
            (Mode::Archive, Some(parent)) if near(parent) => Codec::LzmaPrefix,
            (_, Some(_)) => Codec::ZstdPrefix,
        }
    }
}

/// Whether a compressor would not see the parent of such an image: it is a patch, or stands for itself.
pub(super) fn is_out_of_reach(image: &RawImage, mode: Mode) -> bool {
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
        let found = MODES.iter().find(|(_, name)| *name == text);
        found
            .map(|(mode, _)| *mode)
            .ok_or_else(|| ErrorKind::Text { what: "the mode of a packer", offset: 0 }.into())
    }
}
