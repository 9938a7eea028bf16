//! Tests of crates as programs for Windows, in wine.

use std::collections::BTreeMap;
use std::fs::File;
use std::process::{Command, ExitCode, Stdio};

use offload_tests::error::{Error, Result};
use offload_tests::table::Table;
use offload_tests::workspace::Workspace;

use super::emulator::wine_variables;
use super::folder::Folder;

const TARGET: &str = "x86_64-pc-windows-gnu";

/// Crates of which programs for Windows consist, and readers and writers of what they carry, with features beside the default
/// ones.
const PACKAGES: [[&str; 2]; 5] = [
    ["offload-rt", "opencl,test,dlpack,futures"],
    ["offload-format", ""],
    ["offload-images", ""],
    ["offload-containers", ""],
    ["offload-packer", ""],
];

/// Tests whose names begin so and that fail in wine, and why.
struct Known {
    tests: &'static str,
    reason: &'static str,
}

/// The program for Windows shows the same with images that offload-build makes.
const KNOWN: [Known; 2] = [
    Known { tests: "host::tests::", reason: COMPILER },
    Known { tests: "host::library::tests::", reason: COMPILER },
];
const COMPILER: &str = "compiles images with the system's C compiler, and wine has none";

/// What a run of tests printed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    passed: usize,
    failed: Vec<String>,
}

impl Outcome {
    /// Reads lines as `test a::b ... ok`.
    fn parse(output: &str) -> Outcome {
        let mut outcome = Outcome::default();
        for line in output.lines() {
            let Some((name, verdict)) =
                line.trim_end().strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... "))
            else {
                continue;
            };
            match verdict {
                "ok" => outcome.passed = outcome.passed.saturating_add(1),
                "FAILED" => outcome.failed.push(name.to_string()),
                _ => {}
            }
        }
        outcome
    }
}

/// Prints a table of the tests of each crate, with the reason of each failure.
///
/// # Errors
/// Tests do not build, or one fails of which no reason is known.
pub(super) fn run(workspace: &Workspace, folder: &Folder<'_>) -> Result<ExitCode> {
    let mut table = Table::new(["tests in wine", "passed", "of", "failed"]);
    let mut problems = Vec::new();
    for [package, features] in PACKAGES {
        let Outcome { passed, failed } = outcome(workspace, folder, package, features)?;
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for test in &failed {
            match KNOWN.iter().find(|known| test.starts_with(known.tests)) {
                Some(known) => *reasons.entry(known.reason).or_default() += 1,
                None => problems.push(format!("{package}: {test} failed")),
            }
        }
        let of = passed.saturating_add(failed.len());
        let reasons: Vec<String> =
            reasons.iter().map(|(reason, count)| format!("{count}: {reason}")).collect();
        table.row([package.to_string(), passed.to_string(), of.to_string(), reasons.join("; ")]);
    }
    print!("{table}");
    if problems.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::new(problems.join("\n"))) }
}

fn outcome(workspace: &Workspace, folder: &Folder<'_>, package: &str, features: &str) -> Result<Outcome> {
    // Wine's services keep what its first program has open: the end of a pipe would not come.
    let path = folder.path("tests.txt");
    let file = File::create(&path)?;
    let mut cargo = Command::new(workspace.cargo_path());
    cargo
        .current_dir(&workspace.root)
        .args(["test", "--quiet", "--no-fail-fast", "--lib", "--tests", "--target", TARGET])
        .args(["--package", package, "--features", features, "--", "--format=pretty"])
        .env("CARGO_TARGET_DIR", folder.path("tests"))
        .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", "wine")
        // Backtraces are not read here.
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("RUST_BACKTRACE", "0")
        .envs(wine_variables(folder)?)
        .stdin(Stdio::null())
        .stdout(Stdio::from(file));
    let status = cargo.status()?;
    let outcome = Outcome::parse(&workspace.shell.read_file(&path)?);
    if !status.success() && outcome.failed.is_empty() {
        return Err(Error::new(format!("the tests of {package} do not build for Windows, or end early")));
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_tests_are_counted() {
        let output = "running 3 tests\r\ntest a::b ... ok\r\ntest c ... FAILED\r\ntest d ... ignored\r\n\r\ntest result: FAILED. 1 passed\r\n";
        assert_eq!(Outcome::parse(output), Outcome { passed: 1, failed: vec!["c".to_string()] });
    }
}
