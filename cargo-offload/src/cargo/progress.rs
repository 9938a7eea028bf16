//! Progress bar of device compiles during a cargo build.

use std::collections::BTreeSet;
use std::io::{self, BufReader, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use offload_build::shared::progress::{Compile, CompileOrigin, Done, Event, FromRemote};
use offload_protocol::variable;

use crate::cargo::process::Cargo;
use crate::error::{IoContext, Result};
use crate::print::choice::Progress;
use crate::print::output::Output;
use crate::print::status_line::{self, StatusLine};
use crate::print::text::escaped;

/// Polling interval of the file that build scripts write.
const TICK: Duration = Duration::from_millis(100);

/// Status word, aligned with those of cargo.
const WORD: &str = "     Kernels";

/// Runs cargo, with a progress bar for device compiles on a terminal.
///
/// Both bars would draw over each other, so what cargo says goes through a pipe: its bar is shown, and ours in its place
/// while kernels are compiled.
pub(crate) fn run(output: &Output, cargo: Cargo) -> Result<()> {
    let progress = output.progress();
    if progress == Progress::Hidden {
        return cargo.spoken_as(output).run();
    }
    let mut file = tempfile::NamedTempFile::new().io_context("write to", "the temporary directory")?;
    let cargo = cargo.env(variable::PROGRESS, file.path());
    let cargo = match progress {
        Progress::Bar => cargo
            .env(variable::TERM_PROGRESS_WHEN, "always")
            .env(variable::TERM_PROGRESS_WIDTH, status_line::width().to_string()),
        _ => cargo.env(variable::TERM_PROGRESS_WHEN, "never"),
    };
    let cargo = if progress == Progress::Bar { cargo.on_terminal(output) } else { cargo.spoken_as(output) };
    let view = ProgressView::new(output);
    cargo.watch(|stderr| view.follow(file.as_file_mut(), stderr))
}

/// State of the device compiles.
#[derive(Debug, Default)]
struct CompileState {
    planned: BTreeSet<Compile>,
    done: BTreeSet<Compile>,
    /// Number of finished compiles that came from another machine or its cache.
    elsewhere: usize,
    /// Results of other machines: those that were stored, and those that they compiled.
    stored: u64,
    executed: u64,
    /// The start of a line whose end is not written yet.
    partial: String,
}

impl CompileState {
    /// Takes in what was written since; the compiles that are done now, each with how many were then.
    fn read(&mut self, text: &str) -> Vec<(usize, Done)> {
        let text = std::mem::take(&mut self.partial) + text;
        let (lines, rest) = text.rsplit_once('\n').unwrap_or(("", &text));
        self.partial = rest.to_string();
        let mut done = Vec::new();
        for event in lines.lines().filter_map(event) {
            match event {
                Event::Planned(compile) => drop(self.planned.insert(compile)),
                Event::Done(ended) if self.done.insert(ended.compile.clone()) => {
                    let is_elsewhere =
                        matches!(ended.place, CompileOrigin::Stored | CompileOrigin::Elsewhere);
                    self.elsewhere = self.elsewhere.saturating_add(is_elsewhere.into());
                    done.push((self.done.len(), ended))
                }
                Event::Remote(remote) => {
                    self.stored = self.stored.saturating_add(remote.stored);
                    self.executed = self.executed.saturating_add(remote.executed);
                }
                _ => {}
            }
        }
        done
    }

    /// The summary of remote results; empty without any.
    fn remote(&self) -> String {
        match (self.stored, self.executed) {
            (0, 0) => String::new(),
            (stored, executed) => {
                format!("{WORD} {stored} results from other machines, {executed} compiled there\n")
            }
        }
    }

    /// A compile that goes on, and how many others do.
    fn current(&self) -> Option<(&Compile, usize)> {
        let mut open = self.planned.difference(&self.done);
        open.next().map(|first| (first, open.count()))
    }

    /// As cargo's own bar looks.
    fn bar(&self) -> String {
        const WIDTH: usize = 25;
        let done = self.done.len();
        let of = self.planned.len();
        let filled = done.saturating_mul(WIDTH).checked_div(of).unwrap_or(0).min(WIDTH);
        let head = if (1..WIDTH).contains(&filled) { ">" } else { "" };
        let current = match self.current() {
            Some((compile, 0)) => name(compile),
            Some((compile, others)) => format!("{} and {others} more", name(compile)),
            None => String::new(),
        };
        let elsewhere = match self.elsewhere {
            0 => String::new(),
            count => format!(", {count} on other machines"),
        };
        format!(" [{:<WIDTH$}] {done}/{of}{elsewhere}: {current}", "=".repeat(filled) + head)
    }
}

/// The event that a line of the build scripts' file tells; nothing if the line is of a later release.
fn event(line: &str) -> Option<Event> {
    let fields: Vec<&str> = line.split('\t').collect();
    let (word, package, module, target, rest) = match fields.as_slice() {
        [word, package, module, target, rest @ ..] => (word, package, module, target, rest),
        _ => return None,
    };
    let compile = Compile {
        package: (*package).to_string(),
        module: (*module).to_string(),
        target: (*target).to_string(),
    };
    match (*word, rest) {
        ("remote", []) => {
            let stored = module.parse().ok()?;
            let executed = target.parse().ok()?;
            Some(Event::Remote(FromRemote { package: (*package).to_string(), stored, executed }))
        }
        ("planned", []) => Some(Event::Planned(compile)),
        ("done", [place]) => Some(Event::Done(Done { compile, place: parse_origin(place)? })),
        _ => None,
    }
}

/// Display of the progress.
#[derive(Debug)]
enum ProgressView {
    Bar(StatusLine),
    Lines,
}

impl ProgressView {
    fn new(output: &Output) -> ProgressView {
        match output.progress() {
            Progress::Bar => ProgressView::Bar(StatusLine::new(output.stderr_colour())),
            _ => ProgressView::Lines,
        }
    }

    /// Shows `stderr` line by line, and below it what build scripts write into `file`, until cargo ends.
    fn follow(&self, file: &mut std::fs::File, stderr: &mut dyn Read) {
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut state = CompileState::default();
                while !ended.load(Ordering::Relaxed) {
                    thread::sleep(TICK);
                    self.update(file, &mut state);
                }
                self.update(file, &mut state);
                self.pass_on(state.remote().as_bytes());
            });
            let mut pieces = OutputPieces::default();
            for byte in BufReader::new(stderr).bytes().map_while(io::Result::ok) {
                match pieces.next(byte) {
                    Some(OutputPiece::Line(line)) => self.pass_on(&line),
                    Some(OutputPiece::Bar(bar)) => self.cargo_s_bar(&bar),
                    None => {}
                }
            }
            ended.store(true, Ordering::Relaxed);
        });
        if let ProgressView::Bar(line) = self {
            line.clear();
        }
    }

    fn pass_on(&self, line: &[u8]) {
        match self {
            _ if line.is_empty() => {}
            ProgressView::Bar(bar) => bar.write_above(line),
            // Nothing can be reported if the terminal is gone.
            ProgressView::Lines => drop(io::stderr().write_all(line)),
        }
    }

    /// Cargo's bar, which ours covers.
    fn cargo_s_bar(&self, bar: &[u8]) {
        if let ProgressView::Bar(line) = self {
            line.draw_below(String::from_utf8_lossy(bar).into_owned());
        }
    }

    fn update(&self, file: &mut std::fs::File, state: &mut CompileState) {
        let mut text = Vec::new();
        // The position is where the last look ended; writers append, and have positions of their own.
        let _ = file.read_to_end(&mut text);
        let done = state.read(&String::from_utf8_lossy(&text));
        match self {
            ProgressView::Bar(bar) if state.current().is_none() => bar.uncover(),
            ProgressView::Bar(bar) => bar.draw(WORD, &state.bar()),
            ProgressView::Lines => done.iter().for_each(|(number, Done { compile, place })| {
                let of = state.planned.len();
                let name = name(compile);
                let _ = writeln!(io::stderr(), "{WORD} {number}/{of}: {name}{}", where_done(*place));
            }),
        }
    }
}

