//! `demo`: installs what the example needs, builds it and runs it.

use std::process::ExitCode;

use offload_tests::error::Result;
use offload_tests::setup;
use offload_tests::workspace::{self, Workspace};

pub(crate) const HELP: &str = "demo            install missing tools, then build and run example-app

Arguments after `--` go to example-app. The exit code is that of example-app.";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    setup::ensure(workspace, &[setup::BUILD])?;
    let cargo = workspace.cargo().args(["run", "--release", "--package", "example-app"]);
    Ok(workspace::exit_code(workspace::run_through(cargo.args(args))?))
}
