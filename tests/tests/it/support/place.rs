//! Directories for copies of fixtures. A place is reused for the same fixture: cargo has the build script already that it
//! compiled and linked there, which takes longer than everything else that it does for a fixture.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

/// A directory for a project, which is removed with it.
pub struct Place {
    number: usize,
    pub directory: PathBuf,
    /// When the build script was written, if it is that of the fixture and its package is the only one.
    build_script: Option<SystemTime>,
}

/// A place that was made.
struct Known {
    fixture: PathBuf,
    target_dir: PathBuf,
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    Free,
    Taken,
    /// Another build script was compiled there than that of the fixture.
    Spoiled,
}

static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

impl Place {
    /// One that is free, for a copy of the directory `fixture` that is built in `target_dir`.
    pub fn take(fixture: &Path, target_dir: &Path) -> Place {
        let mut known = KNOWN.lock().unwrap();
        let number = known.iter().position(|place| {
            place.state == State::Free && place.fixture == fixture && place.target_dir == target_dir
        });
        match number.and_then(|number| known.get_mut(number)) {
            Some(place) => place.state = State::Taken,
            None => known.push(Known {
                fixture: fixture.to_path_buf(),
                target_dir: target_dir.to_path_buf(),
                state: State::Taken,
            }),
        }
        let used_before = number.is_some();
        let number = number.unwrap_or(known.len() - 1);
        drop(known);
        let place = Place { number, directory: std::env::temp_dir().join(name(number)), build_script: None };
        if used_before {
            place.forget_builds(target_dir);
        } else {
            place.forget_everything(target_dir);
        }
        fs::create_dir(&place.directory).unwrap();
        place
    }

    /// The name of the package. Programs of projects that share a target directory overwrite each other if they share one.
    pub fn name(&self) -> String {
        name(self.number)
    }

    /// Has cargo believe that the build script, which was just copied from `fixture`, is as old as that.
    pub fn keep_build_script(&mut self, fixture: &Path) {
        let from = fixture.join("build.rs");
        let to = self.directory.join("build.rs");
        if has_members(&self.directory) || !from.exists() {
            return;
        }
        let written = fs::metadata(from).unwrap().modified().unwrap();
        File::options().write(true).open(&to).unwrap().set_modified(written).unwrap();
        self.build_script = modified(&to);
    }

    /// Removes the outputs of the build script and the program, so that both run again.
    fn forget_builds(&self, target_dir: &Path) {
        for profile in profiles(target_dir) {
            let _ = fs::remove_file(profile.join(self.name()));
            for run in self.below(&profile.join("build")).filter(|run| run.join("out").is_dir()) {
                fs::remove_dir_all(run).unwrap();
            }
        }
    }

    /// Removes what an earlier run of the tests has left, whose process had the same number.
    fn forget_everything(&self, target_dir: &Path) {
        self.forget_builds(target_dir);
        let _ = fs::remove_dir_all(&self.directory);
        for fingerprints in profiles(target_dir).map(|profile| profile.join(".fingerprint")) {
            self.below(&fingerprints).for_each(|of_unit| fs::remove_dir_all(of_unit).unwrap());
        }
    }

    /// What cargo has called after the package, with a hash behind it.
    fn below(&self, directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
        let start = format!("{}-", self.name());
        entries(directory).into_iter().filter(move |path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start))
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let same =
            self.build_script.is_some() && modified(&self.directory.join("build.rs")) == self.build_script;
        let _ = fs::remove_dir_all(&self.directory);
        if let Some(place) = KNOWN.lock().ok().as_mut().and_then(|known| known.get_mut(self.number)) {
            place.state = if same && !self.directory.exists() { State::Free } else { State::Spoiled };
        }
    }
}

fn name(number: usize) -> String {
    format!("fixture-{}-{number}", std::process::id())
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}

/// Members have the same name in every copy of a fixture.
fn has_members(directory: &Path) -> bool {
    entries(directory).iter().any(|below| below.join("Cargo.toml").exists())
}

/// What is in a directory; nothing where there is none.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(directory).into_iter().flatten();
    found.map(|entry| entry.unwrap().path()).collect()
}

/// The directories of profiles. `report --matrix` has a target directory of its own in that of the package.
fn profiles(target_dir: &Path) -> impl Iterator<Item = PathBuf> {
    entries(target_dir)
        .into_iter()
        .flat_map(|directory| [entries(&directory), vec![directory]].concat())
        .filter(|profile| profile.join(".fingerprint").is_dir())
}
