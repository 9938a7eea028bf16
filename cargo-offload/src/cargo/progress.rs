//! A bar on standard error while cargo builds: how many device compiles are done, and which one is next.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use offload_build::progress::{Compile, Event, VARIABLE};

use crate::cargo::process::Cargo;
use crate::error::{Error, Result};
use crate::print::choice::Progress;
use crate::print::output::Output;
use crate::print::text::escaped;

/// How often the build scripts' file is looked at.
const TICK: Duration = Duration::from_millis(100);

/// Runs cargo, and shows meanwhile how far device compiles are, where there is somebody to see it.
///
/// Cargo's own bar and ours would draw over each other, so its is off: its lines go through a pipe, above ours.
pub(crate) fn run(output: &Output, cargo: Cargo) -> Result<()> {
    let progress = output.progress();
    if progress == Progress::Hidden {
        return cargo.spoken_as(output).run();
    }
    let failed = |error: io::Error| Error::io("write to", Path::new("the temporary directory"), &error);
    let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
    let cargo = cargo.env(VARIABLE, file.path()).env("CARGO_TERM_PROGRESS_WHEN", "never");
    let cargo = if progress == Progress::Bar { cargo.on_terminal(output) } else { cargo.spoken_as(output) };
    let view = View::new(progress);
    cargo.watch(|stderr| view.follow(file.as_file_mut(), stderr))
}

/// What is known of device compiles.
#[derive(Debug, Default)]
struct State {
    planned: BTreeSet<Compile>,
    done: BTreeSet<Compile>,
    /// The start of a line whose end is not written yet.
    partial: String,
}

impl State {
    /// Takes in what was written since; the compiles that are done now, each with how many were then.
    fn read(&mut self, text: &str) -> Vec<(usize, Compile)> {
        let text = std::mem::take(&mut self.partial) + text;
        let (lines, rest) = text.rsplit_once('\n').unwrap_or(("", &text));
        self.partial = rest.to_string();
        let mut done = Vec::new();
        for event in lines.lines().filter_map(event) {
            match event {
                Event::Planned(compile) => drop(self.planned.insert(compile)),
                Event::Done(compile) if self.done.insert(compile.clone()) => {
                    done.push((self.done.len(), compile))
                }
                _ => {}
            }
        }
        done
    }

    /// A compile that goes on, and how many others do.
    fn current(&self) -> Option<(&Compile, usize)> {
        let mut open = self.planned.difference(&self.done);
        open.next().map(|first| (first, open.count()))
    }
}

/// The event that a line of the build scripts' file tells; nothing if the line is of a later release.
fn event(line: &str) -> Option<Event> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [word, package, module, target] = fields.as_slice() else { return None };
    let compile = Compile {
        package: (*package).to_string(),
        module: (*module).to_string(),
        target: (*target).to_string(),
    };
    match *word {
        "planned" => Some(Event::Planned(compile)),
        "done" => Some(Event::Done(compile)),
        _ => None,
    }
}

/// How many compiles are done.
#[derive(Clone, Copy, Debug)]
struct Done {
    number: usize,
    of: usize,
}

/// What people see.
#[derive(Debug)]
struct View {
    bar: ProgressBar,
    lines: bool,
}

impl View {
    fn new(progress: Progress) -> View {
        let target = match progress {
            Progress::Bar => ProgressDrawTarget::stderr(),
            _ => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        // As cargo's own bar looks. The template is a constant; without it the default would do.
        if let Ok(style) =
            ProgressStyle::with_template("{prefix:>12.cyan.bold} [{bar:25}] {pos}/{len}: {wide_msg}")
        {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix("Kernels");
        View { bar, lines: progress == Progress::Lines }
    }

    /// Shows `stderr` line by line, and below it what build scripts write into `file`, until cargo ends.
    fn follow(&self, file: &mut std::fs::File, stderr: &mut dyn Read) {
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut state = State::default();
                while !ended.load(Ordering::Relaxed) {
                    thread::sleep(TICK);
                    self.update(file, &mut state);
                }
                self.update(file, &mut state);
            });
            for line in BufReader::new(stderr).split(b'\n').map_while(io::Result::ok) {
                // There is nobody to tell if the terminal is gone.
                let _ = self.bar.suspend(|| io::stderr().write_all(&[&line[..], b"\n"].concat()));
            }
            ended.store(true, Ordering::Relaxed);
        });
        self.bar.finish_and_clear();
    }

    fn update(&self, file: &mut std::fs::File, state: &mut State) {
        let mut text = Vec::new();
        // The position is where the last look ended; writers append, and have positions of their own.
        let _ = file.read_to_end(&mut text);
        for (done, compile) in state.read(&String::from_utf8_lossy(&text)) {
            self.tell(Done { number: done, of: state.planned.len() }, &compile);
        }
        self.bar.set_length(state.planned.len() as u64);
        self.bar.set_position(state.done.len() as u64);
        match state.current() {
            Some((compile, 0)) => self.bar.set_message(name(compile)),
            Some((compile, others)) => self.bar.set_message(format!("{} and {others} more", name(compile))),
            None => self.bar.set_message(""),
        }
    }

    fn tell(&self, done: Done, compile: &Compile) {
        let Done { number, of } = done;
        if self.lines {
            let _ = writeln!(io::stderr(), "{:>12} {number}/{of}: {}", "Kernels", name(compile));
        }
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
        let mut state = State::default();
        assert!(state.read("planned\ta\tm\thost\nplanned\ta\tm\tspi").is_empty());
        assert!(state.read("rv64\nnonsense\n").is_empty());
        assert_eq!(state.planned.len(), 2);
        let (first, others) = state.current().unwrap();
        assert_eq!((name(first).as_str(), others), ("a m for host", 1));
        assert_eq!(state.read("done\ta\tm\thost\ndone\ta\tm\thost\n").len(), 1);
        assert_eq!(state.current().unwrap().0.target, "spirv64");
        state.read("done\ta\tm\tspirv64\n");
        assert!(state.current().is_none());
    }

    #[test]
    fn what_is_written_is_read() {
        let compile = Compile { package: "app".into(), module: "blas".into(), target: "intel:pvc".into() };
        for written in [Event::Planned(compile.clone()), Event::Done(compile)] {
            assert_eq!(event(&written.to_string()), Some(written));
        }
    }

    #[test]
    fn lines_of_later_releases_are_told_apart() {
        for line in ["", "paused\ta\tb\tc", "done\ta\tb", "done\ta\tb\tc\td"] {
            assert_eq!(event(line), None, "{line:?}");
        }
    }
}
