//! The fixture `seeded`, and running its tests.

use std::path::PathBuf;

use offload_tests::error::{Error, Result};
use offload_tests::fixture;
use offload_tests::workspace::Workspace;
use serde_json::Value;

/// A copy of the fixture, built where tests have built the dependencies.
pub(super) struct Project<'w> {
    workspace: &'w Workspace,
    dir: PathBuf,
    /// The subcommand of this checkout.
    pub(super) tool: PathBuf,
    pub(super) target: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Checks {
    On,
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Profile {
    Dev,
    Release,
}

/// How one test ended.
pub(super) struct Test {
    pub(super) kind: String,
    pub(super) kernel: String,
    pub(super) is_seeded: bool,
    pub(super) outcome: String,
    pub(super) problem: String,
    pub(super) seconds: f64,
}

impl<'w> Project<'w> {
    pub(super) fn prepare(workspace: &'w Workspace) -> Result<Project<'w>> {
        workspace.cargo().args(["build", "--quiet", "--package", "cargo-offload"]).quiet().run()?;
        let dir = workspace.target_dir.join("seeded/project");
        fixture::copy(workspace, "seeded", &dir)?;
        let tool = workspace.target_dir.join("debug/cargo-offload");
        Ok(Project { workspace, dir, tool, target: workspace.target_dir.join("fixtures/0") })
    }

    /// Runs all tests on the host CPU; those of kernels with a bug only with checks.
    pub(super) fn run(&self, checks: Checks, profile: Profile) -> Result<Vec<Test>> {
        let args: &[&str] = match checks {
            Checks::On => &["--sanitize", "--device", "host"],
            Checks::Off => &["--device", "host", "twelve::"],
        };
        self.offload_test(args, profile)
    }

    /// Runs the kernels with a bug and their twins in Oclgrind.
    pub(super) fn run_in_oclgrind(&self) -> Result<Vec<Test>> {
        self.offload_test(&["--sanitize", "--device", "oclgrind", "tests::"], Profile::Dev)
    }

    fn offload_test(&self, args: &[&str], profile: Profile) -> Result<Vec<Test>> {
        let _in = self.workspace.shell.push_dir(&self.dir);
        let profile: &[&str] = if profile == Profile::Release { &["--release"] } else { &[] };
        // One after another: times are compared.
        let command =
            self.workspace.shell.cmd(&self.tool).args(["offload", "test", "--json", "--test-threads", "1"]);
        let command = command.args(args).args(profile).env("CARGO_TARGET_DIR", &self.target);
        // As tests have it: else all dependencies are built again.
        let command = command.env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
        let command =
            command.env("OFFLOAD_CONFIG", self.dir.join("offload.toml")).env_remove("OFFLOAD_TARGETS");
        // Kernels with a bug fail.
        let output = command.ignore_status().quiet().output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let tests: Vec<Test> = text.lines().filter_map(test).collect();
        if tests.is_empty() {
            Err(Error::new(format!(
                "`cargo offload test` in {} ran no test: {}",
                self.dir.display(),
                String::from_utf8_lossy(&output.stderr)
            )))
        } else {
            Ok(tests)
        }
    }
}

/// `tests::KIND::KERNEL::seeded`, `tests::KIND::KERNEL::mended` or `twelve::KERNEL`.
fn test(line: &str) -> Option<Test> {
    let row: Value = serde_json::from_str(line).ok().filter(|row: &Value| row["reason"] == "test")?;
    let name = text(&row, "test");
    let parts: Vec<&str> = name.split("::").collect();
    let (kind, kernel, is_seeded) = match parts.as_slice() {
        ["tests", kind, kernel, twin] => (*kind, *kernel, *twin == "seeded"),
        [kind @ "twelve", kernel] => (*kind, *kernel, false),
        _ => return None,
    };
    Some(Test {
        kind: kind.to_string(),
        kernel: kernel.to_string(),
        is_seeded,
        outcome: text(&row, "outcome"),
        problem: text(&row, "problem"),
        seconds: row.get("seconds").and_then(Value::as_f64).unwrap_or_default(),
    })
}

fn text(row: &Value, key: &str) -> String {
    row.get(key).and_then(Value::as_str).unwrap_or_default().to_string()
}
