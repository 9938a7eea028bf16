//! `bench`: the benchmarks of a package on each device, with a table of kernel times.
//!
//! Each device gets its own run of `cargo bench`, by the variable that `offload_rt::bench` and `offload_rt::test`
//! read. Benchmarks of `offload_rt::bench` record their times in a results file; other harnesses only print.

mod time;

use cargo_metadata::{Metadata, TargetKind};
use offload_protocol::variable;
use offload_rt::test::TestDevice;
use tempfile::NamedTempFile;

use self::time::BenchResult;
use super::test::cleanup;
use crate::cargo::graph::{self, BuildPlace, Depth};
use crate::cargo::process::Cargo;
use crate::cargo::progress;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::{Error, IoContext, Result};
use crate::machine::test_devices::select_devices;
use crate::print::output::Output;

pub(super) fn run(output: &Output, args: &cli::Bench) -> Result<ExitStatus> {
    let devices = select_devices(&args.devices)?;
    let metadata = graph::metadata(&args.cargo.package.project, Depth::Members)?;
    let names = names(args, &metadata)?;
    // A separate build shows the progress bar of kernels, so that the runs print only benchmarks.
    progress::run(output, cargo(args, &metadata, &names).args(["--no-run"]))?;
    let mut all = Vec::new();
    for device in devices {
        let cargo =
            cargo(args, &metadata, &names).args(["--quiet", "--color", output.color_argument(), "--"]);
        all.extend(on_device(output, cargo.args(args.program_args()), device)?);
    }
    time::show(output, &all)
}

fn cargo(args: &cli::Bench, metadata: &Metadata, names: &[String]) -> Cargo {
    let benches = names.iter().flat_map(|name| ["--bench", name]);
    let cargo = Cargo::new("bench").args(args.cargo_args()).args(benches);
    let package = &args.cargo.package;
    let place = BuildPlace { metadata, target_dir: package.target_dir.as_deref() };
    graph::in_workspace(cargo, &package.project, place)
}

/// The selected benchmarks, or all of the package: without names cargo would pass the same options to the test binaries,
/// which reject them.
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
    if names.is_empty() {
        return Err(Error::usage("the package has no benchmarks")
            .hint("add one to benches/ that calls `offload_rt::bench::for_each_device`, from the feature `test` of offload-rt"));
    }
    Ok(names)
}

/// Runs the benchmarks on `device`.
///
/// # Errors
/// Cargo cannot be started. A failed benchmark is part of the result.
fn on_device(output: &Output, cargo: Cargo, device: &TestDevice) -> Result<Vec<BenchResult>> {
    output.status(&device.to_string());
    let file = NamedTempFile::new().io_context("write to", "the temporary directory")?;
    let cargo = cargo.env(variable::TEST_DEVICE, device.label()).env(variable::TEST_RESULTS, file.path());
    let code = cargo.prints_as(output).status();
    cleanup::end(variable::TEST_RESULTS, file.path());
    let code = code?;
    let text = std::fs::read_to_string(file.path()).io_context("read", file.path())?;
    let mut results = time::read(&text);
    if code != 0 && !results.iter().any(BenchResult::is_bad) {
        results.push(BenchResult::failure(device.label(), &format!("`cargo bench` exited with code {code}")));
    }
    Ok(results)
}
