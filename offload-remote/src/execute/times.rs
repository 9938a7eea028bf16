//! How long commands waited for a worker. Some servers write it down; with others it is what a call took longer than the
//! work, and longer than the quickest call did: the way there and back is no waiting.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::api::ExecutedActionMetadata;
use crate::api::protobuf::Timestamp;

/// How long a command took, in milliseconds; 0 where its server does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    /// Until a worker took it.
    pub(super) waited: u64,
    /// From then on.
    pub(super) worked: u64,
}

/// What the quickest call took beside the work, in milliseconds.
#[derive(Debug)]
pub(super) struct Calls {
    quickest: AtomicU64,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls { quickest: AtomicU64::new(u64::MAX) }
    }
}

impl Calls {
    /// The times of a command whose call took `call`.
    pub(super) fn times(&self, metadata: Option<&ExecutedActionMetadata>, call: Duration) -> Times {
        let Some(metadata) = metadata else { return Times::default() };
        let begun = metadata.worker_start_timestamp.as_ref();
        let worked = milliseconds(begun, metadata.worker_completed_timestamp.as_ref()).unwrap_or_default();
        let waited = milliseconds(metadata.queued_timestamp.as_ref(), begun);
        Times { waited: waited.unwrap_or_else(|| self.waited(call, worked)), worked }
    }

    fn waited(&self, call: Duration, worked: u64) -> u64 {
        let call = u64::try_from(call.as_millis()).unwrap_or(u64::MAX);
        let beside = call.saturating_sub(worked);
        let quickest = self.quickest.fetch_min(beside, Ordering::Relaxed).min(beside);
        if worked == 0 { 0 } else { beside.saturating_sub(quickest) }
    }
}

/// From one time to another, if both are known and in this order.
fn milliseconds(from: Option<&Timestamp>, to: Option<&Timestamp>) -> Option<u64> {
    let since_1970 = |time: &Timestamp| i128::from(time.seconds) * 1_000 + i128::from(time.nanos) / 1_000_000;
    u64::try_from(since_1970(to?) - since_1970(from?)).ok()
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
        let calls = Calls::default();
        let told = metadata(Some(5_900), 6_100, 7_050);
        let times = calls.times(Some(&told), Duration::from_secs(60));
        assert_eq!(times, Times { waited: 200, worked: 950 });
        assert_eq!(calls.times(None, Duration::from_secs(60)), Times::default());
        let backwards = metadata(Some(9_000), 6_100, 5_000);
        assert_eq!(calls.times(Some(&backwards), Duration::ZERO), Times::default());
    }

    #[test]
    fn the_way_there_and_back_is_no_waiting() {
        let calls = Calls::default();
        let silent = metadata(None, 1_000, 1_100);
        let waited = [600, 620, 1_600].map(|call| {
            let times = calls.times(Some(&silent), Duration::from_millis(call));
            assert_eq!(times.worked, 100);
            times.waited
        });
        assert_eq!(waited, [0, 20, 1_000]);
    }
}
