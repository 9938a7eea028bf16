//! `init`: what kernels need, added to a package or a workspace.

use crate::cargo::additions::{Dependencies, Workspace};
use crate::cli;
use crate::error::ExitStatus;
use crate::error::Result;
use crate::files::publish::Existing;
use crate::print::output::Output;

pub(super) fn run(output: &Output, args: &cli::Init) -> Result<ExitStatus> {
    let dependencies = Dependencies::new(args.source.checkout.as_deref())?;
    let workspace = Workspace::of(&args.directory)?;
    workspace.configure(output)?;
    workspace.depend(output, &dependencies)?;
    workspace.build_script(output, if args.force { Existing::Replaced } else { Existing::Kept })?;
    Ok(ExitStatus::Success)
}
