//! Options of `test` and `bench`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::cargo::Cargo;

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Run only tests whose name contains this string.
    #[arg(value_name = "NAME")]
    pub(crate) filter: Option<String>,
    #[command(flatten)]
    pub(crate) devices: TestDevices,
    #[command(flatten)]
    pub(crate) running: TestRunning,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
    /// Arguments for the test binaries, such as `--ignored` and `--skip NAME`.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) rest: Vec<String>,
}

#[cfg(feature = "devices")]
impl Test {
    /// The options that select test binaries for cargo.
    pub(crate) fn selection(&self) -> Vec<String> {
        let mut args = Vec::new();
        for name in &self.running.test {
            args.extend(["--test".to_string(), name.clone()]);
        }
        for name in &self.running.exclude {
            args.extend(["--exclude".to_string(), name.clone()]);
        }
        if self.running.workspace {
            args.push("--workspace".to_string());
        }
        // Documentation tests do not run on devices.
        if !self.cargo.package.names_target() && self.running.test.is_empty() {
            args.push("--tests".to_string());
        }
        args
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Device selection")]
pub(crate) struct TestDevices {
    /// Use only this device [default: all devices].
    ///
    /// A device is a driver (`host`, `opencl`, `cuda`, `hip`), a device of a driver (`opencl:1`), or a part of a device's
    /// name (`H200`).
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Vec<String>,
    /// Fail if this device is missing, or if no kernel test runs on it.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) require: Vec<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Runner options")]
pub(crate) struct TestRunning {
    /// Detect out-of-bounds accesses, data races and divergent barriers.
    ///
    /// Runs the tests with instrumented kernels on `host`, in Oclgrind, and under NVIDIA's compute-sanitizer.
    #[arg(long)]
    pub(crate) sanitize: bool,
    /// Run the tests without `cargo nextest`, which is used if it is installed.
    #[arg(long)]
    pub(crate) no_nextest: bool,
    /// Terminate a test after this many seconds; 0 disables the timeout.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub(crate) timeout: u64,
    /// Number of tests to run in parallel [default: the number of CPUs].
    #[arg(long, value_name = "N")]
    pub(crate) test_threads: Option<usize>,
    /// Write the results to a file as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Test all packages in the workspace.
    #[arg(long, conflicts_with = "package")]
    pub(crate) workspace: bool,
    /// Exclude a package of the workspace.
    #[arg(long, value_name = "NAME", requires = "workspace")]
    pub(crate) exclude: Vec<String>,
    /// Run only this integration test of `tests/`.
    #[arg(long, value_name = "NAME")]
    pub(crate) test: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Run only benchmarks whose name contains this string.
    #[arg(value_name = "NAME")]
    pub(crate) filter: Option<String>,
    #[command(flatten)]
    pub(crate) devices: TestDevices,
    /// Run only this file of `benches/` [default: all].
    #[arg(long, value_name = "NAME")]
    pub(crate) bench: Vec<String>,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
    /// Arguments for the benchmark binaries.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) rest: Vec<String>,
}

#[cfg(feature = "devices")]
impl Bench {
    /// The arguments for cargo, which builds benchmarks with the release profile by default.
    pub(crate) fn cargo_args(&self) -> Vec<OsString> {
        self.cargo.args().into_iter().filter(|arg| arg != "--release").collect()
    }

    /// The arguments for the benchmark binaries.
    pub(crate) fn program_args(&self) -> impl Iterator<Item = &str> {
        self.filter.as_deref().into_iter().chain(self.rest.iter().map(String::as_str))
    }
}

/// Test binary that cargo runs through cargo-offload.
#[derive(Debug, Args)]
pub(crate) struct TestProgram {
    pub(crate) program: PathBuf,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) args: Vec<OsString>,
}
