//! Builds, `extract`, `vendor` and changes of the settings that are killed before a system call, or whose calls fail: no file is torn, errors say
//! so, nothing unfinished stays, and the next run makes what an undisturbed one makes.

use std::fs;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::carried::Linked;
use crate::disturbed::{Disturbed, Harm};
use crate::support::script::{Places, Script, succeed};
use crate::support::strace::{WRITES, Whose};
use crate::support::{Project, cargo_offload};

/// What a sample takes: the first of each.
const SAMPLE: [&str; 5] = ["?write", "?mkdir", "?linkat", "?rename", "?unlink"];
/// Calls that fail, and how.
const FAILURES: [(&str, &str); 12] = [
    ("?write", "ENOSPC"),
    ("?write", "EIO"),
    ("?write", "EDQUOT"),
    ("?copy_file_range", "EIO"),
    ("?ftruncate", "ENOSPC"),
    ("?mkdir", "EROFS"),
    ("?linkat", "EACCES"),
    ("?rename", "EIO"),
    ("?unlink", "EACCES"),
    ("?fchmod", "EPERM"),
    ("?fsync", "EIO"),
    ("?flock", "EIO"),
];
/// Calls that a signal interrupts, and that are made again. The loader of programs makes no `read` again.
const INTERRUPTED: [&str; 3] = ["?write", "?ftruncate", "?fsync"];

/// Kills it before each call; returns how often.
fn kill(mut disturbed: Disturbed) -> usize {
    let calls: &[&str] = if offload_tests::is_full() { &WRITES } else { &SAMPLE };
    disturbed.everywhere(calls, Harm::Kill).times
}

fn figure(kills: usize, of: &str) {
    assert!(kills > 1, "{kills} kills of {of}");
    offload_tests::figure(format!("{kills} kills of {of}"), "0 torn files or other results");
}

/// What came of failures.
#[derive(Default)]
struct Failures {
    calls: usize,
    errors: usize,
    interrupted: usize,
}

impl Failures {
    /// Has each call fail.
    fn add(&mut self, mut disturbed: Disturbed) {
        for (call, error) in FAILURES {
            if offload_tests::is_full() || SAMPLE.contains(&call) {
                let counts = disturbed.everywhere(&[call], Harm::Error(error));
                self.calls += counts.times;
                self.errors += counts.errors;
            }
        }
        let again = disturbed.everywhere(&INTERRUPTED, Harm::Error("EINTR"));
        assert_eq!(again.errors, 0, "an interrupted call ended the command");
        self.interrupted += again.times;
    }

    fn figure(&self, of: &str) {
        let Failures { calls, errors, interrupted } = self;
        assert!(*errors > 0 && *interrupted > 0, "{errors} errors of {calls}, {interrupted} interrupted");
        let tried = format!("{calls} failures of calls of {of}, {interrupted} interrupted");
        offload_tests::figure(tried, format!("{errors} errors, 0 torn files or other results"));
    }
}

/// A build from nothing, one after an edit with everything there, and one that also removes what the cache has too much of.
fn builds(mut disturb: impl FnMut(Disturbed)) {
    let project = Project::with_fake_tools("two-files");
    let script = Script::for_project(&project);
    let places = Places { package: project.path(""), out: project.path("out"), cache: project.path("cache") };
    disturb(disturbed(&script, &places));
    succeed(&mut script.command(&places));
    project.write("kernels/b.cl", "__kernel void gamma(__global int *x) {\n}\n");
    disturb(disturbed(&script, &places));
    project.write("kernels/b.cl", "__kernel void delta(__global int *x) {\n}\n");
    disturb(sweeping(&script, &places, &project));
}

fn disturbed(script: &Script, places: &Places) -> Disturbed {
    let directories = vec![places.out.clone(), places.cache.clone()];
    Disturbed::new(script.command(places), Whose::All, directories)
}

/// A build whose cache is to be empty.
fn sweeping(script: &Script, places: &Places, project: &Project) -> Disturbed {
    let old = SystemTime::now() - Duration::from_secs(2 * 24 * 60 * 60);
    fs::File::open(project.stamp()).unwrap().set_modified(old).unwrap();
    let kept = project.blobs().len();
    let mut command = script.command(places);
    command.env("OFFLOAD_CACHE_SIZE", "1");
    let disturbed = Disturbed::new(command, Whose::All, vec![places.out.clone(), places.cache.clone()]);
    assert!(project.blobs().len() < kept, "{kept} entries stay");
    disturbed
}

/// The targets of a package.
fn settings(disturb: impl FnOnce(Disturbed)) {
    let package = tempfile::tempdir().unwrap();
    fs::write(package.path().join("offload.toml"), "# Ours.\ntargets = [\"host\"] # only\n").unwrap();
    let mut command = Command::new(cargo_offload());
    command.args(["targets", "set", "spirv64", "opencl-c", "--config", "offload.toml"]);
    command.current_dir(package.path());
    disturb(Disturbed::new(command, Whose::All, vec![package.path().to_path_buf()]));
}

fn extract(disturb: impl FnOnce(Disturbed)) {
    let linked = Linked::new("rust-lld");
    let out = linked.path("images");
    fs::create_dir(&out).unwrap();
    let mut command = Command::new(cargo_offload());
    command.args(["extract", "--force", "--output", "images", "app"]).current_dir(linked.dir.path());
    disturb(Disturbed::new(command, Whose::All, vec![out]));
}

fn vendor(disturb: impl FnOnce(Disturbed)) {
    let project = Project::with_fake_tools("two-files");
    project.program();
    let vendored = project.path("offload-vendor");
    fs::create_dir(&vendored).unwrap();
    let mut command = project.offload_command(&["vendor"]);
    succeed(&mut command);
    project.write("kernels/b.cl", "__kernel void gamma(__global int *x) {\n}\n");
    // cargo and the build script are other commands, whose results are thrown away.
    disturb(Disturbed::new(command, Whose::First, vec![vendored]));
}

#[test]
fn a_build_that_is_killed_anywhere_is_made_good_by_the_next() {
    let mut kills = 0;
    builds(|build| kills += kill(build));
    figure(kills, "builds");
}

#[test]
fn an_extract_that_is_killed_anywhere_is_made_good_by_the_next() {
    extract(|extract| figure(kill(extract), "extract"));
}

#[test]
fn a_vendor_that_is_killed_anywhere_is_made_good_by_the_next() {
    // Each run starts cargo and a build script.
    if !offload_tests::is_nightly() {
        return;
    }
    vendor(|vendor| figure(kill(vendor), "vendor"));
}

#[test]
fn a_change_of_settings_that_is_killed_anywhere_is_made_good_by_the_next() {
    settings(|settings| figure(kill(settings), "changes of settings"));
}

#[test]
fn a_build_whose_system_calls_fail_says_so_and_is_made_good_by_the_next() {
    let mut failures = Failures::default();
    builds(|build| failures.add(build));
    failures.figure("builds");
}

#[test]
fn an_extract_whose_system_calls_fail_says_so_and_is_made_good_by_the_next() {
    let mut failures = Failures::default();
    extract(|extract| failures.add(extract));
    failures.figure("extract");
}

#[test]
fn a_vendor_whose_system_calls_fail_says_so_and_is_made_good_by_the_next() {
    // Each run starts cargo and a build script.
    if !offload_tests::is_nightly() {
        return;
    }
    let mut failures = Failures::default();
    vendor(|vendor| failures.add(vendor));
    failures.figure("vendor");
}
