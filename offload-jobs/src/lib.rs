//! Tokens of a jobserver for threads and processes, and slots for actions on remote workers.
//!
//! [`Jobs`] hands out a [`Token`] for each process that may run here, and where there are remote workers, a slot there if no
//! processor here is free sooner. Threads that wait for a token take the first one of the process's own and the
//! jobserver's.
//!
//! ```
//! use offload_jobs::Jobs;
//!
//! let jobs = Jobs::new(None);
//! let lengths = jobs.map(&["a", "bc"], |text| {
//!     let _token = jobs.token();
//!     // A process would run here.
//!     text.len()
//! });
//! assert_eq!(lengths, [1, 2]);
//! ```

#![forbid(unsafe_code)]

mod slots;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jobserver::{Acquired, HelperThread};
use offload_packer::Workers;
use offload_protocol::remote::Room;

pub use jobserver::Client;

use self::slots::RemoteSlots;

/// Tokens of cargo's jobserver. A build script holds one from the start.
///
/// A waiting thread takes the first free token, the script's own or one of the jobserver: with one job, or when
/// several build scripts hold all tokens, the jobserver has none to give until they end.
#[derive(Debug)]
pub struct Jobs {
    /// Asks the jobserver, so that a thread can wait for two things; nothing without a jobserver.
    helper: Option<HelperThread>,
    pool: Arc<Pool>,
    /// How many more threads may be started.
    spare: AtomicUsize,
}

/// The right to run one action, locally or on a remote worker.
#[derive(Debug)]
pub enum Grant<'a> {
    /// On a processor of this machine.
    Local(Token<'a>),
    /// On a worker.
    Remote(RemoteSlot<'a>),
}

/// The right to run one action on a remote worker; returned when dropped.
#[derive(Debug)]
pub struct RemoteSlot<'a> {
    pool: &'a Pool,
}

/// The time that an action waits for a local processor before it goes to a worker: the jobserver takes a moment to answer
/// where processors are free.
const PATIENCE: Duration = Duration::from_millis(2);

/// Most threads wait for a process, so there are more than processors. There are not as many as kernel modules: a
/// build script may have thousands.
const THREADS: usize = 128;

/// The right to run one process; given back when dropped.
#[derive(Debug)]
pub struct Token<'a> {
    pool: &'a Pool,
    right: Option<Right>,
}

#[derive(Debug)]
struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    free: Vec<Right>,
    waiting: usize,
    slots: RemoteSlots,
}

#[derive(Debug)]
enum Right {
    Own,
    Granted(#[expect(dead_code, reason = "dropping it gives the token back")] Acquired),
    /// There is no jobserver, or it is broken. That must not stop the build: the number of threads is the limit.
    Unlimited,
}

impl Jobs {
    /// Tokens of the jobserver of `client`; without one, every process may run, and the number of threads is the limit.
    pub fn new(client: Option<Client>) -> Jobs {
        let state = Mutex::new(State { free: vec![Right::Own], waiting: 0, slots: RemoteSlots::new(0) });
        let pool = Arc::new(Pool { state, changed: Condvar::new() });
        let granted = pool.clone();
        let helper = client.and_then(|client| {
            client
                .into_helper_thread(move |token| granted.put(token.map_or(Right::Unlimited, Right::Granted)))
                .ok()
        });
        Jobs { helper, pool, spare: AtomicUsize::new(THREADS) }
    }

    /// Waits until another process may run.
    pub fn token(&self) -> Token<'_> {
        let right = self.helper.as_ref().map_or(Right::Unlimited, |helper| self.pool.take(helper));
        Token { pool: &self.pool, right: Some(right) }
    }

    /// Lets remote workers run up to `count` actions at once. Each has a local thread that waits for it.
    pub fn set_remote_limit(&self, count: usize) {
        self.pool.state().slots = RemoteSlots::new(count);
        self.spare.fetch_add(count, Ordering::Relaxed);
    }

    /// Sets how many actions remote workers have room for.
    pub fn set_remote_room(&self, room: Room) {
        self.pool.state().slots.set_room(room);
        self.pool.changed.notify_all();
    }

