//! Progress of downloads: a bar on a terminal, and otherwise a line per file.

use std::cell::Cell;

use crate::print::choice::Progress;
use crate::print::output::Output;
use crate::print::status_line::StatusLine;
use crate::print::text::{escaped, human_size};

/// Several files, one after another.
#[derive(Debug)]
pub(crate) struct Downloads<'a> {
    output: &'a Output,
    line: Option<StatusLine>,
    /// Bytes of all.
    total: u64,
    /// Bytes of those that are here.
    done: Cell<u64>,
    /// Bytes of the one that comes.
    current: Cell<u64>,
}

impl<'a> Downloads<'a> {
    pub(crate) fn new(output: &'a Output, total: u64) -> Downloads<'a> {
        let line = (output.progress() == Progress::Bar).then(|| StatusLine::new(output.stderr_colour()));
        Downloads { output, line, total, done: Cell::new(0), current: Cell::new(0) }
    }

    /// The last file is here, and the next one comes, which is under its vendor's licence.
    pub(crate) fn next(&self, name: &str, size: Option<u64>) {
        let done = self.done.get().saturating_add(self.current.replace(size.unwrap_or(0)));
        self.done.set(done);
        match &self.line {
            Some(line) => line.draw("    Fetching", &bar(done, self.total, &escaped(name))),
            None => {
                let size = size.map(|size| format!(" ({})", human_size(size))).unwrap_or_default();
                self.output.status(&format!("fetching {name}{size}, under its vendor's licence"));
            }
        }
    }
}

impl Drop for Downloads<'_> {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.clear();
        }
    }
}

/// As cargo's bar looks.
fn bar(done: u64, total: u64, name: &str) -> String {
    const WIDTH: usize = 25;
    let filled = done.saturating_mul(WIDTH as u64).checked_div(total).unwrap_or(0);
    let filled = usize::try_from(filled).unwrap_or(WIDTH).min(WIDTH);
    let head = if filled < WIDTH { ">" } else { "" };
    format!(" [{:<WIDTH$}] {} of {}: {name}", "=".repeat(filled) + head, human_size(done), human_size(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_bytes() {
        assert_eq!(bar(0, 200, "a 1"), " [>                        ] 0 B of 200 B: a 1");
        assert_eq!(bar(104, 200, "b"), " [=============>           ] 104 B of 200 B: b");
        assert_eq!(bar(0, 0, "c"), " [>                        ] 0 B of 0 B: c");
    }
}
