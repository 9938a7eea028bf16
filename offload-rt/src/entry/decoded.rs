//! Bytes that one thread decodes and all get, also in a process that was forked meanwhile.

use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use crate::error::Error;

/// The decoded bytes of an image, while they are in use.
#[derive(Default)]
pub(super) struct Decoded {
    /// Locked for moments alone: a fork copies a lock as it is, and not the thread that would open it.
    state: Mutex<DecodeState>,
    changed: Condvar,
}

#[derive(Default)]
enum DecodeState {
    /// Not decoded yet, or no longer in use.
    #[default]
    Absent,
    /// A thread of the process of this number is at work.
    InProgress(u32),
    Bytes(Weak<Vec<u8>>),
    /// It stays.
    Failed(Error),
}

impl Decoded {
    /// The bytes. If they are absent, one thread decodes them, and the others wait for it.
    pub(super) fn get(&self, decode: impl FnOnce() -> Result<Vec<u8>, Error>) -> Result<Arc<Vec<u8>>, Error> {
        let process = this_process();
        let mut state = self.state();
        loop {
            match &*state {
                DecodeState::Failed(error) => return Err(error.clone()),
                DecodeState::InProgress(of) if *of == process => {}
                DecodeState::Bytes(bytes) => match bytes.upgrade() {
                    Some(bytes) => return Ok(bytes),
                    None => break,
                },
                // What a thread of the process before the fork is at comes to no end here.
                DecodeState::Absent | DecodeState::InProgress(_) => break,
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        *state = DecodeState::InProgress(process);
        drop(state);
        let mut work = Work { of: self, outcome: DecodeState::Absent };
        let decoded = decode().map(Arc::new);
        work.outcome = match &decoded {
            Ok(bytes) => DecodeState::Bytes(Arc::downgrade(bytes)),
            Err(error) => DecodeState::Failed(error.clone()),
        };
        decoded
    }

    /// Whether the bytes are in use.
    #[cfg(all(test, feature = "opencl"))]
    pub(super) fn is_held(&self) -> bool {
        matches!(&*self.state(), DecodeState::Bytes(bytes) if bytes.strong_count() > 0)
    }

    fn state(&self) -> MutexGuard<'_, DecodeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of this process. WebAssembly has none, and no forks.
fn this_process() -> u32 {
    if cfg!(target_family = "wasm") { 0 } else { std::process::id() }
}

/// Tells the others how it ended, also with a panic.
struct Work<'d> {
    of: &'d Decoded,
    outcome: DecodeState,
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        *self.of.state() = mem::take(&mut self.outcome);
        self.of.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_panic_the_next_one_decodes() {
        let decoded = Decoded::default();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            decoded.get(|| panic!("on purpose")).map(drop)
        }));
        assert!(panicked.is_err());
        let bytes = decoded.get(|| Ok(vec![1])).unwrap();
        assert!(Arc::ptr_eq(&bytes, &decoded.get(|| Ok(vec![2])).unwrap()));
    }

    #[test]
    fn decoding_of_another_process_is_started_again() {
        let decoded = Decoded::default();
        *decoded.state() = DecodeState::InProgress(this_process() ^ 1);
        assert_eq!(*decoded.get(|| Ok(vec![1])).unwrap(), [1]);
    }
}
