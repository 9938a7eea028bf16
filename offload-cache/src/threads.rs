//! In-process deduplication: a lock for each key, and a memo of results.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::name::Key;

/// The keys whose results are being made now.
#[derive(Debug, Default)]
pub(crate) struct KeyLocks {
    locked: Mutex<BTreeMap<Key, Waiters>>,
}

/// Those who want a key. They are woken one by one: thousands of modules may want one result.
#[derive(Debug, Default)]
struct Waiters {
    busy: bool,
    waiting: usize,
    released: Arc<Condvar>,
}

/// The right to make the result of a key; others that want the same one wait until it is dropped.
#[derive(Debug)]
pub struct KeyLock<'a> {
    locks: &'a KeyLocks,
    key: Key,
}

impl KeyLocks {
    /// Waits while another thread has the lock of `key`.
    pub(crate) fn lock(&self, key: Key) -> KeyLock<'_> {
        let mut locked = self.locked();
        let mut waiters = locked.entry(key).or_default();
        waiters.waiting = waiters.waiting.saturating_add(1);
        while waiters.busy {
            let released = waiters.released.clone();
            locked = released.wait(locked).unwrap_or_else(PoisonError::into_inner);
            waiters = locked.entry(key).or_default();
        }
        waiters.waiting = waiters.waiting.saturating_sub(1);
        waiters.busy = true;
        KeyLock { locks: self, key }
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<Key, Waiters>> {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for KeyLock<'_> {
    fn drop(&mut self) {
        let mut locked = self.locks.locked();
        match locked.get_mut(&self.key) {
            Some(waiters) if waiters.waiting > 0 => {
                waiters.busy = false;
                waiters.released.notify_one();
            }
            _ => drop(locked.remove(&self.key)),
        }
    }
}

/// Results by key. Errors are not kept: the next lookup repeats the work.
#[derive(Debug)]
pub struct Memo<K, V>(Mutex<BTreeMap<K, V>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Memo<K, V> {
        Memo(Mutex::default())
    }
}

impl<K: Ord, V: Clone> Memo<K, V> {
    /// The value of `key`, if it is there.
    pub fn get(&self, key: &K) -> Option<V> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Keeps `value` under `key`.
    pub fn put(&self, key: K, value: &V) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, value.clone());
    }

    /// What is kept under `key`, or what `find` finds. Nothing is locked meanwhile; two may find the same.
    ///
    /// # Errors
    /// That of `find`.
    pub fn get_or<E>(&self, key: K, find: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        if let Some(kept) = self.get(&key) {
            return Ok(kept);
        }
        let found = find()?;
        self.put(key, &found);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::KeyBuilder;

    #[test]
    fn one_at_a_time_for_each_key() {
        let locks = KeyLocks::default();
        let inside = AtomicU32::new(0);
        let most = AtomicU32::new(0);
        let key = KeyBuilder::new("x").finish();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _lock = locks.lock(key);
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(std::time::Duration::from_millis(2));
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
            drop(locks.lock(KeyBuilder::new("y").finish()));
        });
        assert_eq!(most.into_inner(), 1);
        assert!(locks.locked().is_empty());
    }

    #[test]
    fn what_is_found_is_kept_and_errors_are_not() {
        let memo = Memo::default();
        assert!(memo.get_or("a", || Err("missing")).is_err());
        assert_eq!(memo.get_or("a", || Ok::<_, ()>(1)).unwrap(), 1);
        assert_eq!(memo.get_or("a", || Ok::<_, ()>(2)).unwrap(), 1);
        assert_eq!(memo.get_or("b", || Ok::<_, ()>(3)).unwrap(), 3);
    }
}
