//! Intel's OpenCL runtime for CPUs and its SYCL runtime, from Python's package index, under the target directory.
//!
//! The packages come with Intel's licence for developer tools: they are installed for a test, never distributed.

use std::path::PathBuf;

use super::need::PIP;
use crate::error::Result;
use crate::workspace::Workspace;

/// How much of it a task needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// The OpenCL device: what takes SPIR-V on any x86-64 CPU.
    OpenCl,
    /// The OpenCL device, the SYCL library and its headers.
    Sycl,
    /// The same of the first release line that reads SYCLBIN files, with a number of their own.
    Sycl2025,
}

impl Runtime {
    /// Exact versions: the SYCL libraries read only the containers of their own release.
    fn packages(self) -> &'static [&'static str] {
        match self {
            Runtime::OpenCl => {
                &["intel-opencl-rt==2026.2.0", "intel-cmplr-lib-rt==2026.2.0", "tbb==2023.2.0"]
            }
            Runtime::Sycl => &[
                "intel-opencl-rt==2026.2.0",
                "intel-cmplr-lib-rt==2026.2.0",
                "tbb==2023.2.0",
                "intel-sycl-rt==2026.2.0",
                "intel-cmplr-lib-ur==2026.2.0",
                "umf==1.2.0",
                "tcmlib==1.6.0",
            ],
            Runtime::Sycl2025 => &[
                "intel-opencl-rt==2025.3.3",
                "intel-cmplr-lib-rt==2025.3.3",
                "tbb==2022.3.1",
                "intel-sycl-rt==2025.3.3",
                "intel-cmplr-lib-ur==2025.3.3",
                "umf==1.0.3",
                "tcmlib==1.6.0",
            ],
        }
    }

    fn directory(self) -> &'static str {
        match self {
            Runtime::OpenCl => "intel-opencl-2026.2.0",
            Runtime::Sycl => "intel-sycl-2026.2.0",
            Runtime::Sycl2025 => "intel-sycl-2025.3.3",
        }
    }

    /// The file that shows that `prefix` holds it.
    fn witness(self) -> &'static str {
        match self {
            Runtime::OpenCl => "lib/libintelocl.so",
            // What tests are given is of another release.
            Runtime::Sycl2025 => "lib/libsycl.so.8",
            Runtime::Sycl => "lib/libsycl.so.9",
        }
    }
}

/// Finds the runtime's prefix (with `lib/`), installing it first where it is missing.
///
/// A prefix in the variable that tests read goes first: one installation can serve several checkouts.
pub fn ensure(workspace: &Workspace, runtime: Runtime) -> Result<PathBuf> {
    let given = workspace.shell.var_os(crate::INTEL_RUNTIME_VAR).map(PathBuf::from);
    if let Some(prefix) = given.filter(|prefix| prefix.join(runtime.witness()).exists()) {
        return Ok(prefix);
    }
    let prefix = workspace.target_dir.join("tools").join(runtime.directory());
    if !prefix.join(runtime.witness()).exists() {
        super::ensure(workspace, &[PIP])?;
        install(workspace, runtime, &prefix)?;
    }
    Ok(prefix)
}

/// Installs next to `prefix` and renames at the end: an interrupted download must not look like a runtime.
fn install(workspace: &Workspace, runtime: Runtime, prefix: &PathBuf) -> Result<()> {
    println!("installing under {}: {}", prefix.display(), runtime.packages().join(" "));
    let shell = &workspace.shell;
    let tools = shell.create_dir(workspace.target_dir.join("tools"))?;
    let new = tempfile::Builder::new().prefix(".intel-").tempdir_in(tools)?;
    // `pip install --target` drops the `lib` directories of these packages. An environment without a pip of its own
    // needs no package beyond pip where a distribution splits Python up.
    shell.cmd("python3").args(["-m", "venv", "--without-pip"]).arg(new.path()).quiet().run()?;
    let pip = shell.cmd("python3").args(["-m", "pip", "--python"]).arg(new.path().join("bin/python"));
    let pip = pip.args(["install", "--no-deps", "--no-compile", "--quiet", "--disable-pip-version-check"]);
    pip.args(["--root-user-action=ignore", "--no-input"]).args(runtime.packages()).stdin("").run()?;
    std::fs::rename(new.path(), prefix)?;
    Ok(())
}
