//! Current step of a command and its elapsed time.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::print::choice::Progress;
use crate::print::output::Output;
use crate::print::status_line::StatusLine;
use crate::print::text::escaped;

/// Interval at which the elapsed time is redrawn.
const TICK: Duration = Duration::from_millis(200);

/// A line on a terminal that goes when the steps are done; elsewhere a line for each step.
#[derive(Debug)]
pub(crate) struct Steps {
    shown: Option<StepDisplay>,
}

/// The thread that draws, and how it hears of the next step.
#[derive(Debug)]
struct StepDisplay {
    steps: Sender<String>,
    thread: JoinHandle<()>,
}

impl Steps {
    pub(crate) fn new(output: &Output, count: usize) -> Steps {
        if output.progress() != Progress::Bar {
            return Steps { shown: None };
        }
        let (steps, receiver) = mpsc::channel();
        let line = StatusLine::new(output.stderr_colour());
        let thread = thread::spawn(move || show(&line, &receiver, count));
        Steps { shown: Some(StepDisplay { steps, thread }) }
    }

    /// For a single step, which starts: a line on a terminal, nothing elsewhere.
    pub(crate) fn single(output: &Output, what: &str) -> Steps {
        let steps = Steps::new(output, 1);
        if steps.shown.is_some() {
            steps.next(output, what);
        }
        steps
    }

    /// The next step starts.
    pub(crate) fn next(&self, output: &Output, what: &str) {
        match &self.shown {
            None => output.status(what),
            // The thread listens for as long as this is there.
            Some(shown) => drop(shown.steps.send(escaped(what))),
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some(StepDisplay { steps, thread }) = self.shown.take() {
            drop(steps);
            // The line is gone before anything else is printed.
            let _ = thread.join();
        }
    }
}

/// Draws the current step until the sender of steps is dropped.
fn show(line: &StatusLine, steps: &Receiver<String>, count: usize) {
    let mut number = 0;
    let mut name = String::new();
    let mut since = Instant::now();
    loop {
        match steps.recv_timeout(TICK) {
            Ok(next) => {
                number += 1;
                (name, since) = (next, Instant::now());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return line.clear(),
        }
        if number > 0 {
            line.draw("", &format!("{number}/{count}: {name}, {}", elapsed(since.elapsed())));
        }
    }
}

fn elapsed(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds / 60 {
        0 => format!("{seconds}s"),
        minutes => format!("{minutes}m {:02}s", seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        for (seconds, expected) in [(0, "0s"), (59, "59s"), (60, "1m 00s"), (3725, "62m 05s")] {
            assert_eq!(elapsed(Duration::from_secs(seconds)), expected);
        }
    }
}
