//! `nightly`: everything that takes too long for every change.

use std::process::ExitCode;

use crate::error::Result;
use crate::workspace::Workspace;
use crate::{builtins, fresh, linkers, syclbin};

pub(crate) const HELP: &str =
    "nightly         linkers, syclbin, builtins and fresh, one after the other; fails if one does";

pub(crate) fn run(workspace: &Workspace, _args: &[String]) -> Result<ExitCode> {
    type Run = fn(&Workspace, &[String]) -> Result<ExitCode>;
    let tasks: [(&str, Run); 4] = [
        ("linkers", linkers::run),
        ("syclbin", syclbin::run),
        ("builtins", builtins::run),
        ("fresh", fresh::run),
    ];
    let mut all = ExitCode::SUCCESS;
    for (name, run) in tasks {
        // The next task says something of its own even where this one failed.
        let code = run(workspace, &[]).unwrap_or_else(|error| {
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
