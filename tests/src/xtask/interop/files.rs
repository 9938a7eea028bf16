//! NVIDIA's fatbins, and real files of all makers: tools and files that are downloaded for it.

use std::process::ExitCode;

use super::cargo;
use crate::error::{Error, Result};
use crate::setup::{self, Wheel};
use crate::workspace::Workspace;

/// An example, because examples take what only tests depend on.
const EXAMPLE: [&str; 7] =
    ["run", "--release", "--package", "offload-tests", "--example", "containers", "--"];

pub(super) fn fatbins(workspace: &Workspace, sets: &str) -> Result<ExitCode> {
    let tools = setup::ensure_wheel(workspace, Wheel::Fatbins)?;
    let (fatbinary, cuobjdump) = (tools.join("fatbinary"), tools.join("cuobjdump"));
    let args = ["fatbins", text(&fatbinary)?, text(&cuobjdump)?];
    cargo(workspace, &[&EXAMPLE[..], &args].concat(), sets)
}

pub(super) fn wheel(workspace: &Workspace, sets: &str) -> Result<ExitCode> {
    let cuobjdump = setup::ensure_wheel(workspace, Wheel::Fatbins)?.join("cuobjdump");
    let folder = setup::ensure_wheel(workspace, Wheel::Bitsandbytes)?;
    let args = ["wheel", text(&folder)?, text(&cuobjdump)?];
    cargo(workspace, &[&EXAMPLE[..], &args].concat(), sets)
}

fn text(path: &std::path::Path) -> Result<&str> {
    path.to_str().ok_or_else(|| Error::new(format!("{} is not UTF-8", path.display())))
}
