//! A build script with kernels, which runs again when a file has changed that it was made of.

#![allow(clippy::disallowed_methods, reason = "starts processes")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};
use std::{fs, io};

use offload_build::shared::recipe::Recipe;
use offload_protocol::variable;

use super::folder::InUse;
use super::stamp::Stamps;
use crate::cargo::watch::{self, Watch};
use crate::error::{Error, Result};
use crate::print::output::Output;
use crate::print::table::Colour;
use crate::print::text::escaped;

/// A build script, and what it has made.
#[derive(Debug)]
pub(super) struct Script {
    recipe: Recipe,
    /// In the place of its `OUT_DIR`, which is cargo's.
    scratch: PathBuf,
    /// Where the program looks for packs.
    packs: PathBuf,
    /// The files that it depends on, as they were when it ran last.
    files: Stamps,
    /// As they are, if they have changed since.
    changing: Option<Stamps>,
    state: State,
}

/// What the program has.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// The kernels of its build.
    Built,
    /// Others, for these targets; for all if there is none.
    Newer(BTreeSet<String>),
    /// Not those of today, which cannot be compiled.
    Failed,
}

/// How a run of a build script ended.
#[derive(Debug)]
struct Ran {
    is_success: bool,
    /// What it has said to people.
    said: String,
    files: Vec<PathBuf>,
}

const NOT_USED: &str =
    "the program has opened none of its kernels yet, or its profile has no debug assertions";

impl Script {
    pub(super) fn new(recipe: Recipe, scratch: PathBuf, packs: &Path) -> Script {
        let (packs, files) = (packs.to_path_buf(), Stamps::default());
        Script { recipe, scratch, packs, files, changing: None, state: State::Built }
    }

    /// Finds out which files it depends on. The build of the program, which began at `begin`, has compiled everything: this
    /// compiles what was saved since.
    ///
    /// # Errors
    /// It cannot be started, or fails.
    pub(super) fn learn(&mut self, output: &Output, begin: SystemTime) -> Result<()> {
        let ran = self.run(output, &self.scratch, &BTreeSet::new())?;
        if !ran.is_success {
            output.status(ran.said.trim());
            return Err(Error::check(format!("the build script of `{}` failed", self.package())));
        }
        self.files = Stamps::of(ran.files);
        self.changing = self.files.is_newer_than(begin).then(|| self.files.clone());
        Ok(())
    }

    /// Compiles kernels again if a file has changed, or if the program has begun to use other targets.
    ///
    /// # Errors
    /// The build script cannot be started; that it fails is told.
    pub(super) fn follow(&mut self, output: &Output, in_use: &InUse) -> Result<()> {
        let targets = in_use.get(&self.name()).cloned().unwrap_or_default();
        let now = self.files.again();
        let is_complete = match &self.changing {
            // Who writes is done when two looks see the same.
            Some(before) => *before == now,
            None => self.lacks(&targets),
        };
        let is_as_before = self.changing.is_none() && now == self.files;
        self.changing = (!is_as_before).then_some(now);
        if is_complete { self.compile(output, targets) } else { Ok(()) }
    }

    /// Whether the program uses targets for which it has the kernels of its build, while there are others.
    fn lacks(&self, targets: &BTreeSet<String>) -> bool {
        matches!(&self.state, State::Newer(compiled) if !compiled.is_empty() && !targets.is_subset(compiled))
    }

    fn compile(&mut self, output: &Output, targets: BTreeSet<String>) -> Result<()> {
        let start = Instant::now();
        self.files = self.files.again();
        self.changing = None;
        let ran = self.run(output, &self.packs, &targets)?;
        let said = ran.said.trim();
        if !said.is_empty() {
            output.status(said);
        }
        let package = escaped(self.package());
        if !ran.is_success {
            output.status(&format!("the program goes on with the old kernels of `{package}`"));
            self.state = State::Failed;
            // It reports lookups only where it succeeds: a header that is missing may appear in any of these.
            self.files = self.files.with(source_directories(&self.recipe.directory));
            return Ok(());
        }
        // A file that was not read before may have changed in the meantime; those that were have their old stamps.
        let read = Stamps::of(ran.files);
        if self.files.again() == self.files {
            self.files = read;
        }
        let seconds = start.elapsed().as_secs_f64();
        let names: Vec<&str> = targets.iter().map(String::as_str).collect();
        output.status(&match names.as_slice() {
            [] => format!("compiled `{package}` in {seconds:.2} s for all targets; {NOT_USED}"),
            names => format!("compiled `{package}` in {seconds:.2} s for {}", escaped(&names.join(", "))),
        });
        self.state = State::Newer(targets);
        Ok(())
    }

