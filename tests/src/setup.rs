//! `setup`: finds out what is missing on this machine and installs it, or says how.

mod cuda;
mod intel;
mod need;
mod packages;
mod probe;
mod wheels;

use std::process::ExitCode;

pub use self::cuda::{Toolkit, ensure as ensure_cuda};
pub use self::intel::{Runtime, ensure as ensure_intel};
pub use self::need::{
    BENCH, BROWSER, BUILD, BUNDLER, COLD, DRIVERS, FRESH, GPUS, LINKERS, Need, OLDER_LLVM, OLDEST_CLANG,
    PLATFORMS, READ, REMOTE, SANDBOX, SHELLS, STRESS, SYCL, TERMINAL,
};
pub use self::probe::llvm;
pub use self::wheels::{Wheel, WheelSystem, ensure as ensure_wheel, ensure_download, ensure_package};
use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// The help of the task.
pub const HELP: &str = "setup [WHAT]    install the tools of `demo` (the default), `test` or `all` tasks

Missing tools are found by probing for the tools themselves. On Debian, as root, the packages are installed; elsewhere
the task prints the command that installs them, and fails.";

/// The task.
///
/// # Errors
/// If something is missing that cannot be installed.
pub fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    match args {
        [] => ensure(workspace, &[BUILD])?,
        [what] if what == "demo" => ensure(workspace, &[BUILD])?,
        [what] if what == "test" => {
            ensure(workspace, &[BUILD, GPUS, DRIVERS, BROWSER, SHELLS])?;
            ensure_intel(workspace, Runtime::OpenCl)?;
            ensure_cuda(workspace, Toolkit::Ptxas)?;
            ensure_cuda(workspace, Toolkit::Headers)?;
            ensure_wheel(workspace, Wheel::Decoder)?;
            ensure_wheel(workspace, Wheel::Numpy)?;
        }
        [what] if what == "all" => {
            ensure(
                workspace,
                &[
                    BUILD, GPUS, DRIVERS, BROWSER, SHELLS, BUNDLER, OLDER_LLVM, LINKERS, STRESS, SYCL, FRESH,
                    REMOTE, SANDBOX,
                ],
            )?;
            ensure_cuda(workspace, Toolkit::Ptxas)?;
            ensure_cuda(workspace, Toolkit::Nvcc)?;
            ensure_cuda(workspace, Toolkit::Headers)?;
            ensure_wheel(workspace, Wheel::Decoder)?;
            ensure_wheel(workspace, Wheel::Numpy)?;
            ensure_wheel(workspace, Wheel::Buildbox)?;
            ensure_intel(workspace, Runtime::OpenCl)?;
            ensure_intel(workspace, Runtime::Sycl)?;
            ensure_intel(workspace, Runtime::Sycl2025)?;
        }
        _ => return Err(Error::new("`setup` takes one of `demo`, `test`, `all`")),
    }
    println!("nothing is missing");
    Ok(ExitCode::SUCCESS)
}

/// Installs what is missing of `lists`; does nothing, and says nothing, where all is there.
pub fn ensure(workspace: &Workspace, lists: &[&[Need]]) -> Result<()> {
    let missing = missing(workspace, lists);
    if missing.is_empty() {
        return Ok(());
    }
    packages::install(workspace, &missing)?;
    still_missing(&self::missing(workspace, lists))
}

fn missing<'a>(workspace: &Workspace, lists: &[&'a [Need]]) -> Vec<&'a Need> {
    lists.iter().flat_map(|list| list.iter()).filter(|need| !need.probe.is_there(workspace)).collect()
}

/// A package manager that says "done" proves nothing.
fn still_missing(missing: &[&Need]) -> Result<()> {
    let Some(first) = missing.first() else { return Ok(()) };
    let names: Vec<&str> = missing.iter().map(|need| need.what).collect();
    let text = format!("the packages were installed, but these are still missing: {}", names.join(", "));
    Err(Error::new(text).hint(format!("{} {}", first.what, first.probe)))
}
