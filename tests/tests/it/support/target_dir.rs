//! A target directory for each thread of tests, so that fixtures are built side by side: cargo locks the one it builds in.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use super::Project;

/// More directories than this take more disk than they save time.
const MOST: usize = 4;

/// The target directory of the calling thread. It stays the same until the thread ends.
pub fn target_dir() -> PathBuf {
    thread_local! {
        static SLOT: Slot = Slot::lowest_free();
    }
    SLOT.with(|slot| numbered(slot.0 % count()))
}

/// Has the dependencies of fixtures in `dir`, unless it was there before.
pub fn ensure_seeded(dir: &Path) {
    static SEEDED: OnceLock<()> = OnceLock::new();
    if !dir.exists() {
        SEEDED.get_or_init(seed);
    }
}

/// A number that no other thread has.
struct Slot(usize);

static TAKEN: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

impl Slot {
    fn lowest_free() -> Slot {
        let mut taken = TAKEN.lock().unwrap();
        let free = (0..).find(|number| !taken.contains(number)).unwrap();
        taken.insert(free);
        Slot(free)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        TAKEN.lock().unwrap().remove(&self.0);
    }
}

/// `cargo xtask test` runs more tests at a time than there are processors.
fn count() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    processors.saturating_add(processors.div_ceil(2)).min(MOST)
}

fn numbered(number: usize) -> PathBuf {
    offload_tests::fixture_target_dir().join(number.to_string())
}

/// Builds the dependencies of fixtures, and copies them to every directory that is not there yet.
///
/// Those of two fixtures have all features that others have too. Tests that run nightly build more.
fn seed() {
    let project = Project::with_fake_tools("two-files");
    let mut with_devices = Project::new("debugged");
    with_devices.set("OFFLOAD_SKIP", "1");
    let seed = numbered(0);
    run(&project, &seed, &["build", "--profile=dev"]);
    run(&with_devices, &seed, &["build", "--profile=dev"]);
    run(&project, &seed, &["check", "--profile=dev"]);
    // `vendor` compiles for a release.
    run(&project, &seed, &["check", "--release"]);
    // `report --matrix` builds in a directory of its own.
    let of_matrix = seed.join("offload-matrix");
    if !of_matrix.exists() {
        fs::create_dir(&of_matrix).unwrap();
        copy(&seed.join("debug"), &of_matrix.join("debug"));
    }
    for number in 1..count() {
        let dir = numbered(number);
        if !dir.exists() {
            copy(&seed, &dir);
        }
    }
}

fn run(project: &Project, target_dir: &Path, command: &[&str]) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(command).arg("--offline").current_dir(project.path(""));
    let outcome = project.command_with(target_dir, &mut cargo);
    assert!(outcome.success, "{}", outcome.text);
}

/// With the times of all files, by which cargo knows what is fresh.
fn copy(from: &Path, to: &Path) {
    let unfinished = to.with_extension("unfinished");
    let _ = fs::remove_dir_all(&unfinished);
    let status = Command::new("cp").arg("-a").args([from, &unfinished]).status().unwrap();
    assert!(status.success(), "cp -a {} {}: {status}", from.display(), unfinished.display());
    fs::rename(&unfinished, to).unwrap();
}
