//! Results that are found once in a process and asked for often.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::error::Result;

/// Results by key. Errors are not kept: whoever asks again looks again.
#[derive(Debug)]
pub(crate) struct Memo<K, V>(Mutex<BTreeMap<K, V>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Memo<K, V> {
        Memo(Mutex::default())
    }
}

impl<K: Ord, V: Clone> Memo<K, V> {
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub(crate) fn put(&self, key: K, value: &V) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, value.clone());
    }

    /// What is kept under `key`, or what `find` finds. Nothing is locked meanwhile; two may find the same.
    pub(crate) fn get_or(&self, key: K, find: impl FnOnce() -> Result<V>) -> Result<V> {
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
    use super::*;
    use crate::error::Error;

    #[test]
    fn what_is_found_is_kept_and_errors_are_not() {
        let memo = Memo::default();
        assert!(memo.get_or("a", || Err(Error::new("missing"))).is_err());
        assert_eq!(memo.get_or("a", || Ok(1)).unwrap(), 1);
        assert_eq!(memo.get_or("a", || Ok(2)).unwrap(), 1);
        assert_eq!(memo.get_or("b", || Ok(3)).unwrap(), 3);
    }
}
