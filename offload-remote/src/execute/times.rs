//! Queueing times of actions. Some servers record them; for others they are the duration of the call, less the time on the
//! worker and the smallest overhead of a call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::api::ExecutedActionMetadata;
use crate::api::protobuf::Timestamp;

/// The times of an action, in milliseconds; 0 where the server records none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ActionTimes {
    /// In the queue.
    pub(super) waited: u64,
    /// On the worker.
    pub(super) worked: u64,
}

/// The smallest overhead of a call so far, in milliseconds.
#[derive(Debug)]
pub(super) struct CallOverhead {
    quickest: AtomicU64,
}

impl Default for CallOverhead {
    fn default() -> CallOverhead {
        CallOverhead { quickest: AtomicU64::new(u64::MAX) }
    }
}

impl CallOverhead {
    /// The times of an action whose call took `call`.
    pub(super) fn times(&self, metadata: Option<&ExecutedActionMetadata>, call: Duration) -> ActionTimes {
        let Some(metadata) = metadata else { return ActionTimes::default() };
        let begun = metadata.worker_start_timestamp.as_ref();
        let worked = milliseconds(begun, metadata.worker_completed_timestamp.as_ref()).unwrap_or_default();
        let waited = milliseconds(metadata.queued_timestamp.as_ref(), begun);
        ActionTimes { waited: waited.unwrap_or_else(|| self.waited(call, worked)), worked }
    }

    fn waited(&self, call: Duration, worked: u64) -> u64 {
        let call = u64::try_from(call.as_millis()).unwrap_or(u64::MAX);
        let beside = call.saturating_sub(worked);
        let quickest = self.quickest.fetch_min(beside, Ordering::Relaxed).min(beside);
        if worked == 0 { 0 } else { beside.saturating_sub(quickest) }
    }
}

/// The time between two timestamps, if both are known and in this order.
fn milliseconds(from: Option<&Timestamp>, to: Option<&Timestamp>) -> Option<u64> {
    u64::try_from(unix_milliseconds(to?) - unix_milliseconds(from?)).ok()
}

fn unix_milliseconds(time: &Timestamp) -> i128 {
    i128::from(time.seconds) * 1_000 + i128::from(time.nanos) / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: i64) -> Option<Timestamp> {
        let nanos = i32::try_from(milliseconds % 1_000).unwrap() * 1_000_000;
        Some(Timestamp { seconds: milliseconds / 1_000, nanos })
    }

    fn metadata(queued: Option<i64>, begun: i64, completed: i64) -> ExecutedActionMetadata {
        ExecutedActionMetadata {
            queued_timestamp: queued.and_then(at),
            worker_start_timestamp: at(begun),
            worker_completed_timestamp: at(completed),
            ..ExecutedActionMetadata::default()
        }
    }

    #[test]
    fn a_server_that_tells_is_believed() {
        let calls = CallOverhead::default();
        let recorded = metadata(Some(5_900), 6_100, 7_050);
        let times = calls.times(Some(&recorded), Duration::from_secs(60));
        assert_eq!(times, ActionTimes { waited: 200, worked: 950 });
        assert_eq!(calls.times(None, Duration::from_secs(60)), ActionTimes::default());
        let backwards = metadata(Some(9_000), 6_100, 5_000);
        assert_eq!(calls.times(Some(&backwards), Duration::ZERO), ActionTimes::default());
    }

    #[test]
    fn the_way_there_and_back_is_no_waiting() {
        let calls = CallOverhead::default();
        let silent = metadata(None, 1_000, 1_100);
        let waited = [600, 620, 1_600].map(|call| {
            let times = calls.times(Some(&silent), Duration::from_millis(call));
            assert_eq!(times.worked, 100);
            times.waited
        });
        assert_eq!(waited, [0, 20, 1_000]);
    }
}
