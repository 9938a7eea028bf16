//! Memory needs of packing tasks and the budget for tasks in flight.

use offload_format::codec::Codec;

/// The budget for images in memory in bytes, of all threads together: two of 16 MiB with their parents. A single task may
/// exceed it.
pub const MEMORY: u64 = 64 << 20;
/// The budget for the tables of compressors in bytes, of all threads together: two large ones at zstd's level 19. A single
/// task may exceed it.
pub const TABLES: u64 = 112 << 20;

/// The overhead of a thread in bytes: its heap, which retains most of the freed memory.
const THREAD_OVERHEAD: u64 = 8 << 20;

/// The memory that a task needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryNeed {
    /// For images, in bytes.
    pub images: u64,
    /// For the tables of the compressor, in bytes.
    pub tables: u64,
}

impl MemoryNeed {
    /// The memory for compressing `image` bytes with a parent of `parent` bytes, with `codec` at the zstd level `level`.
    pub fn for_encoding(codec: Codec, level: i32, image: u64, parent: u64) -> MemoryNeed {
        MemoryNeed { images: image.saturating_add(parent), tables: codec.tables(level, image, parent) }
    }

    pub(super) fn plus(self, other: MemoryNeed) -> MemoryNeed {
        let images = self.images.saturating_add(other.images);
        MemoryNeed { images, tables: self.tables.saturating_add(other.tables) }
    }

    pub(super) fn fits(self) -> bool {
        self.images <= MEMORY && self.tables <= TABLES
    }

    pub(super) fn total(self) -> u64 {
        self.images.saturating_add(self.tables)
    }

    /// The number of threads that may run tasks of this size.
    pub(super) fn threads(self) -> usize {
        let fitting =
            (MEMORY + TABLES).checked_div(self.total().saturating_add(THREAD_OVERHEAD)).unwrap_or(0);
        usize::try_from(fitting).unwrap_or(usize::MAX).max(1)
    }
}
