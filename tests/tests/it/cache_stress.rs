//! Eight processes build with one compile cache, while entries are removed, damaged and exchanged and builds are killed:
//! no build fails, and none has another image than it should.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::Project;
use crate::support::random::Random;
use crate::support::script::{Files, Places, Script, differences, of_programs, output_text, succeed};

const BUILDS: u64 = 8;
/// What is built: entries of the cache are shared by some of them.
const TARGETS: [&str; 6] = [
    "spirv64",
    "intel:pvc",
    "opencl-c",
    "intel:acm-g10,intel:pvc",
    "spirv64,opencl-c",
    "intel:acm-g10,spirv64,opencl-c",
];

/// What is built for some targets, and what comes of it.
struct Built {
    targets: &'static str,
    after: Files,
}

struct Stress {
    directory: tempfile::TempDir,
    project: Project,
    script: Script,
    built: Vec<Built>,
    until: Instant,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    builds: u64,
    killed: u64,
    hazards: u64,
    failed: Vec<String>,
    wrong: Vec<String>,
}

impl Stress {
    fn new(time: Duration) -> Stress {
        let project = Project::with_fake_tools("two-files");
        let script = Script::for_project(&project);
        let directory = tempfile::tempdir().unwrap();
        let mut stress = Stress {
            directory,
            project,
            script,
            built: Vec::new(),
            until: Instant::now(),
            counts: Mutex::default(),
        };
        for targets in TARGETS {
            let places = stress.places("undisturbed", "its own");
            succeed(stress.script.command(&places).env("OFFLOAD_TARGETS", targets));
            stress.built.push(Built { targets, after: of_programs(&places.out) });
            fs::remove_dir_all(&places.out).unwrap();
        }
        stress.until = Instant::now() + time;
        stress
    }

    fn places(&self, out: &str, cache: &str) -> Places {
        let below = self.directory.path();
        Places { package: self.project.path(""), out: below.join(out), cache: below.join(cache) }
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Builds again and again; one of six builds is killed.
    fn build(&self, number: u64) {
        let places = self.places(&format!("out{number}"), "shared");
        let mut random = Random(number + 1);
        while !self.is_over() {
            let built = &self.built[random.index(TARGETS.len())];
            let _ = fs::remove_dir_all(&places.out);
            let mut command = self.script.command(&places);
            command.env("OFFLOAD_TARGETS", built.targets);
            if random.below(6) == 0 {
                let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                thread::sleep(Duration::from_millis(random.below(300)));
                child.kill().unwrap();
                child.wait().unwrap();
                self.counts.lock().unwrap().killed += 1;
                continue;
            }
            let output = command.output().unwrap();
            let found = differences(&of_programs(&places.out), &built.after);
            let mut counts = self.counts.lock().unwrap();
            counts.builds += 1;
            if !output.status.success() {
                counts.failed.push(format!("{}: {}", built.targets, output_text(&output)));
            } else if !found.is_empty() {
                counts.wrong.push(format!("{}: {found:?}", built.targets));
            }
        }
    }

    /// Removes, damages, cuts and exchanges entries of the shared cache.
    fn spoil(&self) {
        let cache = self.places("", "shared").cache;
        let mut random = Random(99);
        while !self.is_over() {
            thread::sleep(Duration::from_millis(50));
            let entries = entries(&cache);
            if entries.len() < 2 {
                continue;
            }
            let one = &entries[random.index(entries.len())];
            let other = &entries[random.index(entries.len())];
            spoil(one, other, random.below(5));
            self.counts.lock().unwrap().hazards += 1;
        }
    }
}

/// Does one of five things; entries may be gone meanwhile.
fn spoil(one: &Path, other: &Path, how: u64) {
    let Ok(mut bytes) = fs::read(one) else { return };
    let half = bytes.len() / 2;
    let _ = match how {
        0 => fs::remove_file(one),
        1 => {
            bytes.truncate(half);
            fs::write(one, bytes)
        }
        2 => {
            bytes.iter_mut().rev().take(1).for_each(|byte| *byte ^= 1);
            fs::write(one, bytes)
        }
        3 => fs::write(one, []),
        _ => fs::read(other).and_then(|others| fs::write(one, others).and(fs::write(other, bytes))),
    };
}

/// Results and what front ends have read.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(directory).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(entries(&path));
        } else if path.extension().is_some_and(|extension| extension == "blob" || extension == "deps") {
            found.push(path);
        }
    }
    found
}

#[test]
fn builds_with_a_cache_that_others_spoil_are_right() {
    let stress = Stress::new(Duration::from_secs(if offload_tests::is_full() { 60 } else { 4 }));
    thread::scope(|scope| {
        let stress = &stress;
        (0..BUILDS).for_each(|number| drop(scope.spawn(move || stress.build(number))));
        scope.spawn(|| stress.spoil());
    });
    let Counts { builds, killed, hazards, failed, wrong } = stress.counts.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {builds} builds failed: {}", failed.len(), failed[0]);
    assert!(wrong.is_empty(), "{} of {builds} builds are wrong: {}", wrong.len(), wrong[0]);
    assert!(builds > 8 && hazards > 8, "{builds} builds, {hazards} entries spoiled");
    let tried = format!("{builds} builds, {killed} killed, {hazards} entries removed, damaged or exchanged");
    offload_tests::figure(tried, "0 wrong images, 0 failed builds");
}
