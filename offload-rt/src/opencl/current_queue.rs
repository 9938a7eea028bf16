//! The command queue of a stream, which may change.

use std::sync::{Arc, RwLock};

use super::api::CommandQueue;
use crate::block_pool::QueueId;

/// The queue that takes commands. Profiling makes each command slower, so that a stream starts with a queue without it, and
/// goes on with a profiled queue after its first event.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) queue: Arc<CommandQueue>,
    /// It stays: it tells times, or is the caller's.
    pub(super) is_last: bool,
}

/// The queue of a stream, for memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamQueue<'s> {
    pub(super) current: &'s Arc<RwLock<Current>>,
    /// Its number in pools, which does not change.
    pub(super) id: QueueId,
}
