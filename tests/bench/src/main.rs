//! `bench`: measurements against what users would do otherwise.

mod cold;
mod decode;
mod host;
mod launch;
mod pack;
mod read;
mod rebuild;
mod start;

use std::process::ExitCode;

use offload_tests::error::{Error, Result};
use offload_tests::workspace::{self, Workspace};

fn main() -> ExitCode {
    workspace::run_task(run)
}

fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    match args.split_first() {
        Some((what, rest)) if what == "cold" => cold::run(workspace, rest),
        Some((what, rest)) if what == "decode" => decode::run(workspace, rest),
        Some((what, rest)) if what == "host" => host::run(workspace, rest),
        Some((what, rest)) if what == "launch" => launch::run(workspace, rest),
        Some((what, rest)) if what == "rebuild" => rebuild::run(workspace, rest),
        Some((what, rest)) if what == "pack" => pack::run(workspace, rest),
        Some((what, rest)) if what == "read" => read::run(workspace, rest),
        Some((what, rest)) if what == "start" => start::run(workspace, rest),
        _ => Err(Error::new("`bench` takes the name of a measurement")
            .hint("cargo xtask bench cold, rebuild, pack, read, decode, start, launch or host")),
    }
}

/// The middle one.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
