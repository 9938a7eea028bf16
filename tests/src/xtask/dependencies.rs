//! `dependencies`: licences, sources, versions and known faults of what the crates depend on, by cargo-deny.

use std::path::Path;
use std::process::{Command, ExitCode};

use offload_tests::FIGURE;
use offload_tests::error::Result;
use offload_tests::workspace::{self, Workspace};

use crate::cargo_tool::CargoTool;

pub(crate) const HELP: &str = "dependencies    check all dependencies against deny.toml with cargo-deny

cargo-deny is installed under the target directory. Advisories come from the network; offline, the
last fetched database is used if it is at most 90 days old.";

/// It looks at licences and manifests: as it is published, it would be compiled for a quarter of an hour.
const CARGO_DENY: CargoTool =
    CargoTool { package: "cargo-deny", version: "0.18.9", arguments: &[], is_unoptimized: true };

/// With two of them this version waits for ever, once it looks for build scripts.
const THREADS: (&str, &str) = ("RAYON_NUM_THREADS", "8");

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let program = CARGO_DENY.install(workspace)?;
    let fetched = deny(&program, workspace, &["fetch", "db"]).status()?.success();
    let faults = if fetched { "faults known today" } else { "faults known when they were fetched last" };
    let mut check = deny(&program, workspace, &["check", "--disable-fetch", "--hide-inclusion-graph"]);
    let status = check.args(args).status()?;
    let outcome = if status.success() { "all within the policy" } else { "not all within the policy" };
    println!("{FIGURE}{} packages, with the {faults}; {outcome}", locked(workspace)?);
    Ok(workspace::exit_code(status))
}

fn deny(program: &Path, workspace: &Workspace, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.current_dir(&workspace.root).args(["--workspace", "--all-features"]).args(words);
    command.env(THREADS.0, THREADS.1);
    command
}

/// How many packages Cargo.lock names that are not of this workspace.
fn locked(workspace: &Workspace) -> Result<usize> {
    let lock = workspace.shell.read_file(workspace.root.join("Cargo.lock"))?;
    Ok(lock.lines().filter(|line| line.starts_with("source = ")).count())
}
