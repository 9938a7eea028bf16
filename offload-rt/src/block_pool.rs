//! Memory pools of back ends whose drivers have none: a released block serves the next allocation of its size class.
//!
//! A block goes back to the queue that it was allocated for, whose work is in order, so that its next user needs no wait.
//! Sizes are rounded up to classes, by an eighth at most, as in jemalloc (<https://jemalloc.net/jemalloc.3.html>, "size
//! classes"): buffers of similar sizes share blocks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::backend::{BackendPool, PoolStatistics};
use crate::error::Problem;

/// Unused memory that a pool keeps in bytes, unless the program says otherwise: as much as pools of CUDA and HIP.
const DEFAULT_KEPT: u64 = 256 << 20;

/// The step between the smallest size classes.
const MIN_STEP: u64 = 256;

/// A pool of blocks `B`, which are released when they are dropped.
pub(crate) struct BlockPool<B> {
    state: Mutex<State<B>>,
}

/// A queue of a pool, which is in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueueId(u64);

struct State<B> {
    /// The unused blocks of each queue, by size class.
    unused: BTreeMap<QueueId, BTreeMap<u64, Vec<B>>>,
    next_queue: u64,
    /// The size of all unused blocks.
    unused_size: u64,
    kept: u64,
    statistics: PoolStatistics,
}

/// The size that a block for `size` bytes has.
pub(crate) fn size_class(size: u64) -> u64 {
    let step = (size.checked_next_power_of_two().unwrap_or(size) / 16).max(MIN_STEP);
    size.max(1).checked_next_multiple_of(step).unwrap_or(size)
}

impl<B> BlockPool<B> {
    pub(crate) fn new() -> BlockPool<B> {
        let state = State {
            unused: BTreeMap::new(),
            next_queue: 0,
            unused_size: 0,
            kept: DEFAULT_KEPT,
            statistics: PoolStatistics::default(),
        };
        BlockPool { state: Mutex::new(state) }
    }

    pub(crate) fn add_queue(&self) -> QueueId {
        let mut state = self.lock();
        let queue = QueueId(state.next_queue);
        state.next_queue = state.next_queue.saturating_add(1);
        state.unused.insert(queue, BTreeMap::new());
        queue
    }

    /// Releases the blocks of a queue that takes no more work.
    #[cfg_attr(
        not(feature = "opencl"),
        allow(dead_code, reason = "all streams of the host CPU share a queue")
    )]
    pub(crate) fn remove_queue(&self, queue: QueueId) {
        let mut state = self.lock();
        let blocks = state.unused.remove(&queue).unwrap_or_default();
        for (size, blocks) in &blocks {
            state.count_released(*size, blocks.len());
        }
        drop(state);
        drop(blocks);
    }

    /// An unused block of the size class `class`.
    pub(crate) fn take(&self, queue: QueueId, class: u64) -> Option<B> {
        let mut state = self.lock();
        let block = state.unused.get_mut(&queue)?.get_mut(&class)?.pop()?;
        state.unused_size = state.unused_size.saturating_sub(class);
        state.count_used(class);
        Some(block)
    }

    /// Counts a block of `size` bytes that was allocated.
    pub(crate) fn add(&self, size: u64) {
        let mut state = self.lock();
        let reserved = state.statistics.reserved.saturating_add(size);
        state.statistics.reserved = reserved;
        state.statistics.max_reserved = state.statistics.max_reserved.max(reserved);
        state.count_used(size);
    }

    /// Keeps `block` of `size` bytes for the next allocation of `queue`, or releases it.
    pub(crate) fn give_back(&self, queue: QueueId, size: u64, block: B) {
        let mut state = self.lock();
        state.statistics.used = state.statistics.used.saturating_sub(size);
        let unused_size = state.unused_size.saturating_add(size);
        let fits = unused_size <= state.kept && size_class(size) == size;
        if let Some(blocks) = state.unused.get_mut(&queue)
            && fits
        {
            blocks.entry(size).or_default().push(block);
            state.unused_size = unused_size;
            return;
        }
        state.statistics.reserved = state.statistics.reserved.saturating_sub(size);
        drop(state);
        drop(block);
    }

    /// Counts a block of `size` bytes that the caller releases, as other queues may still use it.
    #[cfg_attr(
        not(feature = "opencl"),
        allow(dead_code, reason = "all streams of the host CPU share a queue")
    )]
    pub(crate) fn forget(&self, size: u64) {
        let mut state = self.lock();
        state.statistics.used = state.statistics.used.saturating_sub(size);
        state.statistics.reserved = state.statistics.reserved.saturating_sub(size);
    }

    /// Releases unused blocks, the largest first, until there are at most `bytes`.
    pub(crate) fn release_unused(&self, bytes: u64) {
        let mut released = Vec::new();
        let mut state = self.lock();
        while state.unused_size > bytes {
            let Some((class, block)) = state.pop_largest() else { break };
            state.count_released(class, 1);
            released.push(block);
        }
        drop(state);
        drop(released);
    }

    fn lock(&self) -> MutexGuard<'_, State<B>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: Send> BackendPool for Arc<BlockPool<B>> {
    fn statistics(&self) -> Result<PoolStatistics, Problem> {
        Ok(self.lock().statistics)
    }

    fn keep(&self, bytes: u64) -> Result<(), Problem> {
        self.lock().kept = bytes;
        self.release_unused(bytes);
        Ok(())
    }

    fn trim(&self, bytes: u64) -> Result<(), Problem> {
        self.release_unused(bytes);
        Ok(())
    }
}

