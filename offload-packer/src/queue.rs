//! A queue of tasks by size, which limits the number of threads by the memory for a task.

use std::cmp::Reverse;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::need::MemoryNeed;

/// Tasks, the largest first: a large one at the end would leave the other threads idle.
pub(super) struct Queue<T> {
    tasks: Vec<(MemoryNeed, T)>,
    progress: Mutex<Progress>,
    changed: Condvar,
}

#[derive(Default)]
struct Progress {
    /// The number of the next task.
    next: usize,
    /// The number of workers that have entered.
    entered: usize,
    /// Whether a worker has left, because the queue is empty or it panicked: the others do not wait any longer.
    has_left: bool,
}

/// A thread that takes tasks.
pub(super) struct Worker<'q, T> {
    queue: &'q Queue<T>,
    /// Its number in the order of entry.
    number: usize,
}

impl<T> Queue<T> {
    pub(super) fn new(mut tasks: Vec<(MemoryNeed, T)>) -> Queue<T> {
        tasks.sort_by_key(|(need, _)| Reverse(need.total()));
        Queue { tasks, progress: Mutex::default(), changed: Condvar::new() }
    }

    /// The number of threads that can run the smallest tasks.
    pub(super) fn threads(&self) -> usize {
        self.tasks.last().map_or(0, |(smallest, _)| smallest.threads()).min(self.tasks.len())
    }

    /// Registers the calling thread as a worker.
    pub(super) fn enter(&self) -> Worker<'_, T> {
        let mut progress = lock(&self.progress);
        let number = progress.entered;
        progress.entered = number.saturating_add(1);
        Worker { queue: self, number }
    }
}

impl<'q, T> Worker<'q, T> {
    /// The next task, once it is small enough for this number of threads. The first worker never waits.
    pub(super) fn take(&self) -> Option<&'q (MemoryNeed, T)> {
        let mut progress = lock(&self.queue.progress);
        loop {
            let task = self.queue.tasks.get(progress.next)?;
            if self.number < task.0.threads() || progress.has_left {
                progress.next = progress.next.saturating_add(1);
                self.queue.changed.notify_all();
                return Some(task);
            }
            progress = self.queue.changed.wait(progress).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<T> Drop for Worker<'_, T> {
    fn drop(&mut self) {
        lock(&self.queue.progress).has_left = true;
        self.queue.changed.notify_all();
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn queue(sizes: &[u64]) -> Queue<u64> {
        Queue::new(sizes.iter().map(|size| (MemoryNeed { images: *size << 20, tables: 0 }, *size)).collect())
    }

    #[test]
    fn few_threads_take_what_is_large() {
        let queue = queue(&[1, 100, 2, 90, 1, 3, 100, 80]);
        assert_eq!(queue.threads(), 8);
        let taken: Vec<Mutex<Vec<u64>>> = (0..4).map(|_| Mutex::default()).collect();
        thread::scope(|scope| {
            for taken in &taken {
                let worker = queue.enter();
                scope.spawn(move || {
                    while let Some((_, size)) = worker.take() {
                        thread::sleep(Duration::from_millis(5));
                        taken.lock().unwrap().push(*size);
                    }
                });
            }
        });
        let taken: Vec<Vec<u64>> = taken.into_iter().map(|taken| taken.into_inner().unwrap()).collect();
        assert_eq!(taken.iter().map(Vec::len).sum::<usize>(), 8);
        // 176 MiB hold two of 80, one of 90 and more.
        assert_eq!(taken[0][..3], [100, 100, 90]);
        assert!(taken[2..].iter().flatten().all(|size| *size < 80), "{taken:?}");
    }

    #[test]
    fn no_task_is_lost_and_no_worker_waits_for_an_empty_queue() {
        let queue = queue(&[200, 300]);
        assert_eq!(queue.threads(), 1);
        let first = queue.enter();
        let second = queue.enter();
        assert!(first.take().is_some() && first.take().is_some());
        assert!(first.take().is_none() && second.take().is_none());
    }

    #[test]
    fn a_panic_of_the_first_leaves_the_rest_to_others() {
        let queue = queue(&[200, 300]);
        let first = queue.enter();
        let second = queue.enter();
        drop(first);
        assert!(second.take().is_some() && second.take().is_some() && second.take().is_none());
    }
}
