//! The options of `test`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::cargo::Cargo;

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Run only tests whose names contain this.
    #[arg(value_name = "NAME")]
    pub(crate) filter: Option<String>,
    #[command(flatten)]
    pub(crate) devices: TestDevices,
    #[command(flatten)]
    pub(crate) running: TestRunning,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
    /// Options for the programs with the tests, such as `--ignored` and `--skip NAME`.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) rest: Vec<String>,
}

#[cfg(feature = "devices")]
impl Test {
    /// Which programs with tests are meant, as cargo's command line has it.
    pub(crate) fn selection(&self) -> Vec<String> {
        let (running, target) = (&self.running, &self.cargo.package.cargo_target);
        let named = |option: &str, names: &[String]| -> Vec<String> {
            names.iter().flat_map(|name| [option.to_string(), name.clone()]).collect()
        };
        let mut args = [named("--test", &running.test), named("--exclude", &running.exclude)].concat();
        if running.workspace {
            args.push("--workspace".to_string());
        }
        let is_said =
            target.lib || target.bin.is_some() || target.example.is_some() || !running.test.is_empty();
        // All but the tests in documentation, which no device is asked for.
        if !is_said {
            args.push("--tests".to_string());
        }
        args
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Which devices")]
pub(crate) struct TestDevices {
    /// Use only this device: a driver (`host`, `opencl`, `cuda`, `hip`), one of its devices (`opencl:1`), or a part of a
    /// device's name (`H200`). Without it, all of this machine.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Vec<String>,
    /// Fail if there is no such device, or no kernel test runs on it.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) require: Vec<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "How tests run")]
pub(crate) struct TestRunning {
    /// Build kernels for `host` that tell what they do, run the tests there, in Oclgrind and under NVIDIA's
    /// compute-sanitizer, and report accesses outside of memory, races, barriers that some work-items do not reach, and
    /// other mistakes.
    #[arg(long)]
    pub(crate) sanitize: bool,
    /// Start the tests without `cargo nextest`, which starts them where it is installed.
    #[arg(long)]
    pub(crate) no_nextest: bool,
    /// Stop a test after so many seconds; 0: never.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub(crate) timeout: u64,
    /// Run so many tests at once. Without it, as many as there are processors.
    #[arg(long, value_name = "N")]
    pub(crate) test_threads: Option<usize>,
    /// Write the results to this file too, as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Run the tests of all packages of the workspace.
    #[arg(long, conflicts_with = "package")]
    pub(crate) workspace: bool,
    /// Run the tests of all packages but this one.
    #[arg(long, value_name = "NAME", requires = "workspace")]
    pub(crate) exclude: Vec<String>,
    /// Run this file of `tests/`.
    #[arg(long, value_name = "NAME")]
    pub(crate) test: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Run only benchmarks whose names contain this.
    #[arg(value_name = "NAME")]
    pub(crate) filter: Option<String>,
    #[command(flatten)]
    pub(crate) devices: TestDevices,
    /// Run this file of `benches/`. Without it, all.
    #[arg(long, value_name = "NAME")]
    pub(crate) bench: Vec<String>,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
    /// Options for the programs with the benchmarks.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) rest: Vec<String>,
}

#[cfg(feature = "devices")]
impl Bench {
    /// Everything for cargo; benchmarks are built for release unless another profile is named.
    pub(crate) fn cargo_args(&self) -> Vec<OsString> {
        self.cargo.args().into_iter().filter(|arg| arg != "--release").collect()
    }

    /// What the programs are told.
    pub(crate) fn for_programs(&self) -> impl Iterator<Item = &str> {
        self.filter.as_deref().into_iter().chain(self.rest.iter().map(String::as_str))
    }
}

/// What cargo starts in place of a program with tests.
#[derive(Debug, Args)]
pub(crate) struct TestProgram {
    pub(crate) program: PathBuf,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) args: Vec<OsString>,
}
