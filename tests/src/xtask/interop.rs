//! `interop`: many generated containers, and real ones, read by other tools and here.

mod files;

use std::process::{Command, ExitCode};

use crate::error::Result;
use crate::setup;
use crate::workspace::{self, Workspace};

pub(crate) const HELP: &str = "interop [SETS]  generate 300 sets of device images and compare what other tools and this project read

Each set has 0 to 20 images of up to 1 MiB. What is written here is listed and extracted by LLVM, clang's bundler and
NVIDIA's cuobjdump, and the other way round; every byte must be equal. Then every image of a library that carries some
for NVIDIA, AMD and Intel is extracted and compared.";

const SETS: &str = "300";
/// What the tests read.
const SETS_VAR: &str = "OFFLOAD_INTEROP_SETS";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    setup::ensure(workspace, &[setup::BUILD, setup::BUNDLER])?;
    let sets = args.first().map_or(SETS, String::as_str);
    let mut all = ExitCode::SUCCESS;
    for check in [containers, bundles, files::fatbins, files::wheel] {
        // The next one says something of its own even where this one failed.
        if check(workspace, sets)? != ExitCode::SUCCESS {
            all = ExitCode::FAILURE;
        }
    }
    Ok(all)
}

fn containers(workspace: &Workspace, sets: &str) -> Result<ExitCode> {
    tests(workspace, "containers", sets)
}

fn bundles(workspace: &Workspace, sets: &str) -> Result<ExitCode> {
    tests(workspace, "bundles", sets)
}

/// The tests that run for every change, with more sets.
fn tests(workspace: &Workspace, name: &str, sets: &str) -> Result<ExitCode> {
    cargo(
        workspace,
        &["test", "--release", "--package", "offload-tests", "--test", name, "--", "--nocapture"],
        sets,
    )
}

/// A cargo command in which nothing may be skipped.
fn cargo(workspace: &Workspace, args: &[&str], sets: &str) -> Result<ExitCode> {
    let cargo = workspace.cargo().args(args).env(SETS_VAR, sets);
    // A machine without the tools has compared nothing.
    let status = Command::from(cargo).env("CI", "true").status()?;
    Ok(workspace::exit_code(status))
}
