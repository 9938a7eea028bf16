//! How much memory a piece of work takes, and how many may be in work at a time.

use crate::codec::Codec;

/// How many bytes of images are in memory at a time, in all threads together: two of 16 MiB with their parents. One image
/// with its parent may exceed it, alone.
pub const MEMORY: u64 = 64 << 20;
/// How many bytes the tables of compressors take, in all threads together: two large ones at zstd's level 19. One may
/// exceed it, alone.
pub const TABLES: u64 = 112 << 20;

/// What a thread keeps beside its piece of work, in bytes: a heap of its own, in which most of what was freed stays.
const THREAD: u64 = 8 << 20;

/// The memory that a piece of work takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Need {
    /// For images, in bytes.
    pub images: u64,
    /// For the tables of the compressor, in bytes.
    pub tables: u64,
}

impl Need {
    /// What it takes to compress `image` bytes next to `parent` ones with `codec`, at the zstd level `level`.
    pub fn encoding(codec: Codec, level: i32, image: u64, parent: u64) -> Need {
        Need { images: image.saturating_add(parent), tables: codec.tables(level, image, parent) }
    }

    pub(super) fn and(self, other: Need) -> Need {
        let images = self.images.saturating_add(other.images);
        Need { images, tables: self.tables.saturating_add(other.tables) }
    }

    pub(super) fn fits(self) -> bool {
        self.images <= MEMORY && self.tables <= TABLES
    }

    pub(super) fn all(self) -> u64 {
        self.images.saturating_add(self.tables)
    }

    /// How many threads may take up pieces of work of this size.
    pub(super) fn threads(self) -> usize {
        let fitting = (MEMORY + TABLES).checked_div(self.all().saturating_add(THREAD)).unwrap_or(0);
        usize::try_from(fitting).unwrap_or(usize::MAX).max(1)
    }
}
