//! NVIDIA's fatbins, and real files of all makers: tools and files that are downloaded for it.

use std::path::Path;
use std::process::{Command, ExitCode};

use super::cargo;
use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Wheel};
use offload_tests::workspace::{self, Workspace};

/// An example, because examples take what only tests depend on.
const EXAMPLE: [&str; 7] =
    ["run", "--release", "--package", "offload-tests", "--example", "containers", "--"];

pub(super) fn fatbins(workspace: &Workspace, sets: &str) -> Result<ExitCode> {
    let tools = setup::ensure_wheel(workspace, Wheel::Fatbins)?;
    let fatbinary = tools.join("fatbinary");
    let cuobjdump = tools.join("cuobjdump");
    example(workspace, sets, &["fatbins", text(&fatbinary)?, text(&cuobjdump)?])
}

pub(super) fn wheel(workspace: &Workspace, sets: &str) -> Result<ExitCode> {
    let cuobjdump = setup::ensure_wheel(workspace, Wheel::Fatbins)?.join("cuobjdump");
    let folder = setup::ensure_wheel(workspace, Wheel::Bitsandbytes)?;
    let bundler = setup::llvm(workspace, "clang-offload-bundler");
    let bundler = bundler.ok_or_else(|| Error::new("clang-offload-bundler of LLVM 22 is missing"))?;
    example(workspace, sets, &["wheel", text(&folder)?, text(&cuobjdump)?, text(&bundler)?])
}

pub(super) fn sycl_wheel(workspace: &Workspace, sets: &str) -> Result<ExitCode> {
    let folder = setup::ensure_wheel(workspace, Wheel::Dpnp)?;
    example(workspace, sets, &["sycl", text(&folder)?])
}

fn example(workspace: &Workspace, sets: &str, args: &[&str]) -> Result<ExitCode> {
    let cargo = cargo(workspace, sets).args(EXAMPLE).args(args);
    Ok(workspace::exit_code(Command::from(cargo).status()?))
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| Error::new(format!("{} is not UTF-8", path.display())))
}
