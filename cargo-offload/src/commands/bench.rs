//! `bench`: the package's benchmarks for each device of this machine, and one table of how long kernels take there.
//!
//! Each device gets a run of `cargo bench` of its own, by the variable that `offload_rt::bench` and `offload_rt::test` look
//! at. What benchmarks of `offload_rt::bench` find out comes back in a file; other harnesses print by themselves.

mod time;

use std::path::Path;

use cargo_metadata::{Metadata, TargetKind};
use offload_protocol::variable;
use offload_rt::test::TestDevice;
use tempfile::NamedTempFile;

use self::time::Said;
use super::test::leftovers;
use crate::cargo::graph::{self, BuildPlace, Depth};
use crate::cargo::process::Cargo;
use crate::cargo::progress;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::machine::test_devices::chosen;
use crate::print::output::Output;

pub(super) fn run(output: &Output, args: &cli::Bench) -> Result<ExitStatus> {
    let devices = chosen(&args.devices)?;
    let metadata = graph::metadata(&args.cargo.package.project, Depth::Members)?;
    let names = names(args, &metadata)?;
    let cargo = || {
        let benches = names.iter().flat_map(|name| ["--bench", name]);
        let cargo = Cargo::new("bench").args(args.cargo_args()).args(benches);
        let package = &args.cargo.package;
        let place = BuildPlace { metadata: &metadata, target_dir: package.target_dir.as_deref() };
        graph::in_workspace(cargo, &package.project, place)
    };
    // With a bar for kernels, so that what comes after it is about benchmarks alone.
    progress::run(output, cargo().args(["--no-run"]))?;
    let mut all = Vec::new();
    for device in devices {
        let cargo = cargo().args(["--quiet", "--color", output.color_argument(), "--"]);
        all.extend(on_device(output, cargo.args(args.for_programs()), device)?);
    }
    time::show(output, &all)
}

/// The benchmarks that are asked for, or all: cargo would hand the same options to the programs with tests, which refuse
/// them.
fn names(args: &cli::Bench, metadata: &Metadata) -> Result<Vec<String>> {
    if !args.bench.is_empty() {
        return Ok(args.bench.clone());
    }
    let named = args.cargo.package.project.package.as_deref();
    let own = metadata.root_package().map(|package| package.name.as_str());
    let wanted = named.or(own);
    let packages = metadata.packages.iter().filter(|package| {
        let is_member = metadata.workspace_members.contains(&package.id);
        is_member && wanted.is_none_or(|wanted| package.name.as_str() == wanted)
    });
    let targets = packages.flat_map(|package| &package.targets);
    let benches = targets.filter(|target| target.kind.contains(&TargetKind::Bench));
    let names: Vec<String> = benches.map(|target| target.name.clone()).collect();
    match names.is_empty() {
        false => Ok(names),
        true => Err(Error::usage("the package has no benchmarks")
            .hint("put one into benches/, with `offload_rt::bench::for_each_device` of the feature `test` of offload-rt")),
    }
}

/// Runs the benchmarks on `device`.
///
/// # Errors
/// Cargo cannot be started. That a benchmark fails is told at the end.
fn on_device(output: &Output, cargo: Cargo, device: &TestDevice) -> Result<Vec<Said>> {
    output.status(&device.to_string());
    let failed = |error| Error::io("write to", Path::new("the temporary directory"), &error);
    let file = NamedTempFile::new().map_err(failed)?;
    let cargo = cargo.env(variable::TEST_DEVICE, device.label()).env(variable::TEST_RESULTS, file.path());
    let code = cargo.prints_as(output).status();
    leftovers::end(variable::TEST_RESULTS, file.path());
    let code = code?;
    let text =
        std::fs::read_to_string(file.path()).map_err(|error| Error::io("read", file.path(), &error))?;
    let mut said = time::read(&text);
    if code != 0 && !said.iter().any(Said::is_bad) {
        said.push(Said::failure(device.label(), &format!("`cargo bench` ended with {code}")));
    }
    Ok(said)
}
