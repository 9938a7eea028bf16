//! `repack`: the images of a linked program beside it, in one file or one a family, and back into it.

mod embed;
mod outside;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cli;
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::output::Output;
use crate::program::Program;
use crate::publish::publish_pack;
use crate::rewrite::{self, Destination, NewPack};
use crate::thin::NewBytes;

#[derive(Debug, Serialize)]
struct Written<'a> {
    reason: &'static str,
    path: &'a Path,
    size: u64,
}

#[derive(Debug, Serialize)]
struct Summary<'a> {
    reason: &'static str,
    path: &'a Path,
    size_before: u64,
    size_after: u64,
}

/// What a program becomes.
#[derive(Debug)]
struct Repacked {
    packs: Vec<NewPack>,
    /// Files to be written beside it, each with its packs.
    files: Vec<(PathBuf, Vec<NewBytes>)>,
}

pub(super) fn run(output: &Output, args: &cli::Repack) -> Result<ExitStatus> {
    let destination = Destination::new(&args.path, &args.destination)?;
    let program = Program::open(&args.path)?;
    let repacked = match &args.form {
        cli::Form { embed: true, .. } => embed::repack(&program)?,
        cli::Form { split: true, .. } => outside::repack(&program, outside::Files::Families(&destination))?,
        _ => outside::repack(&program, outside::Files::One(&destination))?,
    };
    // The layout is checked before the first file appears, and a program never appears before what it refers to.
    let rewritten = rewrite::rewrite(program.file(), repacked.packs)?;
    for (path, packs) in &repacked.files {
        let size = publish_pack(path, packs)?;
        let text = format!("`{}` has {size} bytes", path.display());
        output.message(&Written { reason: "written", path, size }, &text)?;
    }
    let sizes = rewritten.publish(&destination)?;
    let (path, size_before, size_after) = (destination.path(), sizes.before, sizes.after);
    let text = format!("`{}` has {size_after} of {size_before} bytes", path.display());
    output.message(&Summary { reason: "repacked", path, size_before, size_after }, &text)?;
    Ok(ExitStatus::Success)
}
