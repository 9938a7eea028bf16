//! `init`: kernels for an existing package or workspace.

use crate::cargo::additions::{Dependencies, Outcome, Workspace};
use crate::cargo::template;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::Result;
use crate::files::publish::Existing;
use crate::print::output::Output;

pub(super) fn run(output: &Output, args: &cli::Init) -> Result<ExitStatus> {
    let dependencies = Dependencies::new(&args.source)?;
    let workspace = Workspace::find(&args.directory)?;
    let configured = workspace.configure(output)?;
    workspace.depend(output, &dependencies)?;
    let existing = if args.force { Existing::Replaced } else { Existing::Kept };
    let kernels = workspace.build_script(output, &template::STARTER, existing)?;
    if kernels.max(configured) == Outcome::Written {
        workspace.starter(output)?;
    }
    Ok(ExitStatus::Success)
}
