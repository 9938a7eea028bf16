//! Locks without poisoning.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, also if a holder has panicked: no critical section leaves a value inconsistent.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
