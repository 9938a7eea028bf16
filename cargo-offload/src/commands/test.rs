//! `test`: the package's tests on each device of this machine, and one table of how they end.
//!
//! Cargo builds the programs with the tests and starts, in place of each, this program again (`runner`). That one lists the
//! program's tests and starts each in a process of its own, for the first device; a test that has taken it from
//! `offload_rt::test` runs on the others too. What a test says about itself comes back in a file that its process appends
//! to, how it ended in its exit status. So a crash, or a test that hangs, is one line of the table.

mod event;
mod junit;
pub(super) mod leftovers;
mod nextest;
mod outcome;
mod place;
mod plan;
mod process;
mod runner;
mod sanitize;
mod show;
mod verdict;

use std::path::Path;

use cargo_metadata::Metadata;
use offload_protocol::variable;

use self::outcome::Row;
use self::place::{Place, Watcher};
use self::plan::{Folder, Plan, Starter};
use self::sanitize::Lacking;
use self::verdict::Verdict;
use crate::cargo::graph::{self, BuildPlace, Depth};
use crate::cargo::process::Cargo;
use crate::cargo::{artifact, progress};
use crate::cli;
use crate::error::ExitStatus;
use crate::error::Result;
use crate::files::publish::publish;
use crate::machine::test_devices::chosen;
use crate::print::output::Output;

pub(super) fn run(output: &Output, args: &cli::Test) -> Result<ExitStatus> {
    let metadata = graph::metadata(&args.cargo.package.project, Depth::Members)?;
    let (places, lacking) = places(args, metadata.workspace_root.as_std_path())?;
    let cargo = || cargo(args, &metadata);
    // With a bar for kernels, so that what comes after it is about tests alone.
    progress::run(output, cargo().args(["--no-run"]))?;
    let folder = Folder::new()?;
    let programs = artifact::tests(cargo().args(["--no-run", "--quiet"]))?;
    let plan = Plan::new(&places, &args.running, &programs);
    let has_nextest = !args.running.no_nextest && nextest::is_installed();
    let starter = if has_nextest { Starter::Nextest } else { plan.starter };
    folder.write_plan(&Plan { starter, ..plan })?;
    let triple = args.cargo.target.clone().map_or_else(Cargo::host, Ok)?;
    let run_here = |cargo: Cargo| -> Result<Cargo> {
        Ok(folder.hand_to(cargo.run_by(&triple, &folder.runner()?)).args(test_args(args)))
    };
    let rows: Vec<Row> = match starter {
        Starter::Runner => {
            run_here(cargo().args(["--quiet", "--color", output.color_argument()]))?.run()?;
            folder.rows(&programs)?.concat()
        }
        Starter::Nextest => {
            nextest::run(output, run_here(handed(nextest::command(output, args), args, &metadata))?)?;
            folder.rows(&programs)?.into_iter().flat_map(nextest::last_attempts).collect()
        }
    };
    if let Some(file) = &args.running.junit {
        publish(file, junit::document(&rows).as_bytes())?;
    }
    show::places(output, &places, &lacking)?;
    show::rows(output, &rows)?;
    Verdict::of(&rows, &args.devices, &places).tell(output)
}

/// What is started in place of a program with tests.
pub(super) fn run_program(output: &Output, args: &cli::TestProgram) -> Result<ExitStatus> {
    let (plan, folder) = Plan::handed()?;
    match plan.starter {
        Starter::Runner => runner::run(output, &plan, &folder, args),
        Starter::Nextest => nextest::answer(output, &plan, &folder, args),
    }
}

/// Where tests run, and what might watch them there and is not installed.
fn places(args: &cli::Test, workspace: &Path) -> Result<(Vec<Place>, Vec<Lacking>)> {
    if args.running.sanitize {
        return sanitize::places(&args.devices, workspace);
    }
    let devices = chosen(&args.devices)?.into_iter();
    Ok((devices.map(|device| Place::of(device, Watcher::None)).collect(), Vec::new()))
}

/// `cargo test` with what says which tests are meant.
fn cargo(args: &cli::Test, metadata: &Metadata) -> Cargo {
    handed(Cargo::new("test").args(args.cargo.args()), args, metadata)
}

/// The same with which tests are meant, and what build scripts are told.
fn handed(cargo: Cargo, args: &cli::Test, metadata: &Metadata) -> Cargo {
    let cargo = cargo.args(args.selection());
    let cargo = if args.running.sanitize { cargo.env(variable::SANITIZE, "1") } else { cargo };
    let package = &args.cargo.package;
    let place = BuildPlace { metadata, target_dir: package.target_dir.as_deref() };
    graph::in_workspace(cargo, &package.project, place)
}

/// What the programs with tests are told: which of their tests to run.
fn test_args(args: &cli::Test) -> Vec<&str> {
    let rest = args.rest.iter().map(String::as_str);
    ["--"].into_iter().chain(args.filter.as_deref()).chain(rest).collect()
}
