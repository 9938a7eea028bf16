//! `interop`: many generated containers, read by other tools and here.

use std::process::{Command, ExitCode};

use crate::error::Result;
use crate::setup;
use crate::workspace::{self, Workspace};

pub(crate) const HELP: &str = "interop [SETS]  generate 300 sets of device images and compare what LLVM's tools and this project read

Each set has 0 to 20 images of up to 1 MiB. What is written here is listed and extracted by LLVM, and the other way
round; every byte must be equal.";

const SETS: &str = "300";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    setup::ensure(workspace, &[setup::BUILD])?;
    let sets = args.first().map_or(SETS, String::as_str);
    let cargo =
        workspace.cargo().args(["test", "--release", "--package", "offload-tests", "--test", "containers"]);
    let cargo = cargo.args(["--", "--nocapture"]).env("OFFLOAD_INTEROP_SETS", sets);
    let mut command = Command::from(cargo);
    // A machine without LLVM's tools has compared nothing.
    let status = command.env("CI", "true").status()?;
    Ok(workspace::exit_code(status))
}
