//! `nightly`: everything that takes too long for every change.

use std::process::ExitCode;

use crate::{
    amd, bombs, book, damage, fresh, fuzz, gpu, hour, interop, linkers, packages, platforms, prune, sycl,
};
use offload_tests::error::Result;
use offload_tests::workspace::{Run, Workspace};

pub(crate) const HELP: &str = "nightly         linkers, prune, sycl, interop, bombs, damage, fuzz, gpu on the CPU, amd, book, hour, builtins, platforms, bench pack, bench start, fresh and fresh --toolchain, one by one; fails if one does";

pub(crate) fn run(workspace: &Workspace, _args: &[String]) -> Result<ExitCode> {
    let on_cpu = ["--run-here", "--device", "host"];
    let tasks: [(&str, Run, &[&str]); 17] = [
        ("linkers", linkers::run, &[]),
        ("prune", prune::run, &[]),
        ("sycl", sycl::run, &[]),
        ("interop", interop::run, &[]),
        ("bombs", bombs::run, &[]),
        ("damage", damage::run, &[]),
        ("fuzz", fuzz::run, &[]),
        ("gpu", gpu::run, &on_cpu),
        ("amd", amd::run, &[]),
        ("book", book::run, &[]),
        ("hour", hour::run, &["--network"]),
        ("builtins", packages::builtins, &[]),
        ("platforms", platforms::run, &[]),
        ("bench pack", packages::bench, &["pack"]),
        ("bench start", packages::bench, &["start"]),
        ("fresh", fresh::run, &[]),
        ("fresh --toolchain", fresh::run, &["--toolchain"]),
    ];
    let mut all = ExitCode::SUCCESS;
    for (name, run, args) in tasks {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        // The next task says something of its own even where this one failed.
        let code = run(workspace, &args).unwrap_or_else(|error| {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        });
        println!("nightly: {name}: {}", if code == ExitCode::SUCCESS { "ok" } else { "FAILED" });
        if code != ExitCode::SUCCESS {
            all = ExitCode::FAILURE;
        }
    }
    Ok(all)
}
