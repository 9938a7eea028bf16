//! `new`: a cargo package with the demo as its program.

use std::path::Path;

use serde::Serialize;

use crate::cargo::additions::{self, Dependencies, NewFile, Workspace};
use crate::cargo::process::Cargo;
use crate::cargo::template;
use crate::cli::{self, Vcs};
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::files::publish::Existing;
use crate::print::output::Output;

#[derive(Debug, Serialize)]
struct Message<'a> {
    reason: &'static str,
    package: &'a str,
    path: &'a Path,
}

pub(super) fn run(output: &Output, args: &cli::New) -> Result<ExitStatus> {
    let dependencies = Dependencies::new(&args.source)?;
    let name = name(args)?;
    cargo_new(output, args)?;
    let workspace = Workspace::find(&args.path)?;
    for file in template::PROGRAM {
        let text = file.text.replace(template::NAME, name);
        let file = NewFile { name: file.name, text: &text, existing: Existing::Replaced };
        additions::write(output, &args.path, &file)?;
    }
    workspace.configure(output)?;
    workspace.depend(output, &dependencies)?;
    workspace.build_script(output, &template::DEMO, Existing::Kept)?;
    let next = format!(
        "created {name}; next: `cd {name}`, `cargo offload doctor` to check the compilers, `cargo offload run` to run it"
    );
    output.done(&Message { reason: "new", package: name, path: &args.path }, &next)?;
    Ok(ExitStatus::Success)
}

fn name(args: &cli::New) -> Result<&str> {
    args.name.as_deref().or_else(|| args.path.file_name().and_then(|name| name.to_str())).ok_or_else(|| {
        Error::usage(format!("cannot derive a package name from `{}`", args.path.display()))
            .hint("set one with --name")
    })
}

/// Cargo knows which names are allowed, and makes the package a member of the workspace around it.
fn cargo_new(output: &Output, args: &cli::New) -> Result<()> {
    let vcs = args.vcs.map(|vcs| match vcs {
        Vcs::Git => "git",
        Vcs::Hg => "hg",
        Vcs::Pijul => "pijul",
        Vcs::Fossil => "fossil",
        Vcs::None => "none",
    });
    let name = args.name.iter().flat_map(|name| ["--name", name]);
    let vcs = vcs.iter().flat_map(|vcs| ["--vcs", vcs]);
    let cargo = Cargo::new("new").args(["--bin"]).args(name.chain(vcs));
    cargo.spoken_as(output).args(["--"]).args([&args.path]).run()
}
