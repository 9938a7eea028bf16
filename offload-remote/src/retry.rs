//! Retries of transient faults with exponential backoff and jitter.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::fault::{Fault, FaultKind};

/// The retries after the first attempt.
const ATTEMPTS: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// Repeats `call` until it succeeds, fails permanently, has failed four times, or `limit` is over. The limit includes the
/// pauses: a hanging server must not delay a build by one timeout for each attempt.
///
/// # Errors
/// The last fault.
pub(crate) async fn with_retries<T, F>(limit: Duration, mut call: impl FnMut() -> F) -> Result<T, Fault>
where
    F: Future<Output = Result<T, Fault>>,
{
    let mut last = None;
    let attempts = async {
        for attempt in 0..=ATTEMPTS {
            match call().await {
                Err(fault) if fault.kind == FaultKind::Transient && attempt < ATTEMPTS => {
                    last = Some(fault);
                    sleep(pause(attempt)).await;
                }
                outcome => return outcome,
            }
        }
        Err(Fault::late(limit))
    };
    match timeout(limit, attempts).await {
        Ok(outcome) => outcome,
        Err(_) => Err(last.unwrap_or_else(|| Fault::late(limit))),
    }
}

/// The backoff after `attempt`: doubled each time, with jitter of up to a half, so that machines that failed together do not
/// retry together.
pub(crate) fn pause(attempt: u32) -> Duration {
    let longest = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(attempt));
    // Each `RandomState` has its own random keys.
    let random = RandomState::new().hash_one(attempt) % 1000;
    longest.saturating_mul(500 + u32::try_from(random).unwrap_or(0) / 2) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn tried(faults: &[FaultKind], limit: Duration) -> (Result<usize, Fault>, usize) {
        let mut calls = 0;
        let outcome = with_retries(limit, || {
            calls += 1;
            std::future::ready(match faults.get(calls - 1) {
                Some(kind) => Err(Fault::new(*kind, format!("{calls}"))),
                None => Ok(calls),
            })
        });
        let outcome = outcome.await;
        (outcome, calls)
    }

    #[tokio::test(start_paused = true)]
    async fn faults_that_may_pass_are_tried_three_times_more() {
        let hour = Duration::from_secs(3600);
        assert_eq!(tried(&[FaultKind::Transient; 3], hour).await, (Ok(4), 4));
        let (outcome, calls) = tried(&[FaultKind::Transient; 9], hour).await;
        assert_eq!((outcome.unwrap_err().message.as_str(), calls), ("4", 4));
        assert_eq!(tried(&[FaultKind::Denied], hour).await.1, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_holds_for_all_attempts() {
        let started = tokio::time::Instant::now();
        let outcome: Result<(), Fault> = with_retries(Duration::from_secs(2), || async {
            sleep(Duration::from_secs(60)).await;
            Ok(())
        })
        .await;
        assert_eq!(outcome.unwrap_err().message, "no answer within 2 s");
        assert_eq!(started.elapsed().as_secs(), 2);
    }

    #[test]
    fn pauses_grow() {
        for attempt in 0..3 {
            let pause = pause(attempt).as_millis();
            let longest = 100 << attempt;
            assert!(pause >= longest / 2 && pause <= longest, "{pause}");
        }
    }
}