/// Splitter of cargo's output into lines and states of its progress bar.
#[derive(Debug, Default)]
struct OutputPieces {
    bytes: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
enum OutputPiece {
    /// With its end.
    Line(Vec<u8>),
    Bar(Vec<u8>),
}

impl OutputPieces {
    /// The bytes up to here, without the code that clears the line.
    fn take_line(&mut self) -> Vec<u8> {
        const CLEAR: &[u8] = b"\x1b[K";
        let bytes = std::mem::take(&mut self.bytes);
        bytes.strip_prefix(CLEAR).map(<[u8]>::to_vec).unwrap_or(bytes)
    }

    /// Adds a byte, and returns the piece that ends with it. Cargo clears the line of its bar before it writes another.
    fn next(&mut self, byte: u8) -> Option<OutputPiece> {
        match byte {
            b'\n' => {
                let mut line = self.take_line();
                line.push(byte);
                Some(OutputPiece::Line(line))
            }
            b'\r' => Some(OutputPiece::Bar(self.take_line())),
            _ => {
                self.bytes.push(byte);
                None
            }
        }
    }
}

fn parse_origin(place: &str) -> Option<CompileOrigin> {
    CompileOrigin::ALL.iter().find(|(name, _)| *name == place).map(|(_, place)| *place)
}

/// The text for a compile on another machine; empty for a local one.
fn where_done(place: CompileOrigin) -> &'static str {
    match place {
        CompileOrigin::Elsewhere => ", compiled on another machine",
        CompileOrigin::Stored => ", stored by another machine",
        _ => "",
    }
}

