//! What was found once: every target asks for the same tools, and looking through `PATH` takes its time.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::error::Result;

/// Results by the name under which they are asked for. Errors are not kept: whoever asks again looks again.
#[derive(Debug)]
pub(crate) struct Known<T>(Mutex<BTreeMap<&'static str, T>>);

impl<T> Default for Known<T> {
    fn default() -> Known<T> {
        Known(Mutex::default())
    }
}

impl<T: Clone> Known<T> {
    /// What is known under `name`, or what `find` finds. Nothing is locked meanwhile; two may find the same.
    pub(super) fn get_or(&self, name: &'static str, find: impl FnOnce() -> Result<T>) -> Result<T> {
        let map = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = map().get(name).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = find()?;
        map().insert(name, found.clone());
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn what_is_found_is_kept_and_errors_are_not() {
        let known = Known::default();
        assert!(known.get_or("a", || Err(Error::new("missing"))).is_err());
        assert_eq!(known.get_or("a", || Ok(1)).unwrap(), 1);
        assert_eq!(known.get_or("a", || Ok(2)).unwrap(), 1);
        assert_eq!(known.get_or("b", || Ok(3)).unwrap(), 3);
    }
}
