//! Loads for `cargo xtask sycl` the files that Intel's runtime loads, with this project's bundles.
//!
//! ```text
//! sycl cases DIR                              writes files, and lists what to do with them
//! sycl run RULES STATE KERNELS FILE...        as the host program in tests/sycl
//! sycl save STATE FILE TO                     loads by the runtime's rules, and writes the content of the bundle
//! sycl same FILE FILE                         whether two files hold the same
//! ```
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the task stops at the first surprise"
)]

mod cases;
mod kernels;
mod same;

use std::process::ExitCode;

use offload_rt::{Device, Error};
use offload_sycl::{Bundle, Context, Executable, Input, Object, Rules, link};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["cases", dir] => cases::write_all(dir.as_ref()).iter().for_each(|case| println!("{case}")),
        ["run", rules, state, kernels, files @ ..] => return run((rules, state), kernels, files),
        ["save", state, file, to] => std::fs::write(to, saved(state, file).unwrap()).unwrap(),
        ["same", one, other] => same::assert(one.as_ref(), other.as_ref()),
        _ => panic!("{args:?}"),
    }
    ExitCode::SUCCESS
}

fn context(rules: &str) -> (Device, Context) {
    let rules = if rules == "spec" { Rules::Spec } else { Rules::Runtime };
    let device = offload_rt::opencl::devices().unwrap().remove(0);
    let context = Context::new(std::slice::from_ref(&device), rules).unwrap();
    (device, context)
}

/// Prints a line for each kernel; the exit codes are those of the host program.
fn run((rules, state): (&str, &str), kernels: &str, files: &[&str]) -> ExitCode {
    let (device, context) = context(rules);
    let ran = executable(&context, state, files).and_then(|bundle| {
        bundle.missing().iter().for_each(|missing| eprintln!("{missing}"));
        kernels.split(',').map(|kernel| kernels::run(&bundle, &device, kernel)).collect::<Result<Vec<_>, _>>()
    });
    match ran {
        Ok(right) if right.iter().all(|right| *right) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(error) => {
            eprintln!("refused: {error}");
            ExitCode::from(3)
        }
    }
}

fn executable(context: &Context, state: &str, files: &[&str]) -> Result<Bundle<Executable>, Error> {
    let mut objects: Vec<Bundle<Object>> = Vec::new();
    for file in files {
        match state {
            "input" => objects.push(context.open_file::<Input>(file)?.compile()?),
            "object" => objects.push(context.open_file(file)?),
            _ => return context.open_file(file),
        }
    }
    link(&objects.iter().collect::<Vec<_>>())
}

fn saved(state: &str, file: &str) -> Result<Vec<u8>, Error> {
    let (_, context) = context("runtime");
    match state {
        "input" => context.open_file::<Input>(file)?.content(),
        "object" => context.open_file::<Object>(file)?.content(),
        _ => context.open_file::<Executable>(file)?.content(),
    }
}
