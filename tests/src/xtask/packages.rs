//! `bench`, `builtins`, `fuzz-host`, `remote` and `tidy`: packages of their own, so that no other task waits until they are compiled.

use std::process::ExitCode;

use offload_tests::error::Result;
use offload_tests::workspace::{self, Workspace};

pub(crate) const BENCH: &str = include_str!("../../bench/src/help.txt");
pub(crate) const BUILTINS: &str = include_str!("../../builtins/src/help.txt");
pub(crate) const FUZZ_HOST: &str = include_str!("../../fuzz-host/src/help.txt");
pub(crate) const REMOTE: &str = include_str!("../../remote/src/help.txt");
pub(crate) const TIDY: &str = include_str!("../../tidy/src/help.txt");

pub(crate) fn bench(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    run(workspace, "offload-bench", args)
}

pub(crate) fn builtins(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    run(workspace, "offload-builtins", args)
}

pub(crate) fn fuzz_host(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    run(workspace, "offload-fuzz-host", args)
}

pub(crate) fn remote(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    run(workspace, "offload-remote-tests", args)
}

pub(crate) fn tidy(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    run(workspace, "offload-tidy", args)
}

fn run(workspace: &Workspace, package: &str, args: &[String]) -> Result<ExitCode> {
    let cargo = workspace.cargo().args(["run", "--quiet", "--package", package, "--"]).args(args);
    let status = std::process::Command::from(cargo).status()?;
    Ok(workspace::exit_code(status))
}
