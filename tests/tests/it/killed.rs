//! Builds, `extract` and `vendor` that are killed before a system call: no file is torn, and the next run makes what an
//! undisturbed one makes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::carried::Linked;
use crate::support::script::{Files, Places, Script, differences, files, succeed};
use crate::support::strace::{Fault, WRITES, Whose, injected};
use crate::support::{Project, cargo_offload};

/// What a sample takes: the first of each.
const SAMPLE: [&str; 5] = ["?write", "?mkdir", "?linkat", "?rename", "?unlink"];

/// A command, and the directories that it changes.
struct Killed {
    command: Command,
    whose: Whose,
    /// What comes of it is in the first one.
    directories: Vec<PathBuf>,
    /// Copies of all of them.
    saved: tempfile::TempDir,
    before: Files,
    after: Files,
}

impl Killed {
    /// Runs the command once, undisturbed, and takes everything back.
    fn new(mut command: Command, whose: Whose, directories: Vec<PathBuf>) -> Killed {
        let saved = tempfile::tempdir().unwrap();
        for (number, directory) in directories.iter().enumerate() {
            copy(directory, &saved.path().join(number.to_string()));
        }
        let before = files(&directories[0]);
        succeed(&mut command);
        let after = files(&directories[0]);
        assert_ne!(before, after, "{command:?} changes nothing");
        Killed { command, whose, directories, saved, before, after }
    }

    fn reset(&self) {
        for (number, directory) in self.directories.iter().enumerate() {
            let _ = fs::remove_dir_all(directory);
            copy(&self.saved.path().join(number.to_string()), directory);
        }
    }

    /// Kills it before each call, or before a sample of them; returns how often.
    fn everywhere(&mut self) -> usize {
        let calls: &[&str] = if offload_tests::is_full() { &WRITES } else { &SAMPLE };
        calls.iter().map(|call| self.at_each(call)).sum()
    }

    fn at_each(&mut self, call: &str) -> usize {
        let (mut kills, mut number) = (0, 1);
        loop {
            self.reset();
            let what = format!("signal=KILL:when={number}");
            if injected(&self.command, &Fault { call, what, whose: self.whose }).is_none() {
                return kills;
            }
            self.check(&format!("killed before {call} {number}"));
            kills += 1;
            if !offload_tests::is_full() {
                return kills;
            }
            // Of many calls not every one: they write parts of the same file.
            number += 1 + number / 8;
        }
    }

    fn check(&mut self, when: &str) {
        for (path, bytes) in files(&self.directories[0]) {
            let whole = [&self.before, &self.after].iter().any(|all| all.get(&path) == Some(&bytes));
            assert!(whole, "{when}: {} is torn", path.display());
        }
        succeed(&mut self.command);
        let found = differences(&files(&self.directories[0]), &self.after);
        assert!(found.is_empty(), "{when}: {found:?}");
    }
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(status.success(), "cp -a {} {}", from.display(), to.display());
}

fn figure(kills: usize, of: &str) {
    assert!(kills > 1, "{kills} kills of {of}");
    offload_tests::figure(format!("{kills} kills of {of}"), "0 torn files or other results");
}

#[test]
fn a_build_that_is_killed_anywhere_is_made_good_by_the_next() {
    let project = Project::with_fake_tools("two-files");
    let script = Script::of(&project);
    let places = Places { package: project.path(""), out: project.path("out"), cache: project.path("cache") };
    let command = || script.command(&places);
    // From nothing, and after an edit with everything there.
    let kills = |command| {
        Killed::new(command, Whose::All, vec![places.out.clone(), places.cache.clone()]).everywhere()
    };
    let first = kills(command());
    succeed(&mut command());
    project.write("kernels/b.cl", "__kernel void gamma(__global int *x) {\n}\n");
    figure(first + kills(command()), "builds");
}

#[test]
fn an_extract_that_is_killed_anywhere_is_made_good_by_the_next() {
    let linked = Linked::new("rust-lld");
    let out = linked.path("images");
    fs::create_dir(&out).unwrap();
    let mut command = Command::new(cargo_offload());
    command.args(["extract", "--force", "--output", "images", "app"]).current_dir(linked.dir.path());
    figure(Killed::new(command, Whose::All, vec![out]).everywhere(), "extract");
}

#[test]
fn a_vendor_that_is_killed_anywhere_is_made_good_by_the_next() {
    let project = Project::with_fake_tools("two-files");
    project.program();
    let vendored = project.path("offload-vendor");
    fs::create_dir(&vendored).unwrap();
    let mut command = project.offload_command(&["vendor"]);
    succeed(&mut command);
    project.write("kernels/b.cl", "__kernel void gamma(__global int *x) {\n}\n");
    // cargo and the build script are other commands, whose results are thrown away.
    figure(Killed::new(command, Whose::First, vec![vendored]).everywhere(), "vendor");
}
