//! Which of a command's steps goes on, and for how long it has.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::print::choice::Progress;
use crate::print::output::Output;
use crate::print::text::escaped;

/// How often the time is drawn anew.
const TICK: Duration = Duration::from_millis(200);

/// A line on a terminal that goes when the steps are done; elsewhere a line for each step.
#[derive(Debug)]
pub(crate) struct Steps {
    bar: Option<ProgressBar>,
}

impl Steps {
    pub(crate) fn new(output: &Output, count: usize) -> Steps {
        if output.progress() != Progress::Bar {
            return Steps { bar: None };
        }
        let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr());
        // The template is a constant; without it the default would do.
        if let Ok(style) = ProgressStyle::with_template("{pos}/{len}: {msg}, {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        Steps { bar: Some(bar) }
    }

    /// The next step starts.
    pub(crate) fn next(&self, output: &Output, what: &str) {
        match &self.bar {
            None => output.status(what),
            Some(bar) => {
                bar.inc(1);
                bar.reset_elapsed();
                bar.set_message(escaped(what));
            }
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
