//! `test`: the tests of a package on each device, with a table of the results.
//!
//! Cargo builds the test binaries and starts this program in place of each (`runner`). The runner lists the tests of
//! a binary and starts each in its own process, for the first device. A test that takes a device from
//! `offload_rt::test` then runs on the others too. Its process appends events to a results file, and its exit status
//! shows how it ended, so that a crash or a hang is one row of the table.

pub(super) mod cleanup;
mod device;
mod event;
mod junit;
mod nextest;
mod outcome;
mod plan;
mod process;
mod runner;
mod sanitize;
mod show;
mod verdict;

use std::path::Path;

use cargo_metadata::Metadata;
use offload_protocol::variable;

use self::device::{DeviceUnderTest, Observer};
use self::outcome::Row;
use self::plan::{Folder, Plan, Starter};
use self::sanitize::MissingSanitizer;
use self::verdict::TestVerdict;
use crate::cargo::graph::{self, BuildPlace, Depth};
use crate::cargo::process::Cargo;
use crate::cargo::{artifact, progress};
use crate::cli;
use crate::error::ExitStatus;
use crate::error::Result;
use crate::files::publish::publish;
use crate::machine::test_devices::select_devices;
use crate::print::output::Output;

pub(super) fn run(output: &Output, args: &cli::Test) -> Result<ExitStatus> {
    let metadata = graph::metadata(&args.cargo.package.project, Depth::Members)?;
    let (places, lacking) = places(args, metadata.workspace_root.as_std_path())?;
    // A separate build shows the progress bar of kernels, so that the run prints only tests.
    progress::run(output, cargo(args, &metadata).args(["--no-run"]))?;
    let folder = Folder::new()?;
    let programs = artifact::tests(cargo(args, &metadata).args(["--no-run", "--quiet"]))?;
    let plan = Plan::new(&places, &args.running, &programs);
    let has_nextest = !args.running.no_nextest && nextest::is_installed();
    let starter = if has_nextest { Starter::Nextest } else { plan.starter };
    folder.write_plan(&Plan { starter, ..plan })?;
    let triple = args.cargo.target.clone().map_or_else(Cargo::host, Ok)?;
    let runner = folder.runner()?;
    let rows: Vec<Row> = match starter {
        Starter::Runner => {
            let cargo = cargo(args, &metadata).args(["--quiet", "--color", output.color_argument()]);
            folder.hand_to(cargo.run_by(&triple, &runner)).args(test_args(args)).run()?;
            folder.rows(&programs)?.concat()
        }
        Starter::Nextest => {
            let cargo = configure(nextest::command(output, args), args, &metadata);
            let cargo = folder.hand_to(cargo.run_by(&triple, &runner)).args(test_args(args));
            nextest::run(output, cargo)?;
            folder.rows(&programs)?.into_iter().flat_map(nextest::last_attempts).collect()
        }
    };
    if let Some(file) = &args.running.junit {
        publish(file, junit::document(&rows).as_bytes())?;
    }
    show::places(output, &places, &lacking)?;
    show::rows(output, &rows)?;
    TestVerdict::new(&rows, &args.devices, &places).print(output)
}

/// Runs in place of a test binary.
pub(super) fn run_program(output: &Output, args: &cli::TestProgram) -> Result<ExitStatus> {
    let (plan, folder) = Plan::from_environment()?;
    match plan.starter {
        Starter::Runner => runner::run(output, &plan, &folder, args),
        Starter::Nextest => nextest::answer(output, &plan, &folder, args),
    }
}

/// The devices under test, and the sanitizers that are not installed.
fn places(args: &cli::Test, workspace: &Path) -> Result<(Vec<DeviceUnderTest>, Vec<MissingSanitizer>)> {
    if args.running.sanitize {
        return sanitize::places(&args.devices, workspace);
    }
    let devices = select_devices(&args.devices)?.into_iter();
    Ok((devices.map(|device| DeviceUnderTest::new(device, Observer::None)).collect(), Vec::new()))
}

/// `cargo test` with what says which tests are meant.
fn cargo(args: &cli::Test, metadata: &Metadata) -> Cargo {
    configure(Cargo::new("test").args(args.cargo.args()), args, metadata)
}

/// Adds the selection of tests, and the variables for build scripts.
fn configure(cargo: Cargo, args: &cli::Test, metadata: &Metadata) -> Cargo {
    let cargo = cargo.args(args.selection());
    let cargo = if args.running.sanitize { cargo.env(variable::SANITIZE, "1") } else { cargo };
    let package = &args.cargo.package;
    let place = BuildPlace { metadata, target_dir: package.target_dir.as_deref() };
    graph::in_workspace(cargo, &package.project, place)
}

/// The arguments for test binaries, which select the tests to run.
fn test_args(args: &cli::Test) -> Vec<&str> {
    let rest = args.rest.iter().map(String::as_str);
    ["--"].into_iter().chain(args.filter.as_deref()).chain(rest).collect()
}
