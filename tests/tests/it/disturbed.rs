//! Fault injection at the system calls of a command: it is killed before one, or one fails. Each file that it writes has
//! its old or its new content, and the next run has the same results as an undisturbed one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::script::{Files, differences, files, output_text, succeed};
use crate::support::strace::{Fault, Whose, injected};

/// What is done at a system call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Harm {
    Kill,
    /// It fails with this error: `EIO`.
    Error(&'static str),
}

/// A command, the directories that it changes, and whose calls are disturbed.
pub(crate) struct Disturbed {
    pub(crate) command: Command,
    pub(crate) whose: Whose,
    /// What comes of it is in the first one.
    directories: Vec<PathBuf>,
    /// Copies of all of them.
    saved: tempfile::TempDir,
    before: Files,
    after: Files,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// How often the command was disturbed.
    pub(crate) times: usize,
    /// How often it ended with an error.
    pub(crate) errors: usize,
}

impl Disturbed {
    /// Runs the command once, undisturbed; everything is taken back before it is disturbed.
    pub(crate) fn new(mut command: Command, whose: Whose, directories: Vec<PathBuf>) -> Disturbed {
        let saved = tempfile::tempdir().unwrap();
        for (number, directory) in directories.iter().enumerate() {
            copy(directory, &saved.path().join(number.to_string()));
        }
        let before = files(&directories[0]);
        succeed(&mut command);
        let after = files(&directories[0]);
        assert_ne!(before, after, "{command:?} changes nothing");
        Disturbed { command, whose, directories, saved, before, after }
    }

    /// At each of `calls`; only the first of each unless everything is tried.
    pub(crate) fn everywhere(&mut self, calls: &[&str], harm: Harm) -> Counts {
        let mut counts = Counts::default();
        calls.iter().for_each(|call| self.at_each(call, harm, &mut counts));
        counts
    }

    fn at_each(&mut self, call: &str, harm: Harm, counts: &mut Counts) {
        let mut number = 1;
        loop {
            self.reset();
            let what = match harm {
                Harm::Kill => format!("signal=KILL:when={number}"),
                Harm::Error(error) => format!("error={error}:when={number}"),
            };
            let Some(output) = injected(&self.command, &Fault { call, what, whose: self.whose }) else {
                return;
            };
            let when = format!("{harm:?} at {call} {number}");
            if let Harm::Error(_) = harm {
                self.check_end(&output, call, &when);
            }
            self.check_files(&when);
            counts.times += 1;
            counts.errors += usize::from(!output.status.success());
            if !offload_tests::is_full() {
                return;
            }
            number += match harm {
                Harm::Kill => 1,
                // Of many calls not every one: they write parts of the same file.
                Harm::Error(_) => 1 + number / 8,
            };
        }
    }

    fn reset(&self) {
        for (number, directory) in self.directories.iter().enumerate() {
            let _ = fs::remove_dir_all(directory);
            copy(&self.saved.path().join(number.to_string()), directory);
        }
    }

    /// It ended by itself: with an error that says which call of the system failed, or with what it is to make.
    fn check_end(&self, output: &Output, call: &str, when: &str) {
        let text = output_text(output);
        assert!(output.status.code().is_some_and(|code| code != 101), "{when}: {} {text}", output.status);
        if output.status.success() {
            let found = differences(&files(&self.directories[0]), &self.after);
            assert!(found.is_empty(), "{when}: success, but {found:?}");
        } else if call != "?write" {
            // Errors of writing to standard output and standard error cannot be printed.
            assert!(text.contains("os error"), "{when}: {text}");
        }
    }

    fn check_files(&mut self, when: &str) {
        for (path, bytes) in files(&self.directories[0]) {
            let whole = [&self.before, &self.after].iter().any(|all| all.get(&path) == Some(&bytes));
            assert!(whole, "{when}: {} is torn", path.display());
        }
        succeed(&mut self.command);
        let found = differences(&files(&self.directories[0]), &self.after);
        assert!(found.is_empty(), "{when}: {found:?}");
        let left = unfinished(&self.directories[0]);
        assert!(left.is_empty(), "{when}: the next run leaves {left:?}");
    }
}

/// What is unfinished in a directory.
fn unfinished(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(".offload-"))
        .map(|entry| entry.path())
        .collect()
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(status.success(), "cp -a {} {}", from.display(), to.display());
}
