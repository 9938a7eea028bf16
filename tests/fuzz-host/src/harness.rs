//! Environment of a fuzzing run: tools, executor and batch directories.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::Workspace;
use tempfile::{Builder, TempDir};

use crate::builds::levels;
use crate::executor::Executor;

/// What a run of the fuzzer has. Threads may share it.
#[derive(Clone, Debug)]
pub struct Harness {
    compiler: PathBuf,
    runner: PathBuf,
    /// Where batches have their folders.
    folder: PathBuf,
    keeps_files: bool,
    levels: &'static [&'static str],
    executor: Arc<Executor>,
    /// Holds the executor's files.
    _executor_folder: Arc<TempDir>,
}

/// The programs that a harness starts.
#[derive(Clone, Debug)]
pub struct Programs {
    /// `offload-fuzz-compiler`.
    pub compiler: PathBuf,
    /// `offload-fuzz-runner`.
    pub runner: PathBuf,
}

/// The folder of a batch.
#[derive(Debug)]
pub(crate) struct BatchFolder {
    path: PathBuf,
    /// Removes it, unless files are kept.
    _guard: Option<TempDir>,
}

impl Programs {
    /// Builds them from this checkout. They are not optimised, as build scripts are not: clang takes most of the time.
    ///
    /// # Errors
    /// They do not compile.
    pub fn build(workspace: &Workspace) -> Result<Programs> {
        let names = ["offload-fuzz-compiler", "offload-fuzz-runner"];
        let [compiler, runner] = names.map(|name| workspace.target_dir.join("debug").join(name));
        // With `--test it`, dependencies have the features that they have in a run of all tests, which has compiled them.
        let build = ["build", "--quiet", "--workspace", "--all-features", "--test", "it"];
        let mut cargo = workspace.cargo().args(build);
        for name in names {
            cargo = cargo.args(["--bin", name]);
        }
        cargo.quiet().run()?;
        Ok(Programs { compiler, runner })
    }
}

impl Harness {
    /// `compiler` is a program `offload-fuzz-compiler`, with the offload-build that is tested, and `runner` a program
    /// `offload-fuzz-runner`. Both are absolute paths.
    ///
    /// # Errors
    /// clang is missing, or does not compile the executor.
    pub fn new(workspace: &Workspace, compiler: PathBuf, runner: PathBuf) -> Result<Harness> {
        let clang = setup::llvm(workspace, "clang").ok_or_else(|| {
            Error::new("clang is not installed").hint("`cargo xtask setup` installs what tests need")
        })?;
        let folder = workspace.target_dir.join("fuzz-host");
        fs::create_dir_all(&folder)?;
        let executor_folder = Builder::new().prefix("executor-").tempdir_in(&folder)?;
        let executor = Arc::new(Executor::new(clang, executor_folder.path())?);
        let _executor_folder = Arc::new(executor_folder);
        Ok(Harness {
            compiler,
            runner,
            folder,
            keeps_files: false,
            levels: levels(),
            executor,
            _executor_folder,
        })
    }

    /// The same with another compiler, as one that has a fault.
    #[must_use]
    pub fn with_compiler(&self, compiler: PathBuf) -> Harness {
        Harness { compiler, ..self.clone() }
    }

    /// The same with other targets for release builds than [`levels`], of which each takes as long as another build.
    #[must_use]
    pub fn with_levels(&self, levels: &'static [&'static str]) -> Harness {
        Harness { levels, ..self.clone() }
    }

    /// The same, which leaves the files of batches below `target/fuzz-host`.
    #[must_use]
    pub fn keeping_files(&self) -> Harness {
        Harness { keeps_files: true, ..self.clone() }
    }

    pub(crate) fn compiler(&self) -> &Path {
        &self.compiler
    }

    pub(crate) fn levels(&self) -> &'static [&'static str] {
        self.levels
    }

    pub(crate) fn runner(&self) -> &Path {
        &self.runner
    }

    pub(crate) fn executor(&self) -> &Executor {
        &self.executor
    }

    /// A new folder for the files of a batch.
    pub(crate) fn batch_folder(&self) -> Result<BatchFolder> {
        let folder = Builder::new().prefix("batch-").tempdir_in(&self.folder)?;
        Ok(if self.keeps_files {
            BatchFolder { path: folder.keep(), _guard: None }
        } else {
            BatchFolder { path: folder.path().into(), _guard: Some(folder) }
        })
    }
}

impl BatchFolder {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
