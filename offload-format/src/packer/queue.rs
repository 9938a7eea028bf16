//! Pieces of work in the order of their size, and how many threads take them.

use std::cmp::Reverse;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::need::Need;

/// Pieces of work, the largest first: the largest last would have all others wait for it.
pub(super) struct Queue<T> {
    turns: Vec<(Need, T)>,
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Default)]
struct State {
    /// The number of the next piece.
    next: usize,
    /// How many threads have come.
    came: usize,
    /// Whether one has left, because there is nothing more or it panicked: nobody need wait for it.
    left: bool,
}

/// One of those who take pieces.
pub(super) struct Taker<'q, T> {
    queue: &'q Queue<T>,
    /// In the order in which they came.
    number: usize,
}

impl<T> Queue<T> {
    pub(super) fn new(mut turns: Vec<(Need, T)>) -> Queue<T> {
        turns.sort_by_key(|(need, _)| Reverse(need.all()));
        Queue { turns, state: Mutex::default(), moved: Condvar::new() }
    }

    /// How many threads find work at last.
    pub(super) fn threads(&self) -> usize {
        self.turns.last().map_or(0, |(smallest, _)| smallest.threads()).min(self.turns.len())
    }

    /// The calling thread is one of those who take pieces.
    pub(super) fn enter(&self) -> Taker<'_, T> {
        let mut state = lock(&self.state);
        let number = state.came;
        state.came = number.saturating_add(1);
        Taker { queue: self, number }
    }
}

impl<'q, T> Taker<'q, T> {
    /// The next piece, when it is small enough for so many threads. Who came first never waits.
    pub(super) fn take(&self) -> Option<&'q (Need, T)> {
        let mut state = lock(&self.queue.state);
        loop {
            let turn = self.queue.turns.get(state.next)?;
            if self.number < turn.0.threads() || state.left {
                state.next = state.next.saturating_add(1);
                self.queue.moved.notify_all();
                return Some(turn);
            }
            state = self.queue.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<T> Drop for Taker<'_, T> {
    fn drop(&mut self) {
        lock(&self.queue.state).left = true;
        self.queue.moved.notify_all();
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
        Queue::new(sizes.iter().map(|size| (Need { images: *size << 20, tables: 0 }, *size)).collect())
    }

    #[test]
    fn few_threads_take_what_is_large() {
        let queue = queue(&[1, 100, 2, 90, 1, 3, 100, 80]);
        assert_eq!(queue.threads(), 8);
        let taken: Vec<Mutex<Vec<u64>>> = (0..4).map(|_| Mutex::default()).collect();
        thread::scope(|scope| {
            for taken in &taken {
                let taker = queue.enter();
                let work = move || {
                    while let Some((_, size)) = taker.take() {
                        thread::sleep(Duration::from_millis(5));
                        taken.lock().unwrap().push(*size);
                    }
                };
                scope.spawn(work);
            }
        });
        let taken: Vec<Vec<u64>> = taken.into_iter().map(|taken| taken.into_inner().unwrap()).collect();
        assert_eq!(taken.iter().map(Vec::len).sum::<usize>(), 8);
        // 176 MiB hold two of 80, one of 90 and more.
        assert_eq!(taken[0][..3], [100, 100, 90]);
        assert!(taken[2..].iter().flatten().all(|size| *size < 80), "{taken:?}");
    }

    #[test]
    fn nothing_is_left_and_nobody_waits_for_nothing() {
        let queue = queue(&[200, 300]);
        assert_eq!(queue.threads(), 1);
        let (first, second) = (queue.enter(), queue.enter());
        assert!(first.take().is_some() && first.take().is_some());
        assert!(first.take().is_none() && second.take().is_none());
    }

    #[test]
    fn a_panic_of_the_first_leaves_the_rest_to_others() {
        let queue = queue(&[200, 300]);
        let (first, second) = (queue.enter(), queue.enter());
        drop(first);
        assert!(second.take().is_some() && second.take().is_some() && second.take().is_none());
    }
}
