//! Results that wait to be stored: builds never wait for them, and they take a limited share of memory.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use offload_format::Hash128;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::notes::Topic;
use crate::remote::Remote;
use crate::sync::locked;

/// What waits or is on its way, in bytes; the oldest that waits goes when more comes.
const LARGEST: u64 = 512 << 20;
/// So many are on their way at once.
const AT_ONCE: usize = 8;

/// Results on their way.
#[derive(Debug)]
pub(crate) struct Queue {
    remote: Arc<Remote>,
    largest: u64,
    state: Mutex<State>,
    /// Somebody waits until what he has put is stored.
    ended: Notify,
    places: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Item>,
    bytes: u64,
    next: u64,
    /// Numbers of what waits or is on its way.
    unfinished: BTreeSet<u64>,
    keys: BTreeSet<[u8; 16]>,
}

#[derive(Debug)]
struct Item {
    number: u64,
    key: Hash128,
    stored: Bytes,
}

impl Queue {
    pub(crate) fn new(remote: Arc<Remote>) -> Arc<Queue> {
        Queue::with_limit(remote, LARGEST)
    }

    fn with_limit(remote: Arc<Remote>, largest: u64) -> Arc<Queue> {
        Arc::new(Queue {
            remote,
            largest,
            state: Mutex::default(),
            ended: Notify::new(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
        })
    }

    /// Takes a result, unless this process has put one under the key before.
    pub(crate) fn put(self: &Arc<Self>, key: Hash128, stored: Vec<u8>) {
        if !self.remote.stores_results() {
            return;
        }
        let mut state = locked(&self.state);
        if !state.keys.insert(key.0) {
            return;
        }
        let number = state.next;
        state.next = state.next.saturating_add(1);
        state.bytes = state.bytes.saturating_add(stored.len() as u64);
        state.unfinished.insert(number);
        state.waiting.push_back(Item { number, key, stored: stored.into() });
        let has_dropped = state.shrink(self.largest);
        drop(state);
        if has_dropped {
            let url = self.remote.settings.url();
            self.remote.notes.keep(Topic::Storing, || {
                format!(
                    "some results are not stored in `{url}`: it takes them more slowly than they are made"
                )
            });
        }
        let queue = Arc::clone(self);
        tokio::spawn(async move { queue.send_one().await });
    }

    /// Whether everything is stored, or given up.
    pub(crate) fn is_empty(&self) -> bool {
        locked(&self.state).unfinished.is_empty()
    }

    /// Waits until what was put before is stored, at most `limit`.
    pub(crate) async fn flush(&self, limit: Duration) -> Flushed {
        let (end, deadline) = (locked(&self.state).next, Instant::now() + limit);
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            // Registered before the question, so that no end is missed.
            ended.as_mut().enable();
            if locked(&self.state).unfinished.first().is_none_or(|first| *first >= end) {
                return Flushed::All;
            }
            if timeout_at(deadline, ended).await.is_err() {
                return Flushed::Late;
            }
        }
    }

    /// Sends what waits longest. Each result that is put starts one of these.
    async fn send_one(&self) {
        let Ok(_place) = self.places.acquire().await else { return };
        let Some(item) = locked(&self.state).waiting.pop_front() else { return };
        let size = item.stored.len() as u64;
        self.remote.put(item.key, item.stored).await;
        locked(&self.state).end(item.number, size);
        self.ended.notify_waiters();
    }
}

/// How far [`Queue::flush`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flushed {
    All,
    Late,
}

impl State {
    fn end(&mut self, number: u64, size: u64) {
        self.unfinished.remove(&number);
        self.bytes = self.bytes.saturating_sub(size);
    }

    /// Drops the oldest results above `largest` bytes, but for the last one. Whether there was one.
    fn shrink(&mut self, largest: u64) -> bool {
        let mut has_dropped = false;
        while self.bytes > largest && self.waiting.len() > 1 {
            if let Some(item) = self.waiting.pop_front() {
                self.end(item.number, item.stored.len() as u64);
                self.keys.remove(&item.key.0);
                has_dropped = true;
            }
        }
        has_dropped
    }
}

#[cfg(test)]
mod tests;
