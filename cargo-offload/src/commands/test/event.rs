//! What a test says about itself: lines in a file, which `offload_rt::test` appends.

use serde::Deserialize;

use super::outcome::{Difference, End, Outcome};

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

/// What a test's process has said about a device until it ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Said {
    /// The worst of its ends; `None` if there was none.
    pub(super) end: Option<End>,
    /// Whether the process ended between a start and an end.
    pub(super) is_open: bool,
    pub(super) seconds: f64,
}

impl Said {
    /// Whether the test has taken a device.
    pub(super) fn took_device(&self) -> bool {
        self.is_open || self.end.is_some()
    }

    /// What `text` says. Lines of later releases, and a last one without its end, say nothing.
    pub(super) fn read(text: &str) -> Said {
        let events = text.lines().filter_map(|line| serde_json::from_str::<Event>(line).ok());
        events.fold(Said::default(), Said::and)
    }

    fn and(mut self, event: Event) -> Said {
        match event.event.as_str() {
            "started" => self.is_open = true,
            "ended" => {
                self.is_open = false;
                self.seconds += event.seconds.unwrap_or(0.0);
                let end = end(event);
                // Of several loops over devices in a test, what is worst counts.
                let is_worse = |known: &End| end.outcome > known.outcome;
                if self.end.as_ref().is_none_or(is_worse) {
                    self.end = Some(end);
                }
            }
            _ => {}
        }
        self
    }
}

fn end(event: Event) -> End {
    let difference = || {
        Some(Difference {
            index: event.index?,
            got: event.got.clone()?,
            expected: event.expected.clone()?,
            ulps: event.ulps,
            differing: event.differing.unwrap_or(1),
            location: event.location.clone().unwrap_or_default(),
        })
    };
    let difference = difference();
    End { outcome: event.outcome.unwrap_or(Outcome::Failed), problem: event.problem, difference }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_end_counts() {
        let said = Said::read(
            "{\"event\":\"started\",\"device\":\"host\"}\n\
             {\"event\":\"ended\",\"device\":\"host\",\"outcome\":\"wrong\",\"seconds\":0.5,\"problem\":\"p\",\"index\":3,\
             \"got\":\"NaN\",\"expected\":\"1.0\",\"differing\":2,\"location\":\"a.rs:1:2\"}\n\
             {\"event\":\"news\"}\nnonsense\n\
             {\"event\":\"started\",\"device\":\"host\"}\n\
             {\"event\":\"ended\",\"device\":\"host\",\"outcome\":\"right\",\"seconds\":0.25}\n",
        );
        let end = said.end.unwrap();
        assert_eq!((end.outcome, said.seconds, said.is_open), (Outcome::Wrong, 0.75, false));
        let difference = end.difference.unwrap();
        assert_eq!((difference.index, difference.ulps, difference.got.as_str()), (3, None, "NaN"));
    }

    #[test]
    fn a_start_without_an_end_stays_open() {
        let said = Said::read("{\"event\":\"started\",\"device\":\"host\"}\n{\"event\":\"ended\",\"dev");
        assert!(said.is_open && said.took_device() && said.end.is_none());
        assert!(!Said::read("").took_device());
    }
}
