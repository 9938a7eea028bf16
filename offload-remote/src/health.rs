//! Circuit breaker: a server that fails gets no requests for a while.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::sync::locked;

/// The consecutive failures of a purpose, each after all retries, that open the circuit.
const MAX_FAILURES: u32 = 3;
/// The time until one request tries again.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);
/// The budget of lost time, in timeouts; beyond it the server gets no requests at all.
const BUDGET_TIMEOUTS: u32 = 2;

/// The purpose of a request. Failures are counted by purpose: a server may serve one and not another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A lookup, for which a build waits.
    Reading,
    /// An upload in the background.
    Storing,
    /// An execution, which may take any time.
    Running,
}

/// The state of the circuit.
#[derive(Debug)]
pub(crate) struct Health {
    /// The longest time that all builds together may lose.
    budget: Duration,
    state: Mutex<HealthState>,
}

#[derive(Debug, Default)]
struct HealthState {
    reading: PurposeHealth,
    storing: PurposeHealth,
    running: PurposeHealth,
    /// The time lost so far. Concurrent requests count once.
    lost: Duration,
    lost_until: Option<Instant>,
}

/// The requests of one purpose.
#[derive(Debug, Default)]
struct PurposeHealth {
    failures: u32,
    asked: Option<Instant>,
}

impl Health {
    /// For a server whose calls have this timeout.
    pub(crate) fn new(timeout: Duration) -> Health {
        Health { budget: timeout.saturating_mul(BUDGET_TIMEOUTS), state: Mutex::default() }
    }

    /// Whether the next request is sent. While the circuit is open, one request a minute is.
    pub(crate) fn allows(&self, purpose: Purpose) -> bool {
        let mut state = locked(&self.state);
        if state.lost >= self.budget {
            return false;
        }
        let count = state.count(purpose);
        let rests = count.failures >= MAX_FAILURES
            && count.asked.is_some_and(|asked| asked.elapsed() < RETRY_INTERVAL);
        if !rests {
            count.asked = Some(Instant::now());
        }
        !rests
    }

    pub(crate) fn succeeded(&self, purpose: Purpose) {
        locked(&self.state).count(purpose).failures = 0;
    }

    /// Records a failed request that began at `begun`.
    pub(crate) fn failed(&self, purpose: Purpose, begun: Instant) {
        let mut state = locked(&self.state);
        let now = Instant::now();
        let count = state.count(purpose);
        count.failures = count.failures.saturating_add(1);
        count.asked = Some(now);
        if purpose == Purpose::Reading {
            let since = state.lost_until.map_or(begun, |until| until.max(begun));
            state.lost = state.lost.saturating_add(now.saturating_duration_since(since));
            state.lost_until = Some(now);
        }
    }
}

impl HealthState {
    fn count(&mut self, purpose: Purpose) -> &mut PurposeHealth {
        match purpose {
            Purpose::Reading => &mut self.reading,
            Purpose::Storing => &mut self.storing,
            Purpose::Running => &mut self.running,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Purpose::{Reading, Running, Storing};

    /// With a budget that these tests do not use up.
    fn health() -> Health {
        Health::new(Duration::from_secs(3600))
    }

    fn fail(health: &Health, purpose: Purpose) {
        health.failed(purpose, Instant::now());
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_rests_after_three_failures_and_is_asked_once_a_minute() {
        let health = health();
        for _ in 0..3 {
            assert!(health.allows(Reading));
            fail(&health, Reading);
        }
        assert!(!health.allows(Reading));
        tokio::time::sleep(Duration::from_secs(61)).await;
        assert!(health.allows(Reading));
        assert!(!health.allows(Reading));
        fail(&health, Reading);
        assert!(!health.allows(Reading));
        tokio::time::sleep(Duration::from_secs(61)).await;
        assert!(health.allows(Reading));
        health.succeeded(Reading);
        assert!(health.allows(Reading) && health.allows(Reading));
    }

    #[tokio::test]
    async fn a_success_between_failures_counts() {
        let health = health();
        for _ in 0..2 {
            fail(&health, Reading);
            fail(&health, Reading);
            health.succeeded(Reading);
        }
        assert!(health.allows(Reading));
    }

    #[tokio::test]
    async fn a_success_of_another_kind_does_not_count() {
        let health = health();
        for _ in 0..3 {
            fail(&health, Reading);
            health.succeeded(Storing);
            health.succeeded(Running);
        }
        assert!(!health.allows(Reading) && health.allows(Storing) && health.allows(Running));
    }

    #[tokio::test(start_paused = true)]
    async fn what_builds_wait_in_vain_has_a_limit() {
        let health = Health::new(Duration::from_secs(3));
        // Two at once, with successes between: each pair costs three seconds.
        for _ in 0..2 {
            assert!(health.allows(Reading));
            let begun = Instant::now();
            tokio::time::sleep(Duration::from_secs(3)).await;
            health.failed(Reading, begun);
            health.failed(Reading, begun);
            health.succeeded(Reading);
        }
        assert!(!health.allows(Reading) && !health.allows(Storing) && !health.allows(Running));
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert!(!health.allows(Reading));
    }

    #[tokio::test(start_paused = true)]
    async fn commands_and_uploads_hold_up_no_build() {
        let health = Health::new(Duration::from_secs(3));
        let begun = Instant::now();
        tokio::time::sleep(Duration::from_secs(600)).await;
        health.failed(Running, begun);
        health.failed(Storing, begun);
        assert!(health.allows(Reading) && health.allows(Running));
    }
}
