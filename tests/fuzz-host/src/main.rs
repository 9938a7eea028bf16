//! `fuzz-host`: the command line of the fuzzer.

use std::process::ExitCode;
use std::time::Duration;

use offload_fuzz_host::faults::{self, Wanted};
use offload_fuzz_host::harness::{Harness, Programs};
use offload_fuzz_host::hunt::{Bound, Hunt};
use offload_fuzz_host::reduction;
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::{self, Workspace};

/// Programs of a quick run: every kind of build of this project has some.
const QUICK: u64 = 100;

/// What the command line asks for.
#[derive(Debug)]
struct Options {
    seed: u64,
    /// Whether PoCL is compared, which finds faults of PoCL alone.
    has_pocl: bool,
    task: Task,
}

#[derive(Debug)]
enum Task {
    /// Runs programs, and fails if one is wrong.
    Fuzz(Bound),
    /// Reduces one program.
    Reduce(u64),
    /// Plants faults: those with these names, or all. Each is looked for for so long.
    Faults { names: Vec<String>, limit: Duration },
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
        Task::Fuzz(bound) => {
            let mut hunt = Hunt::new(&harness, options.seed, bound);
            if !options.has_pocl {
                hunt = hunt.without_pocl();
            }
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
        Task::Faults { names, limit } => {
            let wanted = Wanted { names: &names, seed: options.seed, limit };
            faults::run(workspace, &harness, wanted)
        }
    }
}

fn parse(args: &[String]) -> Result<Options> {
    let mut options =
        Options { seed: 1, has_pocl: true, task: Task::Fuzz(Bound::Time(Duration::from_secs(600))) };
    let mut has_minutes = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--quick" => {
                options.task = Task::Fuzz(Bound::Programs(QUICK));
                options.has_pocl = false;
            }
            "--minutes" => {
                has_minutes = true;
                let minutes = number(arg, args.next())?;
                let bound = Bound::Time(Duration::from_secs(minutes.saturating_mul(60)));
                options.task = Task::Fuzz(bound);
            }
            "--programs" => {
                let bound = Bound::Programs(number(arg, args.next())?);
                options.task = Task::Fuzz(bound);
            }
            "--seed" => options.seed = number(arg, args.next())?,
            "--reduce" => options.task = Task::Reduce(number(arg, args.next())?),
            "--faults" => {
                let limit = match options.task {
                    Task::Fuzz(Bound::Time(time)) if has_minutes => time,
                    _ => faults::LIMIT,
                };
                let names = args.by_ref().cloned().collect();
                options.task = Task::Faults { names, limit };
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