    /// The right to run a process, if a processor here is known to be free.
    pub fn idle(&self) -> Option<Token<'_>> {
        let right = self.pool.state().free.pop()?;
        Some(Token { pool: &self.pool, right: Some(right) })
    }

    /// Waits until an action may run, locally or on a remote worker, whichever is sooner.
    pub fn local_or_remote(&self) -> Grant<'_> {
        if let Some(helper) = &self.helper {
            return self.pool.local_or_remote(helper);
        }
        if self.pool.state().slots.try_acquire() {
            return Grant::Remote(RemoteSlot { pool: &self.pool });
        }
        Grant::Local(self.token())
    }

    /// Calls `work` for every item, in parallel; results are in the order of the items. `work` may call it again.
    pub fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::default()).collect();
        self.each_item(items.len(), &|index| {
            if let (Some(item), Some(result)) = (items.get(index), results.get(index)) {
                let done = work(item);
                *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            }
        });
        results
            .into_iter()
            .filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect()
    }

    fn each_item(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        let threads = self.threads(count.saturating_sub(1));
        each_beside(threads.count, count, work);
    }

    /// The right to start up to `wanted` threads.
    fn threads(&self, wanted: usize) -> Threads<'_> {
        let mut count = 0;
        let _ = self.spare.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |spare| {
            count = spare.min(wanted);
            Some(spare.saturating_sub(count))
        });
        Threads { spare: &self.spare, count }
    }
}

/// Threads that may run; given back when dropped.
#[derive(Debug)]
struct Threads<'a> {
    spare: &'a AtomicUsize,
    count: usize,
}

impl Drop for Threads<'_> {
    fn drop(&mut self) {
        self.spare.fetch_add(self.count, Ordering::Relaxed);
    }
}

impl Workers for Jobs {
    /// In as many threads as there are processors, each of which holds a token while it works.
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(count);
        let numbers = SharedNumbers::below(count);
        self.each_item(threads, &|_| {
            let _token = self.token();
            numbers.take(work);
        });
    }
}

/// Numbers of which threads take one after the other.
struct SharedNumbers {
    next: AtomicUsize,
    count: usize,
}

impl SharedNumbers {
    fn below(count: usize) -> SharedNumbers {
        SharedNumbers { next: AtomicUsize::new(0), count }
    }

    /// Calls `work` with numbers that no other thread has taken, until there are none.
    fn take(&self, work: &(dyn Fn(usize) + Sync)) {
        std::iter::from_fn(|| {
            Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < self.count)
        })
        .for_each(work);
    }
}

/// Calls `work` with every number below `count`, each once, in this thread and up to `others` more.
pub fn each_beside(others: usize, count: usize, work: &(dyn Fn(usize) + Sync)) {
    let numbers = SharedNumbers::below(count);
    thread::scope(|scope| {
        for _ in 0..others {
            // Where there can be no thread more, those that are there do it all.
            if thread::Builder::new().spawn_scoped(scope, || numbers.take(work)).is_err() {
                break;
            }
        }
        numbers.take(work);
    });
}

impl Pool {
    fn take(&self, helper: &HelperThread) -> Right {
        let mut state = self.state();
        if let Some(right) = state.free.pop() {
            return right;
        }
        state.waiting = state.waiting.saturating_add(1);
        helper.request_token();
        loop {
            state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
            if let Some(right) = state.free.pop() {
                state.waiting = state.waiting.saturating_sub(1);
                return right;
            }
        }
    }

    /// Waits for a local right or a remote slot.
    fn local_or_remote(&self, helper: &HelperThread) -> Grant<'_> {
        let mut state = self.state();
        if let Some(right) = state.free.pop() {
            return self.local(right);
        }
        state.waiting = state.waiting.saturating_add(1);
        state.slots.add_waiting();
        helper.request_token();
        let patient_until = Instant::now() + PATIENCE;
        loop {
            if let Some(right) = state.free.pop() {
                state.stop_waiting();
                return self.local(right);
            }
            let patience = patient_until.saturating_duration_since(Instant::now());
            if !patience.is_zero() {
                state = self.changed.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            if state.slots.try_acquire() {
                state.stop_waiting();
                return Grant::Remote(RemoteSlot { pool: self });
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn local(&self, right: Right) -> Grant<'_> {
        Grant::Local(Token { pool: self, right: Some(right) })
    }

    fn put(&self, right: Right) {
        let mut state = self.state();
        // Without a waiting thread the token returns to the jobserver: another build script may wait.
        if state.waiting > 0 || matches!(right, Right::Own) {
            state.free.push(right);
            self.changed.notify_one();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl State {
    /// Ends the wait of an action.
    fn stop_waiting(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
        self.slots.remove_waiting();
    }
}

impl Drop for RemoteSlot<'_> {
    fn drop(&mut self) {
        self.pool.state().slots.release();
        self.pool.changed.notify_all();
    }
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        if let Some(right) = self.right.take() {
            self.pool.put(right);
        }
    }
}

#[cfg(test)]
mod tests;