    /// Runs it, so that it writes packs for `targets` (for all of the package if there is none) into `packs`.
    fn run(&self, output: &Output, packs: &Path, targets: &BTreeSet<String>) -> Result<Ran> {
        let Recipe { program, directory, variables } = &self.recipe;
        let mut command = Command::new(program);
        command
            .current_dir(directory)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .env("OUT_DIR", &self.scratch)
            .env(variable::RELOAD_PACKS, packs)
            .env(variable::RUN_ID, watch::value_for_children())
            .stdin(Stdio::null());
        // The form that goes before all others.
        let triple = self.recipe.variable("TARGET").unwrap_or_default();
        let mut set = |name: &str, value: &str| {
            command.env(format!("{name}_{triple}"), value);
        };
        // What is replaced soon is not worth the time.
        set(variable::COMPRESSION, "none");
        if !targets.is_empty() {
            set(variable::TARGETS, &targets.iter().map(String::as_str).collect::<Vec<_>>().join(","));
        }
        if output.stderr_colour() == Colour::Never {
            command.env(variable::NO_COLOR, "1");
        }
        let failed = |error: io::Error| Error::io("run", program, &error);
        let _watch = Watch::start();
        let done = command.output().map_err(failed)?;
        let (told, said) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        let mut ran = Ran { is_success: done.status.success(), said: said.into_owned(), files: Vec::new() };
        told.lines().for_each(|line| ran.hear(line, directory));
        // What lies in its own directory it has made itself, but for links to files that do not exist yet.
        let (own, others): (Vec<PathBuf>, Vec<PathBuf>) =
            std::mem::take(&mut ran.files).into_iter().partition(|file| file.starts_with(&self.scratch));
        ran.files = others;
        for directory in own {
            ran.files.extend(link_targets(&directory));
        }
        Ok(ran)
    }

    fn package(&self) -> &str {
        self.recipe.variable("CARGO_PKG_NAME").unwrap_or_default()
    }

    /// As packs name their package.
    fn name(&self) -> (String, String) {
        let version = self.recipe.variable("CARGO_PKG_VERSION").unwrap_or_default();
        (self.package().to_string(), version.to_string())
    }
}

/// The directories of a package that may have sources for kernels: not those for what is built, nor hidden ones.
fn source_directories(package: &Path) -> Vec<PathBuf> {
    let mut directories = Vec::new();
    for entry in fs::read_dir(package).into_iter().flatten().flatten() {
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        let path = entry.path();
        let is_built = path.join("CACHEDIR.TAG").exists() || entry.file_name() == "target";
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !is_hidden && !is_built {
            directories.push(path);
        }
    }
    directories
}

/// What the symbolic links in `directory` refer to.
fn link_targets(directory: &Path) -> Vec<PathBuf> {
    let mut targets = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        targets.extend(fs::read_link(entry.path()));
    }
    targets
}

impl Ran {
    /// Takes in a line for cargo (<https://doc.rust-lang.org/cargo/reference/build-scripts.html>).
    fn hear(&mut self, line: &str, directory: &Path) {
        let Some(rest) = line.strip_prefix("cargo:") else { return };
        match rest.strip_prefix(':').unwrap_or(rest).split_once('=') {
            Some(("rerun-if-changed", path)) => self.files.push(directory.join(path)),
            Some(("warning", text)) => self.said.push_str(&format!("warning: {text}\n")),
            Some(("error", text)) => {
                self.is_success = false;
                self.said.push_str(&format!("error: {text}\n"));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn files_that_do_not_exist_yet_are_watched_by_links() {
        let dir = tempfile::tempdir().unwrap();
        let absent = dir.path().join("package/tuned.h");
        let links = dir.path().join("offload-absent");
        fs::create_dir(&links).unwrap();
        std::os::unix::fs::symlink(&absent, links.join("0")).unwrap();
        assert_eq!(link_targets(&links), [absent]);
        assert_eq!(link_targets(&dir.path().join("none")), [] as [PathBuf; 0]);
    }

    #[test]
    fn lines_for_cargo_are_understood() {
        let mut ran = Ran { is_success: true, said: String::new(), files: Vec::new() };
        for line in [
            "cargo::rerun-if-changed=kernels/a.cl",
            "cargo:rerun-if-changed=/abs/b.h",
            "cargo::rerun-if-env-changed=OFFLOAD_TARGETS",
            "cargo::warning=a: unused",
            "text",
        ] {
            ran.hear(line, Path::new("/p"));
        }
        assert_eq!(ran.files, [PathBuf::from("/p/kernels/a.cl"), PathBuf::from("/abs/b.h")]);
        assert_eq!((ran.is_success, ran.said.as_str()), (true, "warning: a: unused\n"));
        ran.hear("cargo::error=no", Path::new("/p"));
        assert!(!ran.is_success && ran.said.ends_with("error: no\n"));
    }
}