impl<B> State<B> {
    fn count_used(&mut self, size: u64) {
        let used = self.statistics.used.saturating_add(size);
        self.statistics.used = used;
        self.statistics.max_used = self.statistics.max_used.max(used);
    }

    /// Counts `count` blocks that were unused.
    fn count_released(&mut self, size: u64, count: usize) {
        let released = size.saturating_mul(count as u64);
        self.unused_size = self.unused_size.saturating_sub(released);
        self.statistics.reserved = self.statistics.reserved.saturating_sub(released);
    }

    fn pop_largest(&mut self) -> Option<(u64, B)> {
        let largest = self.unused.values_mut().max_by_key(|classes| largest_class(classes))?;
        let class = largest_class(largest)?;
        let block = largest.get_mut(&class)?.pop()?;
        Some((class, block))
    }
}

/// The largest size class with blocks.
fn largest_class<B>(classes: &BTreeMap<u64, Vec<B>>) -> Option<u64> {
    let (class, _) = classes.iter().rev().find(|(_, blocks)| !blocks.is_empty())?;
    Some(*class)
}

impl<B> fmt::Debug for BlockPool<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockPool").field("statistics", &self.lock().statistics).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Allocates a block, or takes one of the pool.
    fn allocate(pool: &BlockPool<Arc<()>>, queue: QueueId, size: u64) -> Arc<()> {
        let class = size_class(size);
        pool.take(queue, class).unwrap_or_else(|| {
            pool.add(class);
            Arc::new(())
        })
    }

    #[test]
    fn classes_waste_an_eighth_at_most() {
        for size in (1..100_000).chain([1 << 30, (1 << 30) + 1, u64::MAX]) {
            let class = size_class(size);
            assert!(class >= size && class == size_class(class), "{size}: {class}");
            assert!(class - size < (size / 8).max(MIN_STEP), "{size}: {class}");
        }
    }

    #[test]
    fn a_block_serves_its_own_queue_and_class() {
        let pool = Arc::new(BlockPool::new());
        let [first, second] = [pool.add_queue(), pool.add_queue()];
        let block = allocate(&pool, first, 5000);
        let address = Arc::as_ptr(&block);
        pool.give_back(first, size_class(5000), block);
        assert!(pool.take(second, size_class(5000)).is_none());
        assert!(pool.take(first, size_class(10_000)).is_none());
        let again = pool.take(first, size_class(4990)).unwrap();
        assert_eq!(Arc::as_ptr(&again), address);
    }

    #[test]
    fn unused_blocks_stay_below_the_limit() {
        let pool = Arc::new(BlockPool::new());
        let queue = pool.add_queue();
        pool.keep(10_000).unwrap();
        let blocks: Vec<Arc<()>> = (0..4).map(|_| allocate(&pool, queue, 4096)).collect();
        let weak: Vec<_> = blocks.iter().map(Arc::downgrade).collect();
        assert_eq!((pool.statistics().unwrap().used, pool.statistics().unwrap().reserved), (16_384, 16_384));
        for block in blocks {
            pool.give_back(queue, 4096, block);
        }
        assert_eq!(weak.iter().filter(|block| block.strong_count() > 0).count(), 2);
        let statistics = pool.statistics().unwrap();
        assert_eq!((statistics.used, statistics.reserved), (0, 8192));
        assert_eq!((statistics.max_used, statistics.max_reserved), (16_384, 16_384));
        pool.trim(4096).unwrap();
        assert_eq!(pool.statistics().unwrap().reserved, 4096);
        pool.remove_queue(queue);
        assert_eq!(pool.statistics().unwrap().reserved, 0);
        assert!(weak.iter().all(|block| block.strong_count() == 0));
    }

    #[test]
    fn a_block_of_a_removed_queue_is_released() {
        let pool = Arc::new(BlockPool::new());
        let queue = pool.add_queue();
        let block = allocate(&pool, queue, 300);
        let weak = Arc::downgrade(&block);
        pool.remove_queue(queue);
        pool.give_back(queue, size_class(300), block);
        assert_eq!(weak.strong_count(), 0);
        assert_eq!(pool.statistics().unwrap().reserved, 0);
    }

    #[test]
    fn a_block_of_no_class_is_released() {
        let pool = Arc::new(BlockPool::new());
        let queue = pool.add_queue();
        let block = Arc::new(());
        let weak = Arc::downgrade(&block);
        pool.add(4097);
        pool.give_back(queue, 4097, block);
        assert_eq!((weak.strong_count(), pool.statistics().unwrap().reserved), (0, 0));
    }
}
