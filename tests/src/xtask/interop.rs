//! `interop`: many generated containers, and real ones, read by other tools and here.

mod commands;
mod files;

use std::process::{Command, ExitCode};

use xshell::Cmd;

use offload_tests::FIGURE;
use offload_tests::error::Result;
use offload_tests::setup;
use offload_tests::workspace::{self, Workspace};

pub(crate) const HELP: &str = "interop [SETS]  compare this project's readers and writers with other tools on 300 sets of images

Each set has 0 to 20 images of up to 1 MiB. What is written here is listed and extracted by LLVM and clang's bundler, of
releases 22 and 19, and NVIDIA's cuobjdump, and the other way round; every byte must be equal. Then every image of a
library that carries some for NVIDIA, AMD and Intel, and of Intel's own SYCL libraries, is extracted and compared, and
cargo-offload lists, reports, extracts and verifies them.";

const SETS: &str = "300";
/// What the tests read.
const SETS_VAR: &str = "OFFLOAD_INTEROP_SETS";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    setup::ensure(workspace, &[setup::BUILD, setup::BUNDLER, setup::OLDER_LLVM])?;
    let sets = args.first().map_or(SETS, String::as_str);
    let checks = [current_llvm, older_llvm, files::fatbins, files::wheel, files::sycl_wheel, commands::check];
    let mut failed = 0;
    for check in checks {
        // The next one says something of its own even where this one failed.
        failed += usize::from(check(workspace, sets)? != ExitCode::SUCCESS);
    }
    let count = checks.len();
    println!(
        "{FIGURE}{sets} sets with LLVM 22 and 19, files of three vendors; {failed} of {count} comparisons failed"
    );
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn current_llvm(workspace: &Workspace, sets: &str) -> Result<ExitCode> {
    llvm(workspace, sets, "22")
}

fn older_llvm(workspace: &Workspace, sets: &str) -> Result<ExitCode> {
    llvm(workspace, sets, "19")
}

/// The tests that run for every change, with more sets, and with the tools of one release.
fn llvm(workspace: &Workspace, sets: &str, release: &str) -> Result<ExitCode> {
    let args = ["test", "--release", "--package", "offload-tests", "--test", "it"];
    let cargo = cargo(workspace, sets).args(args).env(offload_tests::LLVM_VAR, release);
    let cargo = cargo.args(["--no-fail-fast", "--", "containers::", "bundles::", "--nocapture"]);
    Ok(workspace::exit_code(Command::from(cargo).status()?))
}

/// A cargo command in which nothing may be skipped: a machine without the tools has compared nothing.
fn cargo<'a>(workspace: &'a Workspace, sets: &str) -> Cmd<'a> {
    workspace.cargo().env(SETS_VAR, sets).env("CI", "true")
}
