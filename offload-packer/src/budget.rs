//! Parallel work under a memory budget.

use std::sync::{Condvar, Mutex, PoisonError};

use super::need::MemoryNeed;
use super::queue::{Queue, lock};

/// An executor of indexed tasks, possibly on several threads.
pub trait Workers: Sync {
    /// Calls `work` once with every number below `count`, in any order, and returns when all calls have returned.
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync));
}

/// An executor on the caller's thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl Workers for Sequential {
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(work);
    }
}

/// Workers with a shared budget of [`MEMORY`](super::MEMORY) and [`TABLES`](super::TABLES).
pub struct Pool<'w> {
    workers: &'w dyn Workers,
    used: Mutex<MemoryNeed>,
    freed: Condvar,
}

impl std::fmt::Debug for Pool<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("used", &self.used).finish_non_exhaustive()
    }
}

/// A reservation of memory, released when it is dropped.
#[derive(Debug)]
pub struct Reservation<'p> {
    pool: &'p Pool<'p>,
    need: MemoryNeed,
}

impl<'w> Pool<'w> {
    /// A pool of `workers`.
    pub fn new(workers: &'w dyn Workers) -> Pool<'w> {
        Pool { workers, used: Mutex::new(MemoryNeed::default()), freed: Condvar::new() }
    }

    /// Maps items in parallel, in their order; `size` is the memory for an item in bytes.
    ///
    /// # Errors
    /// The first error in the order of the items.
    pub fn map<T: Sync, R: Send, E: Send>(
        &self,
        items: &[T],
        size: impl Fn(&T) -> u64 + Sync,
        work: impl Fn(&T) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E> {
        self.map_with_need(items, |item| MemoryNeed { images: size(item), tables: 0 }, work)
    }

    /// As [`Pool::map`], for compressors with large tables.
    ///
    /// # Errors
    /// The first error in the order of the items.
    pub fn map_with_need<T: Sync, R: Send, E: Send>(
        &self,
        items: &[T],
        need: impl Fn(&T) -> MemoryNeed + Sync,
        work: impl Fn(&T) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E> {
        let slots: Vec<Mutex<Option<Result<R, E>>>> = items.iter().map(|_| Mutex::new(None)).collect();
        let tasks = items.iter().zip(&slots).map(|(item, slot)| (need(item), (item, slot))).collect();
        let queue = Queue::new(tasks);
        self.workers.each(queue.threads(), &|_| {
            let worker = queue.enter();
            while let Some((need, (item, slot))) = worker.take() {
                let _reservation = self.reserve(*need);
                *lock(slot) = Some(work(item));
            }
        });
        // The result is short only if workers violate their contract and skip all numbers.
        slots
            .into_iter()
            .filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect()
    }

    /// Reserves memory; blocks until `need` fits into the budget, or no other memory is in use.
    pub fn reserve(&self, need: MemoryNeed) -> Reservation<'_> {
        let mut used = lock(&self.used);
        while *used != MemoryNeed::default() && !used.plus(need).fits() {
            used = self.freed.wait(used).unwrap_or_else(PoisonError::into_inner);
        }
        *used = used.plus(need);
        Reservation { pool: self, need }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut used = lock(&self.pool.used);
        used.images = used.images.saturating_sub(self.need.images);
        used.tables = used.tables.saturating_sub(self.need.tables);
        self.pool.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    use super::super::need::MEMORY;
    #[cfg(feature = "archive")]
    use super::super::{MAX_WHOLE, Mode, Settings};
    use super::*;

    struct Threads;

    impl Workers for Threads {
        fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
            let next = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        while let Some(at) =
                            Some(next.fetch_add(1, Ordering::SeqCst)).filter(|at| *at < count)
                        {
                            work(at);
                        }
                    });
                }
            });
        }
    }

    #[test]
    fn many_threads_share_the_memory() {
        let held = AtomicU64::new(0);
        let peak = AtomicU64::new(0);
        let sizes: Vec<u64> = (1..60).map(|at| at % 12 * (1 << 20)).collect();
        let mapped = Pool::new(&Threads).map(
            &sizes,
            |size| *size,
            |size| {
                peak.fetch_max(held.fetch_add(*size, Ordering::SeqCst) + size, Ordering::SeqCst);
                std::thread::sleep(std::time::Duration::from_millis(2));
                held.fetch_sub(*size, Ordering::SeqCst);
                Ok::<u64, ()>(*size)
            },
        );
        assert_eq!(mapped.unwrap(), sizes);
        let peak = peak.into_inner();
        assert!(peak <= MEMORY && peak > 12 << 20, "{peak}");
    }

    #[test]
    fn one_that_is_too_large_goes_alone() {
        let sizes = [MEMORY * 3, 5, MEMORY * 2];
        assert_eq!(
            Pool::new(&Threads).map(&sizes, |size| *size, |size| Ok::<u64, ()>(*size)).unwrap(),
            sizes
        );
    }

    #[test]
    #[cfg(feature = "archive")]
    fn no_frame_exceeds_the_budget_alone() {
        let sizes = [1 << 20, 4 << 20, 8 << 20, 15 << 20, 16 << 20, (16 << 20) + 1, MAX_WHOLE];
        let modes = [Mode::Fast, Mode::Balanced, Mode::Max, Mode::Archive];
        for (mode, image) in modes.into_iter().flat_map(|mode| sizes.map(|size| (mode, size))) {
            for parent in [None].into_iter().chain(sizes.map(Some)) {
                let level = mode.default_level();
                let codec = Settings { mode, level }.codec(image, parent);
                let need = MemoryNeed::for_encoding(codec, level, image, parent.unwrap_or(0));
                // A filter makes a copy of the image.
                let all = need.images + image + need.tables;
                assert!(all <= 232 << 20, "{mode} {image} {parent:?}: {all}");
            }
        }
    }

    #[test]
    fn the_first_error_is_returned() {
        let mapped = Pool::new(&Threads).map(
            &[1, 2, 7, 3, 9],
            |size| *size,
            |size| if *size > 3 { Err(*size) } else { Ok(()) },
        );
        assert_eq!(mapped, Err(7));
    }
}
