//! `minimal-versions`: the published crates build with the oldest dependencies that their manifests allow.

use std::process::{Command, ExitCode};

use offload_tests::FIGURE;
use offload_tests::error::{Error, Result};
use offload_tests::workspace::{self, Workspace};

use crate::features;

pub(crate) const HELP: &str =
    "minimal-versions  check the published crates with minimal dependency versions

What git has of the workspace is copied, as versions are chosen in its Cargo.lock. Needs a nightly cargo, which chooses
them; the compiler is that of the workspace.";

pub(crate) fn run(workspace: &Workspace, _args: &[String]) -> Result<ExitCode> {
    let place = workspace.target_dir.join("minimal-versions");
    let copy = place.join("workspace");
    let shell = &workspace.shell;
    shell.remove_path(&copy)?;
    shell.create_dir(&copy)?;
    let copied = shell.cmd("git").args(["checkout-index", "--all"]);
    copied.arg(format!("--prefix={}/", copy.display())).run()?;

    let mut update = Command::new("rustup");
    update.args(["run", "nightly", "cargo", "update", "--quiet", "-Z", "direct-minimal-versions"]);
    // What cargo says to what it runs would lead the other cargo to this one's compiler.
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        update.env_remove(name);
    }
    if !update.current_dir(&copy).status()?.success() {
        let error = Error::new("the oldest dependencies that the manifests allow do not fit together");
        return Err(error.hint("raise the version that cargo names, in the manifest of the workspace"));
    }

    let packages = features::published(&features::metadata(workspace)?)?;
    let mut check = Command::new(workspace.cargo_path());
    check.current_dir(&copy).args(["check", "--quiet", "--all-features"]);
    for name in packages.keys() {
        check.args(["--package", name]);
    }
    let status = check.env("CARGO_TARGET_DIR", place.join("build")).status()?;
    let outcome = if status.success() { "all build" } else { "not all build" };
    println!("{FIGURE}{} crates with their oldest direct dependencies; {outcome}", packages.len());
    Ok(workspace::exit_code(status))
}
