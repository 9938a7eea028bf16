//! `fuzz-host`: the command line of the fuzzer.

use std::process::ExitCode;
use std::time::Duration;

use offload_fuzz_host::faults;
use offload_fuzz_host::harness::{Harness, Programs};
use offload_fuzz_host::hunt::{Bound, Hunt};
use offload_fuzz_host::reduction;
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::{self, Workspace};

/// What the command line asks for.
#[derive(Debug)]
struct Options {
    seed: u64,
    task: Task,
}

#[derive(Debug)]
enum Task {
    /// Runs programs, and fails if one is wrong.
    Fuzz { bound: Bound, is_quick: bool },
    /// Reduces one program.
    Reduce(u64),
    /// Plants faults: those with these names, or all.
    Faults(Vec<String>),
}

fn main() -> ExitCode {
    workspace::run_task(run)
}

fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let options = parse(args)?;
    setup::ensure(workspace, &[setup::BUILD, setup::DRIVERS])?;
    let Programs { compiler, runner } = Programs::build(workspace)?;
    let harness = Harness::new(workspace, compiler, runner)?;
    let found = workspace.target_dir.join("fuzz-host/found");
    match options.task {
        Task::Fuzz { bound, is_quick } => {
            let hunt = Hunt::new(&harness, options.seed, bound, is_quick);
            let outcome = hunt.run()?;
            outcome.report.print();
            reduction::keep_all(&harness, options.seed, &outcome, &found)?;
            println!("{}", outcome.summary());
            let is_clean = outcome.report.is_clean();
            Ok(if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Task::Reduce(number) => {
            reduction::reduce_number(&harness, options.seed, number, &found)?;
            Ok(ExitCode::SUCCESS)
        }
        Task::Faults(names) => faults::run(workspace, &harness, options.seed, &names),
    }
}

fn parse(args: &[String]) -> Result<Options> {
    let mut options = Options {
        seed: 1,
        task: Task::Fuzz { bound: Bound::Time(Duration::from_secs(600)), is_quick: false },
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--quick" => {
                let bound = Bound::Programs(200);
                options.task = Task::Fuzz { bound, is_quick: true };
            }
            "--minutes" => {
                let minutes = number(arg, args.next())?;
                let bound = Bound::Time(Duration::from_secs(minutes.saturating_mul(60)));
                options.task = Task::Fuzz { bound, is_quick: false };
            }
            "--programs" => {
                let bound = Bound::Programs(number(arg, args.next())?);
                options.task = Task::Fuzz { bound, is_quick: false };
            }
            "--seed" => options.seed = number(arg, args.next())?,
            "--reduce" => options.task = Task::Reduce(number(arg, args.next())?),
            "--faults" => {
                options.task = Task::Faults(args.by_ref().cloned().collect());
            }
            other => {
                let error = Error::new(format!("`fuzz-host` has no option `{}`", other.escape_debug()));
                return Err(error.hint("cargo xtask fuzz-host --help"));
            }
        }
    }
    Ok(options)
}

fn number(option: &str, value: Option<&String>) -> Result<u64> {
    let value = value.ok_or_else(|| Error::new(format!("`{option}` takes a number")))?;
    let parsed = value.parse();
    parsed.map_err(|_| Error::new(format!("`{}` after `{option}` is no number", value.escape_debug())))
}
