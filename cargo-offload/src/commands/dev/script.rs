//! Build script with kernels, which reruns when one of its input files has changed.

#![allow(clippy::disallowed_methods, reason = "starts processes")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

use offload_build::shared::recipe::Recipe;
use offload_protocol::variable;

use super::folder::InUse;
use super::stamp::Stamps;
use crate::cargo::watch::{self, Watch};
use crate::error::{Error, IoContext, Result};
use crate::print::output::Output;
use crate::print::table::Colour;
use crate::print::text::escaped;

/// A build script, and what it has made.
#[derive(Debug)]
pub(super) struct Script {
    recipe: Recipe,
    /// In the place of its `OUT_DIR`, which is cargo's.
    scratch: PathBuf,
    /// Directory that the program watches for packs.
    packs: PathBuf,
    /// The files that it depends on, as they were when it ran last.
    files: Stamps,
    /// As they are, if they have changed since.
    changing: Option<Stamps>,
    state: KernelState,
}

/// State of the kernels in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
enum KernelState {
    /// The kernels of its build.
    Built,
    /// Others, for these targets; for all if there is none.
    Newer(BTreeSet<String>),
    /// Not those of today, which cannot be compiled.
    Failed,
}

/// Result of a run of a build script.
#[derive(Debug)]
struct ScriptRun {
    is_success: bool,
    /// Its warnings and errors for the user.
    messages: String,
    files: Vec<PathBuf>,
}

const NOT_USED: &str =
    "the program has opened none of its kernels yet, or its profile has no debug assertions";

impl Script {
    pub(super) fn new(recipe: Recipe, scratch: PathBuf, packs: &Path) -> Script {
        let packs = packs.to_path_buf();
        let files = Stamps::default();
        Script { recipe, scratch, packs, files, changing: None, state: KernelState::Built }
    }

    /// Finds out which files it depends on. The build of the program, which began at `begin`, has compiled everything: this
    /// compiles what was saved since.
    ///
    /// # Errors
    /// It cannot be started, or fails.
    pub(super) fn learn(&mut self, output: &Output, begin: SystemTime) -> Result<()> {
        let ran = self.run(output, &self.scratch, &BTreeSet::new())?;
        if !ran.is_success {
            output.status(ran.messages.trim());
            return Err(Error::check(format!("the build script of `{}` failed", self.package())));
        }
        self.files = Stamps::new(ran.files);
        self.changing = self.files.is_newer_than(begin).then(|| self.files.clone());
        Ok(())
    }

    /// Compiles kernels again if a file has changed, or if the program has begun to use other targets.
    ///
    /// # Errors
    /// The build script cannot be started. Its failure is part of the result.
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
        matches!(&self.state, KernelState::Newer(compiled) if !compiled.is_empty() && !targets.is_subset(compiled))
    }

    fn compile(&mut self, output: &Output, targets: BTreeSet<String>) -> Result<()> {
        let start = Instant::now();
        self.files = self.files.again();
        self.changing = None;
        let ran = self.run(output, &self.packs, &targets)?;
        let messages = ran.messages.trim();
        if !messages.is_empty() {
            output.status(messages);
        }
        let package = escaped(self.package());
        if !ran.is_success {
            output.status(&format!("the program keeps the previous kernels of `{package}`"));
            self.state = KernelState::Failed;
            // It reports lookups only where it succeeds: a header that is missing may appear in any of these.
            self.files = self.files.with(source_directories(&self.recipe.directory));
            return Ok(());
        }
        // A file that was not read before may have changed in the meantime; those that were have their old stamps.
        let read = Stamps::new(ran.files);
        if self.files.again() == self.files {
            self.files = read;
        }
        let seconds = start.elapsed().as_secs_f64();
        let names: Vec<&str> = targets.iter().map(String::as_str).collect();
        output.status(&match names.as_slice() {
            [] => format!("compiled `{package}` in {seconds:.2} s for all targets; {NOT_USED}"),
            names => format!("compiled `{package}` in {seconds:.2} s for {}", escaped(&names.join(", "))),
        });
        self.state = KernelState::Newer(targets);
        Ok(())
    }

    /// Runs it, so that it writes packs for `targets` (for all of the package if there is none) into `packs`.
    fn run(&self, output: &Output, packs: &Path, targets: &BTreeSet<String>) -> Result<ScriptRun> {
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
        // These images are replaced soon, so that compression does not pay off.
        command.env(format!("{}_{triple}", variable::COMPRESSION), "none");
        if !targets.is_empty() {
            let list = targets.iter().map(String::as_str).collect::<Vec<_>>().join(",");
            command.env(format!("{}_{triple}", variable::TARGETS), list);
        }
        if output.stderr_colour() == Colour::Never {
            command.env(variable::NO_COLOR, "1");
        }
        let _watch = Watch::start();
        let done = command.output().io_context("run", program)?;
        let stdout = String::from_utf8_lossy(&done.stdout);
        let stderr = String::from_utf8_lossy(&done.stderr);
        let mut ran =
            ScriptRun { is_success: done.status.success(), messages: stderr.into_owned(), files: Vec::new() };
        stdout.lines().for_each(|line| ran.hear(line, directory));
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

/// The targets of the symbolic links in `directory`.
fn link_targets(directory: &Path) -> Vec<PathBuf> {
    let mut targets = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        targets.extend(fs::read_link(entry.path()));
    }
    targets
}

impl ScriptRun {
    /// Takes in a line for cargo (<https://doc.rust-lang.org/cargo/reference/build-scripts.html>).
    fn hear(&mut self, line: &str, directory: &Path) {
        let Some(rest) = line.strip_prefix("cargo:") else { return };
        match rest.strip_prefix(':').unwrap_or(rest).split_once('=') {
            Some(("rerun-if-changed", path)) => self.files.push(directory.join(path)),
            Some(("warning", text)) => self.messages.push_str(&format!("warning: {text}\n")),
            Some(("error", text)) => {
                self.is_success = false;
                self.messages.push_str(&format!("error: {text}\n"));
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
        let mut ran = ScriptRun { is_success: true, messages: String::new(), files: Vec::new() };
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
        assert_eq!((ran.is_success, ran.messages.as_str()), (true, "warning: a: unused\n"));
        ran.hear("cargo::error=no", Path::new("/p"));
        assert!(!ran.is_success && ran.messages.ends_with("error: no\n"));
    }
}
