//! The streams that use an object.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::api::DriverApi;
use super::stream_handle::StreamHandle;

/// Whose work comes before the end of an object.
#[derive(Debug)]
pub(super) struct StreamUsers<A: DriverApi> {
    /// Each once: a graph notes a stream at its first launch there alone.
    known: Mutex<Vec<Arc<StreamHandle<A>>>>,
    /// Other code uses it, in streams that are not known.
    is_given_away: AtomicBool,
}

impl<A: DriverApi> StreamUsers<A> {
    pub(super) fn new() -> StreamUsers<A> {
        StreamUsers { known: Mutex::default(), is_given_away: AtomicBool::new(false) }
    }

    /// Notes that work in `stream` uses the object.
    pub(super) fn add(&self, stream: &Arc<StreamHandle<A>>) {
        if stream.is_capturing() {
            // Launches of a graph are uses, its capture is none.
            return;
        }
        if stream.is_adopted() {
            // It may be gone when the object goes.
            return self.give_away();
        }
        let mut known = self.lock();
        if !known.iter().any(|user| user.raw == stream.raw) {
            known.push(stream.clone());
        }
    }

    /// Notes that other code has the object.
    pub(super) fn give_away(&self) {
        self.is_given_away.store(true, Ordering::Release);
    }

    /// The streams; `None` if not all are known.
    pub(super) fn all(&self) -> Option<MutexGuard<'_, Vec<Arc<StreamHandle<A>>>>> {
        (!self.is_given_away.load(Ordering::Acquire)).then(|| self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<StreamHandle<A>>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
