//! `bench host`: eighteen kernels, and twenty of public suites, on the target `host`, beside PoCL and Intel's runtime on the
//! same cores.

mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use offload_tests::drivers::{self, Driver};
use offload_tests::error::{Error, Result};
use offload_tests::fixture;
use offload_tests::setup::{self, Toolkit};
use offload_tests::workspace::Workspace;
use serde_json::Value;

use self::table::{Row, Summary};

/// The program of the fixture `gpu`.
const PROGRAM: &str = "offload-gpu";

/// The fixture's own, with the levels of the instruction set that CPUs of the last ten years have, of which the best is
/// taken at run time: both drivers compile for the CPU that they find.
const TARGETS: &str = "host:x86-64-v3,host:x86-64-v4,opencl-c,nvptx:sm_75,cubin:sm_90";

/// So many launches follow each other on data that stays on the device, and are timed by the clock: drivers do not agree
/// on whether the time of one launch begins before or after their threads have woken.
const BATCH: &str = "20";

/// The program's name for kernels in OpenCL C.
const OPENCL_C: &str = "OpenCL C, clang";

/// How often each side runs all kernels.
const ROUNDS: usize = 3;
/// How often at most, where a limit is missed: other programs only add to times, so that more rounds tell more.
const MOST_ROUNDS: usize = 8;

/// The least time of each kernel in milliseconds.
type Times = BTreeMap<String, f64>;

/// A side of the comparison.
struct Side {
    name: &'static str,
    /// What the program calls the device.
    device: &'static str,
    variables: Vec<(&'static str, PathBuf)>,
    times: Times,
}

pub(super) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let launches = launches(args)?;
    setup::ensure(workspace, &[setup::BUILD, setup::GPUS, setup::DRIVERS])?;
    let program = build(workspace)?;
    workspace.shell.create_dir(workspace.target_dir.join("bench/host"))?;
    let mut sides = vec![Side { name: "host", device: "host", variables: Vec::new(), times: Times::new() }];
    sides.extend(drivers::cpus(workspace)?.map(Side::of_driver));
    let mut found = Vec::new();
    for round in 0..MOST_ROUNDS {
        // In turns, so that a busy moment of the machine hits all.
        for side in &mut sides {
            let samples = workspace.target_dir.join(format!("bench/host/{}-{round}.json", side.name));
            side.measure(workspace, &program, &Measurement { launches, samples })?;
        }
        found = rows(&sides)?;
        if round.saturating_add(1) >= ROUNDS && Summary::from_rows(&found).missed().is_empty() {
            break;
        }
    }
    table::print(&found);
    Summary::from_rows(&found).conclude()
}

/// One run of the program.
struct Measurement {
    launches: u32,
    samples: PathBuf,
}

impl Side {
    fn of_driver(driver: Driver) -> Side {
        Side { name: driver.name, device: "opencl", variables: driver.variables, times: Times::new() }
    }

    /// Runs every kernel, and keeps its least time.
    fn measure(&mut self, workspace: &Workspace, program: &Path, run: &Measurement) -> Result<()> {
        let launches = run.launches.to_string();
        let command = workspace.shell.cmd(program).args(["--device", self.device, "--size", "small"]);
        let command = command
            .args(["--loads", "0", "--launches", &launches, "--batch", BATCH, "--json"])
            .arg(&run.samples);
        let variables = self.variables.iter().map(|(name, value)| (name, value));
        // The program also tries damaged images, and ends with 1 if a driver takes one: its times hold all the same.
        command.envs(variables).ignore_status().ignore_stdout().run()?;
        let text = fs::read_to_string(&run.samples)?;
        for (kernel, time) in times(&text).map_err(|why| Error::new(format!("{}: {why}", self.name)))? {
            let least = self.times.entry(kernel).or_insert(time);
            *least = least.min(time);
        }
        Ok(())
    }
}

