//! The thread pool for work-groups. Starting a thread takes longer than many kernels.
//!
//! A launch never waits for a thread that has not started to work for it, so that it also ends in a forked process, which
//! has no threads of the pool.

mod loaded_code;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The pool of this process.
static POOL: ThreadPool = ThreadPool {
    state: Mutex::new(PoolState { offers: Vec::new(), started: 0, next: 0 }),
    more: Signal::new(),
    done: Signal::new(),
};

/// The time for which a thread spins before it sleeps. Waking it takes about as long, which is more than many kernels
/// take. The runtimes of OpenMP spin for longer: libgomp for milliseconds, LLVM's for 200 ms.
const SPIN_TIME: Duration = Duration::from_micros(50);

struct ThreadPool {
    state: Mutex<PoolState>,
    /// Signals new offers.
    more: Signal,
    /// Signals a thread that has ended its work for an offer.
    done: Signal,
}

struct PoolState {
    offers: Vec<Offer>,
    /// The number of threads.
    started: usize,
    next: u64,
}

/// A notification of a changed state, for threads that spin and threads that sleep.
struct Signal {
    changes: AtomicU64,
    /// The number of sleeping threads; it changes only under the lock of the state.
    sleepers: AtomicUsize,
    condvar: Condvar,
}

/// Work that threads may take part in.
struct Offer {
    number: u64,
    work: Work,
    /// The number of threads that may still join.
    wanted: usize,
    running: usize,
}

/// The function that every thread of an offer calls.
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
    // SAFETY: the lifetime is of no account to the layout; `OfferGuard` ends the offer before `work` can be gone.
    let shared = Work(unsafe {
        std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync + 'static)>(
            work,
        )
    });
    let _offer = OfferGuard { number: POOL.offer(shared, others) };
    work(0);
}

/// Withdraws an offer when it is dropped, also during a panic.
struct OfferGuard {
    number: u64,
}

impl OfferGuard {
    fn runs(&self, state: &PoolState) -> bool {
        state.offers.iter().any(|offer| offer.number == self.number && offer.running > 0)
    }
}

impl Drop for OfferGuard {
    fn drop(&mut self) {
        let mut state = POOL.lock();
        let own = state.offers.iter_mut().filter(|offer| offer.number == self.number);
        own.for_each(|offer| offer.wanted = 0);
        if self.runs(&state) {
            state = POOL.done.spin(state);
        }
        while self.runs(&state) {
            state = POOL.done.sleep(state);
        }
        state.offers.retain(|offer| offer.number != self.number);
    }
}

impl Signal {
    const fn new() -> Signal {
        Signal { changes: AtomicU64::new(0), sleepers: AtomicUsize::new(0), condvar: Condvar::new() }
    }

    /// Wakes up to `threads` sleepers, after the change and with the lock of the state.
    fn notify(&self, state: MutexGuard<'_, PoolState>, threads: usize) {
        self.changes.fetch_add(1, Ordering::Relaxed);
        let sleepers = self.sleepers.load(Ordering::Relaxed);
        drop(state);
        // Each notification is a system call: only sleepers get one.
        for _ in 0..sleepers.min(threads) {
            self.condvar.notify_one();
        }
    }

    /// Spins until a change, for at most [`SPIN_TIME`].
    fn spin<'a>(&self, state: MutexGuard<'a, PoolState>) -> MutexGuard<'a, PoolState> {
        let seen = self.changes.load(Ordering::Relaxed);
        drop(state);
        let began = Instant::now();
        while self.changes.load(Ordering::Relaxed) == seen && began.elapsed() < SPIN_TIME {
            std::hint::spin_loop();
        }
        POOL.lock()
    }

    /// Sleeps until a change; it may wake up spuriously.
    fn sleep<'a>(&self, state: MutexGuard<'a, PoolState>) -> MutexGuard<'a, PoolState> {
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        let state = self.condvar.wait(state).unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
        state
    }
}

impl ThreadPool {
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn offer(&'static self, work: Work, wanted: usize) -> u64 {
        let mut state = self.lock();
        if state.started == 0 && wanted > 0 {
            loaded_code::keep();
        }
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
        self.more.notify(state, wanted);
        number
    }

    /// The loop of each thread, which never ends.
    fn serve(&self) {
        let mut state = self.lock();
        let mut spun = false;
        loop {
            let Some(offer) = state.offers.iter_mut().find(|offer| offer.wanted > 0) else {
                state = if spun { self.more.sleep(state) } else { self.more.spin(state) };
                spun = !spun;
                continue;
            };
            let index = offer.wanted;
            offer.wanted = offer.wanted.saturating_sub(1);
            offer.running = offer.running.saturating_add(1);
            let guard = WorkerGuard { number: offer.number };
            let Work(work) = offer.work;
            drop(state);
            // SAFETY: the offer stays, and with it what it points to, until `guard` is dropped.
            let work = unsafe { &*work };
            // A panic is reported where it happens; the thread goes on.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(index)));
            drop(guard);
            (state, spun) = (self.lock(), false);
        }
    }
}

/// A thread's participation in an offer.
struct WorkerGuard {
    number: u64,
}

impl Drop for WorkerGuard {
    fn drop(&mut self) {
        let mut state = POOL.lock();
        let own = state.offers.iter_mut().find(|offer| offer.number == self.number);
        if let Some(offer) = own {
            offer.running = offer.running.saturating_sub(1);
        }
        POOL.done.notify(state, usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::UnsafeCell;
    use std::sync::Barrier;

    use super::*;

    /// Miri interprets each step.
    const ROUNDS: usize = if cfg!(miri) { 8 } else { 100 };

    /// Numbers that calls of one launch write without atomics, each its own.
    struct Numbers([UnsafeCell<usize>; 3]);

    // SAFETY: a launch calls with each index once, and ends when its calls have.
    unsafe impl Sync for Numbers {}

    /// Miri finds a data race where nothing orders the accesses of two threads.
    #[test]
    fn calls_see_what_earlier_launches_wrote() {
        let numbers = Numbers([const { UnsafeCell::new(0) }; 3]);
        let calls = AtomicUsize::new(0);
        for _ in 0..ROUNDS {
            run_with(2, &|index| {
                let Numbers(numbers) = &numbers;
                // SAFETY: no other call of this launch has this index.
                unsafe { *numbers[index].get() += 1 };
                calls.fetch_add(1, Ordering::Relaxed);
            });
            // SAFETY: no launch runs.
            let sum: usize = numbers.0.iter().map(|number| unsafe { *number.get() }).sum();
            assert_eq!(sum, calls.load(Ordering::Relaxed));
        }
        assert!(calls.into_inner() >= ROUNDS);
    }

    #[test]
    fn all_parts_run_at_once_and_are_waited_for() {
        for _ in 0..ROUNDS {
            // Three calls meet: none ends before all have begun.
            let meeting = Barrier::new(3);
            let calls = AtomicUsize::new(0);
            run_with(2, &|number| {
                meeting.wait();
                calls.fetch_add(1 << (8 * number), Ordering::Relaxed);
            });
            assert_eq!(calls.into_inner(), 0x01_01_01);
        }
    }

    #[test]
    fn work_without_others_stays_in_its_thread() {
        let own = std::thread::current().id();
        let calls = AtomicUsize::new(0);
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
                    for _ in 0..ROUNDS {
                        run_with(3, &|_| {
                            calls.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
            }
        });
        let calls = calls.into_inner();
        assert!((4 * ROUNDS..=16 * ROUNDS).contains(&calls), "{calls}");
    }
}
