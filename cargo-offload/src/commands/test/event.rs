//! Events of a test, which `offload_rt::test` appends to the results file.

use serde::Deserialize;

use super::outcome::{Difference, Outcome, TestResult};

/// A line.
#[derive(Clone, Debug, Deserialize)]
struct Event {
    event: String,
    outcome: Option<Outcome>,
    seconds: Option<f64>,
    problem: Option<String>,
    index: Option<u64>,
    got: Option<String>,
    expected: Option<String>,
    ulps: Option<u64>,
    differing: Option<u64>,
    location: Option<String>,
}

/// Events that a test's process recorded for a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TestEvents {
    /// The worst of its ends; `None` if there was none.
    pub(super) end: Option<TestResult>,
    /// Whether the process ended between a start and an end.
    pub(super) is_open: bool,
    pub(super) seconds: f64,
}

impl TestEvents {
    /// Whether the test has taken a device.
    pub(super) fn took_device(&self) -> bool {
        self.is_open || self.end.is_some()
    }

    /// Parses the results file. Unknown events and an incomplete last line are ignored.
    pub(super) fn read(text: &str) -> TestEvents {
        let events = text.lines().filter_map(|line| serde_json::from_str::<Event>(line).ok());
        events.fold(TestEvents::default(), TestEvents::and)
    }

    fn and(mut self, event: Event) -> TestEvents {
        match event.event.as_str() {
            "started" => self.is_open = true,
            "ended" => {
                self.is_open = false;
                self.seconds += event.seconds.unwrap_or(0.0);
                let end = end(event);
                // Of several loops over devices in a test, what is worst counts.
                if self.end.as_ref().is_none_or(|known| end.outcome > known.outcome) {
                    self.end = Some(end);
                }
            }
            _ => {}
        }
        self
    }
}

fn end(event: Event) -> TestResult {
    let difference = difference(&event);
    TestResult { outcome: event.outcome.unwrap_or(Outcome::Failed), problem: event.problem, difference }
}

fn difference(event: &Event) -> Option<Difference> {
    Some(Difference {
        index: event.index?,
        got: event.got.clone()?,
        expected: event.expected.clone()?,
        ulps: event.ulps,
        differing: event.differing.unwrap_or(1),
        location: event.location.clone().unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_end_counts() {
        let events = TestEvents::read(
            "{\"event\":\"started\",\"device\":\"host\"}\n\
             {\"event\":\"ended\",\"device\":\"host\",\"outcome\":\"wrong\",\"seconds\":0.5,\"problem\":\"p\",\"index\":3,\
             \"got\":\"NaN\",\"expected\":\"1.0\",\"differing\":2,\"location\":\"a.rs:1:2\"}\n\
             {\"event\":\"news\"}\nnonsense\n\
             {\"event\":\"started\",\"device\":\"host\"}\n\
             {\"event\":\"ended\",\"device\":\"host\",\"outcome\":\"right\",\"seconds\":0.25}\n",
        );
        let end = events.end.unwrap();
        assert_eq!((end.outcome, events.seconds, events.is_open), (Outcome::Wrong, 0.75, false));
        let difference = end.difference.unwrap();
        assert_eq!((difference.index, difference.ulps, difference.got.as_str()), (3, None, "NaN"));
    }

    #[test]
    fn a_start_without_an_end_stays_open() {
        let events =
            TestEvents::read("{\"event\":\"started\",\"device\":\"host\"}\n{\"event\":\"ended\",\"dev");
        assert!(events.is_open && events.took_device() && events.end.is_none());
        assert!(!TestEvents::read("").took_device());
    }
}
