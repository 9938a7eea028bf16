//! Threads that run work-groups, kept from launch to launch: to start one takes longer than many kernels.
//!
//! A launch never waits for a thread that has not begun to work for it, so that it ends in a process that was forked
//! too, where the threads are gone.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The threads of this process.
static THREADS: Threads = Threads {
    state: Mutex::new(State { offers: Vec::new(), started: 0, next: 0 }),
    more: Signal::new(),
    done: Signal::new(),
};

/// How long a thread looks for a change before it sleeps. To wake it takes about as long, which is more than many kernels
/// take. The runtimes of OpenMP look for longer: libgomp for milliseconds, LLVM's for 200 ms.
const LOOK: Duration = Duration::from_micros(50);

struct Threads {
    state: Mutex<State>,
    /// There are offers.
    more: Signal,
    /// A thread has ended its part of an offer.
    done: Signal,
}

struct State {
    offers: Vec<Offer>,
    /// Threads that were started.
    started: usize,
    next: u64,
}

/// Tells threads that the state has changed, those that look at once and those that sleep.
struct Signal {
    changes: AtomicU64,
    /// Threads that sleep. It changes under the lock of the state alone.
    sleepers: AtomicUsize,
    condvar: Condvar,
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
struct Work(*const (dyn Fn(usize) + Sync));

// SAFETY: what it points to may be called from every thread, and outlives its offer.
unsafe impl Send for Work {}

/// Calls `work` in this thread with 0, and at the same time in up to `others` more with other numbers up to that. Returns
/// when all calls have.
pub(super) fn run_with(others: usize, work: &(dyn Fn(usize) + Sync)) {
    if others == 0 {
        return work(0);
    }
    // SAFETY: the lifetime is of no account to the layout; `Withdrawn` ends the offer before `work` can be gone.
    let shared = Work(unsafe {
        std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync + 'static)>(
            work,
        )
    });
    let _withdrawn = Withdrawn { number: THREADS.offer(shared, others) };
    work(0);
}

/// Takes an offer back when it goes, also while a panic is on its way.
struct Withdrawn {
    number: u64,
}

impl Withdrawn {
    fn runs(&self, state: &State) -> bool {
        state.offers.iter().any(|offer| offer.number == self.number && offer.running > 0)
    }
}

impl Drop for Withdrawn {
    fn drop(&mut self) {
        let mut state = THREADS.lock();
        let own = state.offers.iter_mut().filter(|offer| offer.number == self.number);
        own.for_each(|offer| offer.wanted = 0);
        if self.runs(&state) {
            state = THREADS.done.look(state);
        }
        while self.runs(&state) {
            state = THREADS.done.sleep(state);
        }
        state.offers.retain(|offer| offer.number != self.number);
    }
}

impl Signal {
    const fn new() -> Signal {
        Signal { changes: AtomicU64::new(0), sleepers: AtomicUsize::new(0), condvar: Condvar::new() }
    }

    /// Tells up to `threads` sleepers, after the change and with the lock of the state.
    fn give(&self, state: MutexGuard<'_, State>, threads: usize) {
        self.changes.fetch_add(1, Ordering::Relaxed);
        let sleepers = self.sleepers.load(Ordering::Relaxed);
        drop(state);
        // Each is a system call, so nobody is told who does not sleep.
        for _ in 0..sleepers.min(threads) {
            self.condvar.notify_one();
        }
    }

    /// Returns after a change, or after a moment.
    fn look<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let seen = self.changes.load(Ordering::Relaxed);
        drop(state);
        let began = Instant::now();
        while self.changes.load(Ordering::Relaxed) == seen && began.elapsed() < LOOK {
            std::hint::spin_loop();
        }
        THREADS.lock()
    }

    /// Returns after a change, or for no reason.
    fn sleep<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        let state = self.condvar.wait(state).unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
        state
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
        self.more.give(state, wanted);
        number
    }

    /// What each thread does for as long as the process lives.
    fn serve(&self) {
        let mut state = self.lock();
        let mut looked = false;
        loop {
            let Some(offer) = state.offers.iter_mut().find(|offer| offer.wanted > 0) else {
                state = if looked { self.more.sleep(state) } else { self.more.look(state) };
                looked = !looked;
                continue;
            };
            let index = offer.wanted;
            offer.wanted = offer.wanted.saturating_sub(1);
            offer.running = offer.running.saturating_add(1);
            let part = Part { number: offer.number };
            let Work(work) = offer.work;
            drop(state);
            // SAFETY: the offer stays, and with it what it points to, until `part` is gone.
            let work = unsafe { &*work };
            // A panic is reported where it happens; the thread goes on.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(index)));
            drop(part);
            (state, looked) = (self.lock(), false);
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
        THREADS.done.give(state, usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn all_parts_run_at_once_and_are_waited_for() {
        for _ in 0..100 {
            // Three calls meet: none ends before all have begun.
            let (meeting, calls) = (Barrier::new(3), AtomicUsize::new(0));
            run_with(2, &|number| {
                meeting.wait();
                calls.fetch_add(1 << (8 * number), Ordering::Relaxed);
            });
            assert_eq!(calls.into_inner(), 0x01_01_01);
        }
    }

    #[test]
    fn work_without_others_stays_in_its_thread() {
        let (own, calls) = (std::thread::current().id(), AtomicUsize::new(0));
        run_with(0, &|_| {
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
                        run_with(3, &|_| {
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
