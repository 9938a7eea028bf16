//! Locks of values that stay sound whatever a holder does.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, also if a holder has panicked: none leaves a value half changed.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
