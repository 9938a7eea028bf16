//! `bench launch`: what launches, copies and a solver take beside the crates that programs use otherwise.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use offload_tests::drivers;
use offload_tests::error::{Error, Result};
use offload_tests::fixture;
use offload_tests::setup::{self, Toolkit};
use offload_tests::workspace::{self, Workspace};

/// The fixture, and its program.
const NAME: &str = "launch";
const PROGRAM: &str = "offload-launch";

/// What is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Plan {
    task: Task,
    /// For the program.
    options: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Task {
    #[default]
    OpenCl,
    Cuda,
    Build,
}

/// A driver that the program measures, and the variables with which it finds that one alone.
struct Driver {
    name: &'static str,
    option: &'static str,
    variables: Vec<(&'static str, PathBuf)>,
}

impl From<drivers::Driver> for Driver {
    fn from(driver: drivers::Driver) -> Driver {
        Driver { name: driver.name, option: "--opencl", variables: driver.variables }
    }
}

pub(super) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let plan = Plan::parse(args)?;
    setup::ensure(workspace, &[setup::BUILD, setup::GPUS, setup::DRIVERS])?;
    let program = build(workspace)?;
    let drivers = match plan.task {
        Task::Build => {
            println!("{}", program.display());
            return Ok(ExitCode::SUCCESS);
        }
        Task::Cuda => vec![Driver { name: "cuda", option: "--cuda", variables: Vec::new() }],
        Task::OpenCl => drivers::cpus(workspace)?.map(Driver::from).into(),
    };
    let mut missed = Vec::new();
    for driver in &drivers {
        if !is_met(workspace, &program, driver, &plan.options)? {
            missed.push(driver.name);
        }
    }
    match missed.as_slice() {
        [] => Ok(ExitCode::SUCCESS),
        missed => Err(Error::new(format!("limits missed with {}", missed.join(", ")))),
    }
}

impl Plan {
    fn parse(args: &[String]) -> Result<Plan> {
        let mut plan = Plan::default();
        for arg in args {
            match arg.as_str() {
                "--quick" => plan.options.push(arg.clone()),
                "--cuda" => plan.task = Task::Cuda,
                "--build-only" => plan.task = Task::Build,
                _ => {
                    return Err(Error::new("`bench launch` takes `--quick`, `--cuda` and `--build-only`"));
                }
            }
        }
        Ok(plan)
    }
}

/// Builds a copy of the fixture below the target directory; the same place each time, so that little is built again.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    let cuda = setup::ensure_cuda(workspace, Toolkit::Ptxas)?;
    let dir = workspace.shell.create_dir(workspace.target_dir.join("bench/launch"))?;
    fixture::copy(workspace, NAME, &dir.join("src"))?;
    let _in = workspace.shell.push_dir(dir.join("src"));
    let cargo = workspace.cargo().args(["build", "--quiet", "--release"]);
    // Not the targets of this checkout, which cargo hands down and names in a target directory that lies in it.
    cargo
        .env("CARGO_TARGET_DIR", dir.join("target"))
        .env("CUDA_PATH", cuda)
        .env("OFFLOAD_CONFIG", dir.join("src/offload.toml"))
        .env_remove("OFFLOAD_TARGETS")
        .env_remove("RUSTFLAGS")
        .run()?;
    Ok(dir.join("target/release").join(PROGRAM))
}

/// Runs the program, which prints its table; whether it meets its limits.
fn is_met(workspace: &Workspace, program: &Path, driver: &Driver, options: &[String]) -> Result<bool> {
    let samples = workspace.target_dir.join(format!("bench/launch-{}.json", driver.name));
    let command = workspace.shell.cmd(program).arg(driver.option).args(options);
    let command =
        command.arg("--json").arg(&samples).envs(driver.variables.iter().map(|(name, value)| (name, value)));
    let status = workspace::run_through(command)?;
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err(Error::new(format!("`{}` failed with {}", program.display(), driver.name))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Plan> {
        Plan::parse(&args.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn words_are_understood_in_any_order() {
        let plan = parse(&["--quick", "--cuda"]).unwrap();
        assert_eq!(plan, Plan { task: Task::Cuda, options: vec!["--quick".into()] });
        assert_eq!(parse(&["--cuda", "--quick"]).unwrap(), plan);
        assert_eq!(parse(&["--build-only"]).unwrap().task, Task::Build);
        assert_eq!(parse(&[]).unwrap(), Plan::default());
        assert!(parse(&["--opencl"]).is_err());
    }
}
