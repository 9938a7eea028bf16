//! Upload queue: builds do not wait for uploads, and queued results have a memory limit.

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

/// The limit of queued and in-flight bytes; beyond it the oldest queued result is dropped.
const MAX_QUEUED_BYTES: u64 = 512 << 20;
/// The uploads in flight.
const MAX_IN_FLIGHT: usize = 8;

/// Queued and in-flight results.
#[derive(Debug)]
pub(crate) struct Queue {
    remote: Arc<Remote>,
    limit: u64,
    state: Mutex<QueueState>,
    /// Notifies flushes that an upload has ended.
    ended: Notify,
    places: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: VecDeque<Item>,
    bytes: u64,
    next: u64,
    /// Sequence numbers of queued and in-flight results.
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
        Queue::with_limit(remote, MAX_QUEUED_BYTES)
    }

    fn with_limit(remote: Arc<Remote>, limit: u64) -> Arc<Queue> {
        Arc::new(Queue {
            remote,
            limit,
            state: Mutex::default(),
            ended: Notify::new(),
            places: Arc::new(Semaphore::new(MAX_IN_FLIGHT)),
        })
    }

    /// Queues a result, unless this process has queued one under the key before.
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
        let has_dropped = state.shrink(self.limit);
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

    /// Whether no upload is left.
    pub(crate) fn is_empty(&self) -> bool {
        locked(&self.state).unfinished.is_empty()
    }

    /// Waits at most `limit` until all results queued so far are stored.
    pub(crate) async fn flush(&self, limit: Duration) -> FlushOutcome {
        let end = locked(&self.state).next;
        let deadline = Instant::now() + limit;
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            // Registered before the check, so that no notification is missed.
            ended.as_mut().enable();
            if locked(&self.state).unfinished.first().is_none_or(|first| *first >= end) {
                return FlushOutcome::Complete;
            }
            if timeout_at(deadline, ended).await.is_err() {
                return FlushOutcome::TimedOut;
            }
        }
    }

    /// Uploads the oldest queued result. Each `put` spawns one of these.
    async fn send_one(&self) {
        let Ok(_place) = self.places.acquire().await else { return };
        let Some(item) = locked(&self.state).waiting.pop_front() else { return };
        let size = item.stored.len() as u64;
        self.remote.put(item.key, item.stored).await;
        locked(&self.state).end(item.number, size);
        self.ended.notify_waiters();
    }
}

/// The outcome of [`Queue::flush`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlushOutcome {
    Complete,
    TimedOut,
}

impl QueueState {
    fn end(&mut self, number: u64, size: u64) {
        self.unfinished.remove(&number);
        self.bytes = self.bytes.saturating_sub(size);
    }

    /// Drops the oldest queued results above `limit` bytes, except the last one. Returns whether it dropped any.
    fn shrink(&mut self, limit: u64) -> bool {
        let mut has_dropped = false;
        while self.bytes > limit && self.waiting.len() > 1 {
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
