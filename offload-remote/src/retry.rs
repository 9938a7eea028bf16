//! Another attempt after faults that may pass, each a little later than the one before.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::fault::{Fault, Kind};

/// After the first.
const ATTEMPTS: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// Runs `call` until it succeeds, fails for good, has failed four times, or `limit` is over, pauses included: a server
/// that answers nothing must not hold up a build once for each attempt.
///
/// # Errors
/// The last fault.
pub(crate) async fn retried<T, F>(limit: Duration, mut call: impl FnMut() -> F) -> Result<T, Fault>
where
    F: Future<Output = Result<T, Fault>>,
{
    let mut last = None;
    let attempts = async {
        for attempt in 0..=ATTEMPTS {
            match call().await {
                Err(fault) if fault.kind == Kind::Transient && attempt < ATTEMPTS => {
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

/// Twice as long each time, and between half and all of it, so that machines that failed together do not come back
/// together.
pub(crate) fn pause(attempt: u32) -> Duration {
    let longest = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(attempt));
    // Each of these has its own keys from the system.
    let random = RandomState::new().hash_one(attempt) % 1000;
    longest.saturating_mul(500 + u32::try_from(random).unwrap_or(0) / 2) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn tried(faults: &[Kind], limit: Duration) -> (Result<usize, Fault>, usize) {
        let mut calls = 0;
        let outcome = retried(limit, || {
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
        assert_eq!(tried(&[Kind::Transient; 3], hour).await, (Ok(4), 4));
        let (outcome, calls) = tried(&[Kind::Transient; 9], hour).await;
        assert_eq!((outcome.unwrap_err().message.as_str(), calls), ("4", 4));
        assert_eq!(tried(&[Kind::Denied], hour).await.1, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_holds_for_all_attempts() {
        let started = tokio::time::Instant::now();
        let outcome: Result<(), Fault> = retried(Duration::from_secs(2), || async {
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
            let (pause, longest) = (pause(attempt).as_millis(), 100 << attempt);
            assert!(pause >= longest / 2 && pause <= longest, "{pause}");
        }
    }
}
