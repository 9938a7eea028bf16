//! A change of a program that is ended, or fails, at any step leaves a program with all its images, and a rerun finishes it.
//!
//! strace ends the command before a system call, or has the call fail: the first one, the second one, until none is left.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::carried::{Linked, stderr};
use crate::support::{
    self,
    strace::{self, Fault, Whose},
};

/// Calls that change which files there are, and those that say when they are on the disk.
const STEPS: [&str; 7] = ["?linkat", "?rename", "?renameat", "?renameat2", "?unlink", "?unlinkat", "?fsync"];

/// What else a change asks of the system.
const CALLS: [&str; 11] = [
    "?lseek",
    "?pread64",
    "?read",
    "?write",
    "?copy_file_range",
    "?fchmod",
    "?fsync",
    "?linkat",
    "?rename",
    "?unlink",
    "?flock",
];

/// The files of a directory, by name.
type Files = BTreeMap<String, Vec<u8>>;

/// A program, how it is changed, and what comes of it.
struct Change {
    args: &'static [&'static str],
    before: Files,
    after: Files,
}

const SIDECAR: &[&str] = &["repack", "app", "--sidecar", "--in-place"];
const SPLIT: &[&str] = &["repack", "app", "--split", "--in-place"];
const EMBED: &[&str] = &["repack", "app", "--embed", "--in-place"];
const PRUNE: &[&str] = &["prune", "app", "--drop", "opencl-c", "spirv64:*", "--in-place"];
const PRUNE_ALL_BUT_ONE: &[&str] = &["prune", "app", "--keep", "host", "--in-place"];
const COMPRESS: &[&str] = &["repack", "app", "--compression", "none", "--in-place"];

impl Change {
    /// Of a program that is changed by `first` before, if by anything.
    fn new(first: Option<&[&str]>, args: &'static [&'static str]) -> Change {
        let linked = Linked::new("rust-lld");
        fs::remove_file(linked.path("plug.so")).unwrap();
        // Hundreds of copies of it are made.
        let stripped = Command::new("strip").arg(linked.path("app")).status().unwrap();
        assert!(stripped.success());
        first.map(|args| linked.ok(args));
        let before = files(linked.dir.path());
        linked.ok(args);
        Change { args, before, after: files(linked.dir.path()) }
    }

    /// The program as it was, in a directory of its own.
    fn fresh(&self) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        self.before.iter().for_each(|(name, bytes)| fs::write(dir.path().join(name), bytes).unwrap());
        dir
    }

    /// Changes it under strace, which does `what` with a `call`; `None` if there is no such one.
    fn injected(&self, dir: &Path, call: &str, what: &str) -> Option<Output> {
        let mut command = Command::new(support::cargo_offload());
        command.args(self.args).current_dir(dir);
        strace::injected(&command, &Fault { call, what: what.to_string(), whose: Whose::All })
    }

    /// Every image that the program names is there, and a rerun makes of it what the change makes.
    fn check(&self, dir: &Path, when: &str) {
        let when = format!("{:?} {when}", self.args);
        let verified = offload(dir, &["verify", "app"]);
        assert!(verified.status.success(), "{when}: {} {:?}", output_text(&verified), names(&files(dir)));
        if files(dir) == self.after {
            return;
        }
        let again = offload(dir, self.args);
        assert!(again.status.success(), "{when}: {}", output_text(&again));
        let found = files(dir);
        assert!(found == self.after, "{when}: {:?}", names(&found));
    }
}

fn files(dir: &Path) -> Files {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

fn names(files: &Files) -> Vec<&String> {
    files.keys().collect()
}

fn offload(dir: &Path, args: &[&str]) -> Output {
    Command::new(support::cargo_offload()).args(args).current_dir(dir).output().unwrap()
}

fn output_text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), stderr(output))
}

#[test]
fn a_change_that_is_ended_at_any_step_is_finished_by_a_rerun() {
    let changes = [
        (None, PRUNE),
        (Some(SIDECAR), PRUNE),
        (Some(SPLIT), PRUNE),
        (Some(SPLIT), PRUNE_ALL_BUT_ONE),
        (None, SPLIT),
        (Some(SIDECAR), SPLIT),
        (Some(SPLIT), SIDECAR),
        (Some(SPLIT), COMPRESS),
        (Some(SIDECAR), EMBED),
        (Some(SPLIT), EMBED),
    ];
    let sample = if offload_tests::is_full() { &changes[..] } else { &changes[..3] };
    let mut kills = 0;
    for &(first, args) in sample {
        let change = Change::new(first, args);
        let mut steps = 0;
        for call in STEPS {
            for number in 1.. {
                let dir = change.fresh();
                let output = change.injected(dir.path(), call, &format!("signal=KILL:when={number}"));
                let Some(output) = output else { break };
                assert_eq!(output.status.signal(), Some(9), "{args:?}: {}", output_text(&output));
                change.check(dir.path(), &format!("ended before {call} {number}"));
                steps += 1;
            }
        }
        // The new program is written to the disk and gets a name, in two steps because there is one; before and behind, the
        // names are written to the disk.
        assert!(steps >= 6, "{args:?} has {steps} steps");
        kills += steps;
    }
    offload_tests::figure(format!("{kills} kills of prune and repack"), "0 damaged programs");
}

#[test]
fn a_change_whose_system_calls_fail_says_so_and_is_finished_by_a_rerun() {
    let mut all = 0;
    let changes = [(SPLIT, PRUNE), (SIDECAR, EMBED)];
    let sample = if offload_tests::is_full() { &changes[..] } else { &changes[..1] };
    for &(first, args) in sample {
        let change = Change::new(Some(first), args);
        let mut failures = 0;
        for call in CALLS {
            let mut number = 1;
            loop {
                let dir = change.fresh();
                let output = change.injected(dir.path(), call, &format!("error=EIO:when={number}"));
                let Some(output) = output else { break };
                let when = format!("{call} {number} fails");
                if output.status.success() {
                    let found = files(dir.path());
                    assert!(found == change.after, "{args:?} {when}: {:?}", names(&found));
                }
                change.check(dir.path(), &when);
                failures += usize::from(!output.status.success());
                // Of many calls not every one: they read the same tables.
                number += 1 + number / 8;
            }
        }
        assert!(failures > 10, "{args:?}: {failures} failures");
        all += failures;
    }
    offload_tests::figure(format!("{all} failures of calls of prune and repack"), "0 damaged programs");
}
