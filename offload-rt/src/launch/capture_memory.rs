//! Memory of the buffers that are made in a capture.
//!
//! The memory of a buffer that is dropped in the capture serves later buffers of the same lane: the work on it is in order
//! there. Work of another lane comes after it by a dependency that is added. What is left serves later captures with the
//! same pool, whose graphs run at different times.

use std::mem;
use std::sync::Arc;

use crate::backend::{BackendMemory, Lease, MemoryRange, MemoryRef};

/// Memory that no buffer has is taken for one of at least this part of its size.
const LEAST_PART: usize = 2;

/// The memory of a capture.
#[derive(Debug, Default)]
pub(super) struct CaptureMemory {
    leased: Vec<LeasedBlock>,
    unused: Vec<UnusedBlock>,
}

/// Memory of a pool that no buffer and no capture has.
#[derive(Debug)]
pub(super) struct PoolBlock {
    pub(super) memory: Arc<dyn BackendMemory>,
    /// In bytes.
    pub(super) size: usize,
}

/// Memory that a buffer has, or had until now.
#[derive(Debug)]
struct LeasedBlock {
    block: PoolBlock,
    lease: Arc<Lease>,
    /// The last use by the buffers before.
    before: Option<Use>,
    /// The last use in each lane.
    uses: Vec<Use>,
}

/// Memory that a buffer of the capture had.
#[derive(Debug)]
struct UnusedBlock {
    block: PoolBlock,
    /// The last use in each lane.
    uses: Vec<Use>,
}

/// An operation that uses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) lane: usize,
    /// Its number.
    pub(super) operation: usize,
}

impl PoolBlock {
    /// Whether it is taken for `size` bytes.
    fn fits(&self, size: usize) -> bool {
        self.size >= size && self.size / LEAST_PART <= size
    }
}

/// Takes the smallest block for `size` bytes.
pub(super) fn take_smallest(blocks: &mut Vec<PoolBlock>, size: usize) -> Option<PoolBlock> {
    let fitting = blocks.iter().enumerate().filter(|(_, block)| block.fits(size));
    let (index, _) = fitting.min_by_key(|(_, block)| block.size)?;
    Some(blocks.swap_remove(index))
}

impl CaptureMemory {
    /// Memory for `size` bytes that a dropped buffer had, for work in `lane`.
    pub(super) fn lease_again(
        &mut self,
        size: usize,
        lane: usize,
    ) -> Option<(Arc<dyn BackendMemory>, Arc<Lease>)> {
        self.collect();
        let is_free = |unused: &UnusedBlock| unused.uses.iter().all(|before| before.lane == lane);
        let fitting =
            self.unused.iter().enumerate().filter(|(_, unused)| unused.block.fits(size) && is_free(unused));
        let (index, _) = fitting.min_by_key(|(_, unused)| unused.block.size)?;
        let UnusedBlock { block, uses } = self.unused.swap_remove(index);
        Some(self.add(block, uses.last().copied()))
    }

    /// A lease of memory that no operation of the capture has used.
    pub(super) fn lease(&mut self, block: PoolBlock) -> (Arc<dyn BackendMemory>, Arc<Lease>) {
        self.add(block, None)
    }

    fn add(&mut self, block: PoolBlock, before: Option<Use>) -> (Arc<dyn BackendMemory>, Arc<Lease>) {
        let lease = Arc::new(Lease::default());
        let memory = block.memory.clone();
        self.leased.push(LeasedBlock { block, lease: lease.clone(), before, uses: Vec::new() });
        (memory, lease)
    }

    /// Notes that `new` uses `range`. Returns the operation of another lane that it has to come after.
    pub(super) fn note_use(&mut self, range: &MemoryRange<'_>, new: Use) -> Option<usize> {
        let MemoryRef::Leased(_, lease) = range.memory else { return None };
        let Some(leased) = self.leased.iter_mut().find(|leased| Arc::ptr_eq(&leased.lease, lease)) else {
            // It is of another capture.
            lease.end();
            return None;
        };
        match leased.uses.iter_mut().find(|known| known.lane == new.lane) {
            Some(known) => *known = new,
            None => leased.uses.push(new),
        }
        let before = leased.before?;
        (before.lane != new.lane).then_some(before.operation)
    }

    /// The memory that no buffer has; the capture has ended.
    pub(super) fn into_unused(mut self) -> Vec<PoolBlock> {
        self.collect();
        self.unused.into_iter().map(|unused| unused.block).collect()
    }

    /// Finds the memory of buffers that were dropped.
    fn collect(&mut self) {
        for mut leased in mem::take(&mut self.leased) {
            if Arc::get_mut(&mut leased.lease).is_none() {
                self.leased.push(leased);
                continue;
            }
            if leased.lease.is_ended() {
                // Its users keep it.
                continue;
            }
            let mut uses = leased.uses;
            if uses.is_empty() {
                uses.extend(leased.before);
            }
            self.unused.push(UnusedBlock { block: leased.block, uses });
        }
    }
}