fn name(compile: &Compile) -> String {
    escaped(&format!("{} {} for {}", compile.package, compile.module, compile.target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_arrive_in_pieces_and_twice() {
        let mut state = CompileState::default();
        assert_eq!(state.bar(), " [                         ] 0/0: ");
        assert!(state.read("planned\ta\tm\thost\nplanned\ta\tm\tspi").is_empty());
        assert!(state.read("rv64\nnonsense\n").is_empty());
        assert_eq!(state.planned.len(), 2);
        let (first, others) = state.current().unwrap();
        assert_eq!((name(first).as_str(), others), ("a m for host", 1));
        assert_eq!(state.bar(), " [                         ] 0/2: a m for host and 1 more");
        assert_eq!(state.read("done\ta\tm\thost\there\ndone\ta\tm\thost\there\n").len(), 1);
        assert_eq!(state.current().unwrap().0.target, "spirv64");
        assert_eq!(state.bar(), " [============>            ] 1/2: a m for spirv64");
        state.read("done\ta\tm\tspirv64\telsewhere\n");
        assert!(state.current().is_none());
        assert_eq!(state.bar(), " [=========================] 2/2, 1 on other machines: ");
    }

    #[test]
    fn results_of_other_machines_are_summed() {
        let mut state = CompileState::default();
        assert_eq!(state.remote(), "");
        state.read("remote\ta\t3\t1\nremote\tb\t4\t0\nremote\tb\tx\t0\n");
        assert_eq!(state.remote(), "     Kernels 7 results from other machines, 1 compiled there\n");
    }

    #[test]
    fn cargo_s_bar_is_told_from_its_lines() {
        let mut pieces = OutputPieces::default();
        let bytes = b"\x1b[K   Compiling a\n    Building [=> ] 1/2: a\r\x1b[K    Finished\n";
        let found: Vec<OutputPiece> = bytes.iter().filter_map(|byte| pieces.next(*byte)).collect();
        let expected = [
            OutputPiece::Line(b"   Compiling a\n".to_vec()),
            OutputPiece::Bar(b"    Building [=> ] 1/2: a".to_vec()),
            OutputPiece::Line(b"    Finished\n".to_vec()),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_written_is_read() {
        let compile = Compile { package: "app".into(), module: "blas".into(), target: "intel:pvc".into() };
        let remote = FromRemote { package: "app".into(), stored: 7, executed: 0 };
        for (_, place) in CompileOrigin::ALL {
            let written = Event::Done(Done { compile: compile.clone(), place });
            assert_eq!(event(&written.to_string()), Some(written));
        }
        for written in [Event::Planned(compile), Event::Remote(remote)] {
            assert_eq!(event(&written.to_string()), Some(written));
        }
    }

    #[test]
    fn lines_of_later_releases_are_told_apart() {
        for line in ["", "paused\ta\tb\tc", "done\ta\tb", "done\ta\tb\tc\tnowhere", "planned\ta\tb\tc\td"] {
            assert_eq!(event(line), None, "{line:?}");
        }
    }
}
