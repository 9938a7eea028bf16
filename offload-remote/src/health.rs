//! Whether a server is worth asking.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::sync::locked;

/// So many requests in a row that failed, each after all its attempts, and the server is left alone.
const FAILURES: u32 = 3;
/// Then one request tries it again.
const REST: Duration = Duration::from_secs(60);

/// How the last requests went.
#[derive(Debug, Default)]
pub(crate) struct Health(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    asked: Option<Instant>,
}

impl Health {
    /// Whether the next request asks the server. Of those that come while it rests, the first of each minute does.
    pub(crate) fn allows(&self) -> bool {
        let mut state = locked(&self.0);
        let rests = state.failures >= FAILURES && state.asked.is_some_and(|asked| asked.elapsed() < REST);
        if !rests {
            state.asked = Some(Instant::now());
        }
        !rests
    }

    pub(crate) fn succeeded(&self) {
        locked(&self.0).failures = 0;
    }

    pub(crate) fn failed(&self) {
        let mut state = locked(&self.0);
        state.failures = state.failures.saturating_add(1);
        state.asked = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_rests_after_three_failures_and_is_asked_once_a_minute() {
        let health = Health::default();
        for _ in 0..3 {
            assert!(health.allows());
            health.failed();
        }
        assert!(!health.allows());
        tokio::time::sleep(Duration::from_secs(61)).await;
        assert!(health.allows());
        assert!(!health.allows());
        health.failed();
        assert!(!health.allows());
        tokio::time::sleep(Duration::from_secs(61)).await;
        assert!(health.allows());
        health.succeeded();
        assert!(health.allows() && health.allows());
    }

    #[test]
    fn a_success_between_failures_counts() {
        let health = Health::default();
        for _ in 0..2 {
            health.failed();
            health.failed();
            health.succeeded();
        }
        assert!(health.allows());
    }
}
