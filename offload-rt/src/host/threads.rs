//! Threads that run work-groups, kept from launch to launch: to start one takes longer than many kernels.
//!
//! A launch never waits for a thread that has not begun to work for it, so that it ends in a process that was forked
//! too, where the threads are gone.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The threads of this process.
static THREADS: Threads = Threads {
    state: Mutex::new(State { offers: Vec::new(), started: 0, next: 0 }),
    more: Condvar::new(),
    done: Condvar::new(),
};

struct Threads {
    state: Mutex<State>,
    /// There are offers.
    more: Condvar,
    /// A thread has ended its part of an offer.
    done: Condvar,
}

struct State {
    offers: Vec<Offer>,
    /// Threads that were started.
    started: usize,
    next: u64,
}

/// Work that threads may take part in.
struct Offer {
    number: u64,
    work: Work,
    /// How many more may.
    wanted: usize,
    running: usize,
}

/// What every thread of an offer calls.
#[derive(Clone, Copy)]
struct Work(*const (dyn Fn() + Sync));

// SAFETY: what it points to may be called from every thread, and outlives its offer.
unsafe impl Send for Work {}

/// Calls `work` in this thread, and at the same time in up to `others` more. Returns when all calls have.
pub(super) fn run_with(others: usize, work: &(dyn Fn() + Sync)) {
    if others == 0 {
        return work();
    }
    // SAFETY: the lifetime is of no account to the layout; `Withdrawn` ends the offer before `work` can be gone.
    let shared = Work(unsafe {
        std::mem::transmute::<*const (dyn Fn() + Sync + '_), *const (dyn Fn() + Sync + 'static)>(work)
    });
    let _withdrawn = Withdrawn { number: THREADS.offer(shared, others) };
    work();
}

/// Takes an offer back when it goes, also while a panic is on its way.
struct Withdrawn {
    number: u64,
}

impl Drop for Withdrawn {
    fn drop(&mut self) {
        let mut state = THREADS.lock();
        let number = self.number;
        state.offers.iter_mut().filter(|offer| offer.number == number).for_each(|offer| offer.wanted = 0);
        while state.offers.iter().any(|offer| offer.number == number && offer.running > 0) {
            state = THREADS.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.offers.retain(|offer| offer.number != number);
    }
}

impl Threads {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offer(&'static self, work: Work, wanted: usize) -> u64 {
        let mut state = self.lock();
        while state.started < wanted {
            // A thread that the system refuses only makes the others work longer.
            let thread = std::thread::Builder::new().name("offload-host".into());
            if thread.spawn(|| self.serve()).is_err() {
                break;
            }
            state.started = state.started.saturating_add(1);
        }
        let number = state.next;
        state.next = number.wrapping_add(1);
        state.offers.push(Offer { number, work, wanted, running: 0 });
        drop(state);
        for _ in 0..wanted {
            self.more.notify_one();
        }
        number
    }

    /// What each thread does for as long as the process lives.
    fn serve(&self) {
        let mut state = self.lock();
        loop {
            let Some(offer) = state.offers.iter_mut().find(|offer| offer.wanted > 0) else {
                state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            offer.wanted = offer.wanted.saturating_sub(1);
            offer.running = offer.running.saturating_add(1);
            let part = Part { number: offer.number };
            let Work(work) = offer.work;
            drop(state);
            // SAFETY: the offer stays, and with it what it points to, until `part` is gone.
            let work = unsafe { &*work };
            // A panic is reported where it happens; the thread goes on.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            drop(part);
            state = self.lock();
        }
    }
}

/// A thread's part of an offer.
struct Part {
    number: u64,
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut state = THREADS.lock();
        let own = state.offers.iter_mut().find(|offer| offer.number == self.number);
        if let Some(offer) = own {
            offer.running = offer.running.saturating_sub(1);
        }
        drop(state);
        THREADS.done.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn all_parts_run_at_once_and_are_waited_for() {
        for _ in 0..100 {
            // Three calls meet: none ends before all have begun.
            let (meeting, calls) = (Barrier::new(3), AtomicUsize::new(0));
            run_with(2, &|| {
                meeting.wait();
                calls.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(calls.into_inner(), 3);
        }
    }

    #[test]
    fn work_without_others_stays_in_its_thread() {
        let (own, calls) = (std::thread::current().id(), AtomicUsize::new(0));
        run_with(0, &|| {
            assert_eq!(std::thread::current().id(), own);
            calls.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(calls.into_inner(), 1);
    }

    #[test]
    fn launches_of_several_threads_do_not_wait_for_each_other() {
        let calls = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        run_with(3, &|| {
                            calls.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
            }
        });
        let calls = calls.into_inner();
        assert!((200..=800).contains(&calls), "{calls}");
    }
}
