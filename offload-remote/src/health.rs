//! Whether a server is worth asking.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::sync::locked;

/// So many requests of a kind in a row that failed, each after all its attempts, and the server gets none for a while.
const FAILURES: u32 = 3;
/// Then one request tries it again.
const REST: Duration = Duration::from_secs(60);
/// So many limits of time that builds have waited in vain, and the server is left alone for good.
const LIMITS: u32 = 2;

/// What a request wants. A server may answer one kind and not another, so that each has failures of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A result, for which a build waits.
    Reading,
    /// Storing one, beside a build.
    Storing,
    /// Running a command, which may take any time.
    Running,
}

/// How the last requests went.
#[derive(Debug)]
pub(crate) struct Health {
    /// How long builds may wait in vain, all together.
    budget: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    reading: Count,
    storing: Count,
    running: Count,
    /// How long builds have waited in vain. Requests that wait at the same time count once.
    lost: Duration,
    lost_until: Option<Instant>,
}

/// Requests of a kind.
#[derive(Debug, Default)]
struct Count {
    failures: u32,
    asked: Option<Instant>,
}

impl Health {
    /// For a server whose calls may take `timeout`.
    pub(crate) fn new(timeout: Duration) -> Health {
        Health { budget: timeout.saturating_mul(LIMITS), state: Mutex::default() }
    }

    /// Whether the next request asks the server. Of those that come while it rests, the first of each minute does.
    pub(crate) fn allows(&self, purpose: Purpose) -> bool {
        let mut state = locked(&self.state);
        if state.lost >= self.budget {
            return false;
        }
        let count = state.count(purpose);
        let rests = count.failures >= FAILURES && count.asked.is_some_and(|asked| asked.elapsed() < REST);
        if !rests {
            count.asked = Some(Instant::now());
        }
        !rests
    }

    pub(crate) fn succeeded(&self, purpose: Purpose) {
        locked(&self.state).count(purpose).failures = 0;
    }

    /// A request has failed that began at `begun`.
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

impl State {
    fn count(&mut self, purpose: Purpose) -> &mut Count {
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
