//! Work on several threads with a limit on what is in memory.

use std::sync::{Condvar, Mutex, PoisonError};

use super::need::Need;
use super::queue::{Queue, lock};

/// Something that calls a function for many numbers, maybe on several threads.
pub trait Workers: Sync {
    /// Calls `work` with every number below `count`, each once, in any order, and returns when all are done.
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync));
}

/// Runs tasks one after the other, on the caller's thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl Workers for Sequential {
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(work);
    }
}

/// Workers who share [`MEMORY`](super::MEMORY) and [`TABLES`](super::TABLES).
pub struct Pool<'w> {
    workers: &'w dyn Workers,
    used: Mutex<Need>,
    freed: Condvar,
}

impl std::fmt::Debug for Pool<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("used", &self.used).finish_non_exhaustive()
    }
}

/// Memory that is in use until the value is dropped.
#[derive(Debug)]
pub struct Share<'p> {
    pool: &'p Pool<'p>,
    need: Need,
}

impl<'w> Pool<'w> {
    /// A pool of `workers`.
    pub fn new(workers: &'w dyn Workers) -> Pool<'w> {
        Pool { workers, used: Mutex::new(Need::default()), freed: Condvar::new() }
    }

    /// What `work` makes of each item, in their order; `size` is how much memory that takes, in bytes.
    ///
    /// # Errors
    /// The first one, in the order of the items.
    pub fn map<T: Sync, R: Send, E: Send>(
        &self,
        items: &[T],
        size: impl Fn(&T) -> u64 + Sync,
        work: impl Fn(&T) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E> {
        self.map_needing(items, |item| Need { images: size(item), tables: 0 }, work)
    }

    /// As [`Pool::map`], for work whose compressors have large tables.
    ///
    /// # Errors
    /// The first one, in the order of the items.
    pub fn map_needing<T: Sync, R: Send, E: Send>(
        &self,
        items: &[T],
        need: impl Fn(&T) -> Need + Sync,
        work: impl Fn(&T) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E> {
        let slots: Vec<Mutex<Option<Result<R, E>>>> = items.iter().map(|_| Mutex::new(None)).collect();
        let turns = items.iter().zip(&slots).map(|(item, slot)| (need(item), (item, slot))).collect();
        let queue = Queue::new(turns);
        self.workers.each(queue.threads(), &|_| {
            let taker = queue.enter();
            while let Some((need, (item, slot))) = taker.take() {
                let _share = self.share(*need);
                *lock(slot) = Some(work(item));
            }
        });
        // Workers that skip all numbers break their contract; the result is short then.
        slots
            .into_iter()
            .filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect()
    }

    /// Waits until there is memory for `need`.
    pub fn share(&self, need: Need) -> Share<'_> {
        let mut used = lock(&self.used);
        while *used != Need::default() && !used.and(need).fits() {
            used = self.freed.wait(used).unwrap_or_else(PoisonError::into_inner);
        }
        *used = used.and(need);
        Share { pool: self, need }
    }
}

impl Drop for Share<'_> {
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
    use super::*;
    #[cfg(feature = "archive")]
    use crate::packer::{MAX_WHOLE, Mode, Settings};

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
        let (held, most) = (AtomicU64::new(0), AtomicU64::new(0));
        let sizes: Vec<u64> = (1..60).map(|at| at % 12 * (1 << 20)).collect();
        let work = |size: &u64| {
            most.fetch_max(held.fetch_add(*size, Ordering::SeqCst) + size, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(2));
            held.fetch_sub(*size, Ordering::SeqCst);
            Ok::<u64, ()>(*size)
        };
        assert_eq!(Pool::new(&Threads).map(&sizes, |size| *size, work).unwrap(), sizes);
        let most = most.into_inner();
        assert!(most <= MEMORY && most > 12 << 20, "{most}");
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
    fn nothing_that_is_compressed_alone_takes_too_much() {
        let sizes = [1 << 20, 4 << 20, 8 << 20, 15 << 20, 16 << 20, (16 << 20) + 1, MAX_WHOLE];
        let modes = [Mode::Fast, Mode::Balanced, Mode::Max, Mode::Archive];
        for (mode, image) in modes.into_iter().flat_map(|mode| sizes.map(|size| (mode, size))) {
            for parent in [None].into_iter().chain(sizes.map(Some)) {
                let level = mode.usual_level();
                let codec = Settings { mode, level }.codec(image, parent);
                let need = Need::encoding(codec, level, image, parent.unwrap_or(0));
                // A filter makes a copy of the image.
                let all = need.images + image + need.tables;
                assert!(all <= 232 << 20, "{mode} {image} {parent:?}: {all}");
            }
        }
    }

    #[test]
    fn the_first_error_is_told() {
        let work = |size: &u64| if *size > 3 { Err(*size) } else { Ok(()) };
        assert_eq!(Pool::new(&Threads).map(&[1, 2, 7, 3, 9], |size| *size, work), Err(7));
    }
}
