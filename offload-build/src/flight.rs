//! Actions that are under way in this process, so that two targets that need the same result make it once.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use crate::cache::Key;

/// The actions that run now.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    running: Mutex<BTreeMap<Key, Running>>,
}

/// An action, and those who wait for it. They are woken one by one: thousands of modules may want one result.
#[derive(Debug, Default)]
struct Running {
    busy: bool,
    waiting: usize,
    landed: Arc<Condvar>,
}

/// The right to run an action; others that want the same one wait until it is dropped.
#[derive(Debug)]
pub(crate) struct Flight<'a> {
    flights: &'a Flights,
    key: Key,
}

impl Flights {
    /// Waits while the action `key` runs elsewhere. What it made is in the cache then: look before running.
    pub(crate) fn enter(&self, key: Key) -> Flight<'_> {
        let mut running = self.running();
        let mut action = running.entry(key).or_default();
        action.waiting = action.waiting.saturating_add(1);
        while action.busy {
            let landed = action.landed.clone();
            running = landed.wait(running).unwrap_or_else(|poisoned| poisoned.into_inner());
            action = running.entry(key).or_default();
        }
        action.waiting = action.waiting.saturating_sub(1);
        action.busy = true;
        Flight { flights: self, key }
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<Key, Running>> {
        self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let mut running = self.flights.running();
        match running.get_mut(&self.key) {
            Some(action) if action.waiting > 0 => {
                action.busy = false;
                action.landed.notify_one();
            }
            _ => drop(running.remove(&self.key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::cache::KeyBuilder;

    #[test]
    fn one_at_a_time_for_each_key() {
        let (flights, inside, most) = (Flights::default(), AtomicU32::new(0), AtomicU32::new(0));
        let key = KeyBuilder::new("x").finish();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _flight = flights.enter(key);
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(std::time::Duration::from_millis(2));
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
            drop(flights.enter(KeyBuilder::new("y").finish()));
        });
        assert_eq!(most.into_inner(), 1);
        assert!(flights.running().is_empty());
    }
}
