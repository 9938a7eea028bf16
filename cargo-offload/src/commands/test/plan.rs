//! Input and results of the test runner, in a temporary directory that a variable names.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::fs;
use std::path::{Path, PathBuf};

use offload_protocol::variable;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::cleanup;
use super::device::DeviceUnderTest;
use super::outcome::Row;
use crate::cargo::artifact::TestProgram;
use crate::cargo::process::Cargo;
use crate::cli;
use crate::error::{Error, IoContext, Result};

/// Input of the test runner.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) places: Vec<DeviceUnderTest>,
    /// Seconds; 0: for ever.
    pub(super) timeout: u64,
    /// Number of parallel tests; `None`: one per CPU.
    pub(super) threads: Option<usize>,
    /// Program that starts the tests of a test binary.
    pub(super) starter: Starter,
    pub(super) programs: Vec<TestProgram>,
}

/// Program that starts the tests of a test binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Starter {
    /// The runner, which cargo starts.
    Runner,
    /// `cargo nextest`.
    Nextest,
}

impl Plan {
    pub(super) fn new(
        places: &[DeviceUnderTest],
        running: &cli::TestRunning,
        programs: &[TestProgram],
    ) -> Plan {
        Plan {
            starter: Starter::Runner,
            places: places.to_vec(),
            timeout: running.timeout,
            threads: running.test_threads,
            programs: programs.to_vec(),
        }
    }

    /// The plan of the folder that the environment names, and the folder.
    pub(super) fn from_environment() -> Result<(Plan, PathBuf)> {
        let folder = std::env::var_os(variable::TEST_RUN).map(PathBuf::from);
        let folder = folder.ok_or_else(|| Error::usage(format!("{} is not set", variable::TEST_RUN)))?;
        Ok((Plan::read(&folder)?, folder))
    }

    /// The program that cargo has made as `file`, and its number.
    pub(super) fn program(&self, file: &Path) -> Option<(usize, &TestProgram)> {
        self.programs.iter().enumerate().find(|(_, program)| is_same(&program.file, file))
    }

    fn read(folder: &Path) -> Result<Plan> {
        let path = folder.join(PLAN);
        let text = fs::read_to_string(&path).io_context("read", &path)?;
        serde_json::from_str(&text).map_err(|error| unreadable(&path, &error))
    }
}

const PLAN: &str = "plan.json";
const RESULTS: &str = "results";

/// The folder, which goes when this is dropped, after the processes that have it in their environment.
#[derive(Debug)]
pub(super) struct Folder(TempDir);

impl Drop for Folder {
    fn drop(&mut self) {
        cleanup::end(variable::TEST_RUN, self.0.path());
    }
}

impl Folder {
    pub(super) fn new() -> Result<Folder> {
        let folder = tempfile::Builder::new()
            .prefix("offload-test-")
            .tempdir()
            .io_context("write to", "the temporary directory")?;
        let results = folder.path().join(RESULTS);
        fs::create_dir(&results).io_context("create", &results)?;
        Ok(Folder(folder))
    }

    pub(super) fn write_plan(&self, plan: &Plan) -> Result<()> {
        let path = self.0.path().join(PLAN);
        let text = serde_json::to_string(plan).map_err(|error| unreadable(&path, &error))?;
        fs::write(&path, text).io_context("write", &path)
    }

    /// This program, by a name without a space: cargo cuts the text of a runner at spaces.
    pub(super) fn runner(&self) -> Result<PathBuf> {
        let own = std::env::current_exe().io_context("find", "this program")?;
        let link = self.0.path().join("cargo-offload");
        #[cfg(unix)]
        let linked = std::os::unix::fs::symlink(&own, &link);
        #[cfg(not(unix))]
        let linked = fs::copy(&own, &link);
        linked.io_context("write", &link)?;
        Ok(link)
    }

    /// Tells the runners that `cargo` starts where this is.
    pub(super) fn hand_to(&self, cargo: Cargo) -> Cargo {
        cargo.env(variable::TEST_RUN, self.0.path())
    }

    /// The results of each test binary.
    ///
    /// # Errors
    /// A program was not run: cargo took another runner.
    pub(super) fn rows(&self, programs: &[TestProgram]) -> Result<Vec<Vec<Row>>> {
        let mut rows = Vec::new();
        for (number, program) in programs.iter().enumerate() {
            let path = results(self.0.path(), number);
            let text = fs::read_to_string(&path).map_err(|_| {
                Error::usage(format!(
                    "cargo did not run the tests of `{}` through cargo-offload",
                    program.file.display()
                ))
                .hint("if `build.target` is set in cargo's configuration, name it with --target too")
            })?;
            let lines = text.lines().map(serde_json::from_str::<Row>);
            rows.push(
                lines.collect::<std::result::Result<_, _>>().map_err(|error| unreadable(&path, &error))?,
            );
        }
        Ok(rows)
    }
}

/// The file with the results of program number `number` of the plan.
pub(super) fn results(folder: &Path, number: usize) -> PathBuf {
    folder.join(RESULTS).join(format!("{number}.json"))
}

fn unreadable(path: &Path, error: &serde_json::Error) -> Error {
    Error::usage(format!("`{}`: {error}", path.display()))
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}
