//! The failed assertions of an image's kernels, and which of them were reported.

use std::collections::VecDeque;

use crate::backend::{AssertionFailure, OutputMark};

/// The most messages that are kept.
const MAX_MESSAGES: usize = 64;

/// Where an assertion failed.
#[derive(Clone, Debug)]
pub(crate) struct Assertion {
    pub(crate) condition: String,
    pub(crate) work_item: [u32; 3],
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) function: String,
}

impl Assertion {
    /// Without the kernel.
    pub(crate) fn text(&self) -> String {
        let Assertion { condition, work_item: [x, y, z], file, line, function } = self;
        // Where offload-build includes a source it says so.
        let file = file.strip_prefix("./").unwrap_or(file);
        format!("assertion `{condition}` failed in work-item ({x}, {y}, {z}): {file}:{line}, in `{function}`")
    }
}

/// The failures of a loaded image.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    /// The device's count.
    failed: u32,
    /// The latest messages of them.
    latest: VecDeque<AssertionFailure>,
    /// The number of messages.
    messages: usize,
    /// The number of messages that an error has reported.
    reported: usize,
}

impl Failures {
    pub(crate) fn add(&mut self, failure: AssertionFailure) {
        self.messages = self.messages.saturating_add(1);
        if self.latest.len() == MAX_MESSAGES {
            self.latest.pop_front();
        }
        self.latest.push_back(failure);
    }

    /// The device's count.
    pub(crate) fn count(&mut self, failed: u32) {
        self.failed = failed;
    }

    pub(crate) fn mark(&self) -> OutputMark {
        OutputMark { failed: self.failed, messages: self.messages }
    }

    /// The first failure after `before` of one of the kernels, or of one that is not known.
    pub(crate) fn first(
        &mut self,
        before: OutputMark,
        is_selected: &dyn Fn(&str) -> bool,
    ) -> Option<AssertionFailure> {
        let count = self.failed.wrapping_sub(before.failed);
        if count == 0 {
            return None;
        }
        let first = self
            .since(before.messages)
            .find(|failure| failure.kernel.is_empty() || is_selected(&failure.kernel))
            .cloned();
        let mut failure = match first {
            Some(first) => {
                self.reported = self.messages;
                first
            }
            None if self.since(before.messages).next().is_none() => AssertionFailure {
                kernel: String::new(),
                text: "an assertion failed, and there was no room for its message".to_string(),
            },
            None => return None,
        };
        if count > 1 {
            failure.text = format!("{} (and {} more)", failure.text, count - 1);
        }
        Some(failure)
    }

    /// Lines for the failures that no error has reported.
    pub(crate) fn unreported(&self) -> Vec<String> {
        self.since(self.reported)
            .map(|failure| match failure.kernel.as_str() {
                "" => format!("{}\n", failure.text),
                kernel => format!("kernel `{kernel}`: {}\n", failure.text),
            })
            .collect()
    }

    /// The kept messages after the first `count`.
    fn since(&self, count: usize) -> impl Iterator<Item = &AssertionFailure> {
        let dropped = self.messages.saturating_sub(self.latest.len());
        self.latest.iter().skip(count.saturating_sub(dropped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kernel: &str) -> AssertionFailure {
        AssertionFailure { kernel: kernel.to_string(), text: format!("in {kernel}") }
    }

    #[test]
    fn the_first_failure_of_the_kernels_is_reported() {
        let mut failures = Failures::default();
        let before = failures.mark();
        assert!(failures.first(before, &|_| true).is_none());
        failures.add(failure("a"));
        failures.add(failure("b"));
        failures.count(5);
        assert_eq!(failures.unreported(), ["kernel `a`: in a\n", "kernel `b`: in b\n"]);
        let first = failures.first(before, &|kernel| kernel == "b").unwrap();
        assert_eq!((first.kernel.as_str(), first.text.as_str()), ("b", "in b (and 4 more)"));
        assert!(failures.unreported().is_empty() && failures.first(before, &|_| false).is_none());
    }

    #[test]
    fn a_failure_without_a_message_or_a_kernel_is_reported_too() {
        let mut failures = Failures::default();
        let before = failures.mark();
        failures.count(1);
        assert!(failures.first(before, &|_| true).unwrap().text.contains("no room"));
        let before = failures.mark();
        failures.add(failure(""));
        failures.count(2);
        assert_eq!(failures.first(before, &|_| false).unwrap().text, "in ");
    }
}