/// The times of all kernels in what the program has written, whose results must be right.
fn times(text: &str) -> std::result::Result<Times, String> {
    let found: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let results = list(&found, "results");
    let wrong = results.iter().find(|row| row.get("right").and_then(Value::as_bool) != Some(true));
    if let Some(row) = wrong {
        return Err(format!("the result of kernel `{}` is wrong", kernel(row)));
    }
    let mut times = Times::new();
    for row in list(&found, "times") {
        // Some kernels are there in CUDA C++ too, which drivers of OpenCL do not take.
        let is_opencl_c = row.get("compiled").and_then(Value::as_str) == Some(OPENCL_C);
        if let Some(time) = row.get("min_ms").and_then(Value::as_f64)
            && is_opencl_c
        {
            times.insert(kernel(&row), time);
        }
    }
    if times.is_empty() { Err("no kernel has run".to_string()) } else { Ok(times) }
}

fn list(found: &Value, name: &str) -> Vec<Value> {
    found.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
}

fn kernel(row: &Value) -> String {
    row.get("kernel").and_then(Value::as_str).unwrap_or_default().to_string()
}

/// The kernels of all sides, which must be the same.
fn rows(sides: &[Side]) -> Result<Vec<Row>> {
    let [host, pocl, intel] = sides else { return Err(Error::new("a side is missing")) };
    let mut rows = Vec::new();
    for (kernel, host) in &host.times {
        let pocl = time_on(pocl, kernel)?;
        let intel = time_on(intel, kernel)?;
        rows.push(Row { kernel: kernel.clone(), host: *host, pocl, intel });
    }
    Ok(rows)
}

fn time_on(side: &Side, kernel: &str) -> Result<f64> {
    let time = side.times.get(kernel).copied();
    time.ok_or_else(|| Error::new(format!("kernel `{kernel}` did not run on {}", side.name)))
}

fn launches(args: &[String]) -> Result<u32> {
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => Ok(30),
        ["--quick"] => Ok(5),
        _ => Err(Error::new("`bench host` takes `--quick`")),
    }
}

/// Builds the program of `cargo xtask gpu`, where that builds it, so that there is one of both.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    let cuda = setup::ensure_cuda(workspace, Toolkit::Nvcc)?;
    let dir = workspace.target_dir.join("gpu/gpu");
    let target = workspace.target_dir.join("gpu/target");
    workspace.shell.create_dir(&dir)?;
    fixture::copy(workspace, "gpu", &dir)?;
    let _in = workspace.shell.push_dir(&dir);
    let cargo = workspace.cargo().args(["build", "--quiet", "--release", "--bin", PROGRAM]);
    // Not the targets of this checkout, which cargo hands down and names in a target directory that lies in it.
    let cargo = cargo.env("OFFLOAD_CONFIG", dir.join("offload.toml")).env("OFFLOAD_TARGETS", TARGETS);
    let cargo = cargo.env("CARGO_TARGET_DIR", &target).env("CUDA_PATH", cuda);
    cargo.env_remove("RUSTFLAGS").run()?;
    Ok(target.join("release").join(PROGRAM))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(right: &str) -> String {
        let own = r#"{"kernel": "scan", "compiled": "OpenCL C, clang", "min_ms": 1.5}"#;
        let other = r#"{"kernel": "scan", "compiled": "CUDA C++, clang", "min_ms": 0.5}"#;
        format!(r#"{{"results": [{{"kernel": "scan", "right": {right}}}], "times": [{own}, {other}]}}"#)
    }

    #[test]
    fn times_count_only_if_all_results_are_right() {
        assert_eq!(times(&text("true")).unwrap(), Times::from([("scan".to_string(), 1.5)]));
        assert!(times(&text("false")).unwrap_err().contains("`scan` is wrong"));
        assert_eq!(times("{}").unwrap_err(), "no kernel has run");
    }

    fn side(name: &'static str, times: &[(&str, f64)]) -> Side {
        let times = times.iter().map(|(kernel, time)| (kernel.to_string(), *time)).collect();
        Side { name, device: "opencl", variables: Vec::new(), times }
    }

    #[test]
    fn a_kernel_that_a_side_lacks_is_an_error() {
        let both = [("scan", 2.0), ("triad", 1.0)];
        let sides = [side("host", &both), side("pocl", &both), side("intel", &both[..1])];
        assert!(rows(&sides).unwrap_err().to_string().contains("`triad` did not run on intel"));
        let sides = [side("host", &both), side("pocl", &both), side("intel", &both)];
        assert_eq!(rows(&sides).unwrap().len(), 2);
    }
}
