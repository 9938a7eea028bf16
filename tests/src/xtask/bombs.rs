//! `bombs`: small files that claim to be large, given to every command.

use std::process::{Command, ExitCode};

use offload_tests::error::Result;
use offload_tests::workspace::{self, Workspace};

pub(crate) const HELP: &str = "bombs [--quick] measure time and memory of each command on decompression bombs

Packs of this project and containers of others: one frame for thousands of images, pages, blocks or patches, names of
megabytes that many records share, bundles within bundles; and sound files that decode to as much as they may. Each command
may take 50 ms and 32 MiB, and 400 ms and 64 MiB more for each MiB of the file, by the clock and of the processors; the task
fails where one takes more.";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    workspace.cargo().args(["build", "--release", "--package", "cargo-offload"]).run()?;
    let program = workspace.target_dir.join("release/cargo-offload");
    let cargo =
        workspace.cargo().args(["run", "--release", "--package", "offload-tests", "--example", "bombs"]);
    let cargo = cargo.arg("--").arg(program).args(args);
    Ok(workspace::exit_code(Command::from(cargo).status()?))
}
