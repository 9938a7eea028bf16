//! NVIDIA's ptxas and nvcc, from Python's package index, under the target directory.
//!
//! The packages come with NVIDIA's licence: they are installed for a test, never distributed.

use std::path::{Path, PathBuf};

use super::need::PIP;
use crate::error::Result;
use crate::workspace::Workspace;

/// How much of CUDA's toolkit a task needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolkit {
    /// The assembler and the library of mathematics, of the release with the widest reach: sm_50 to sm_121.
    Ptxas,
    /// The compiler, with all that it needs beside a host compiler; its assembler knows sm_75 to sm_121. The first
    /// release of its series, because its PTX is taken by the drivers of the whole series.
    Nvcc,
    /// The headers alone, as `cargo offload toolchain install cuda-headers` brings them.
    Headers,
}

impl Toolkit {
    fn packages(self) -> &'static [&'static str] {
        match self {
            Toolkit::Ptxas => &["nvidia-cuda-nvcc-cu12==12.9.86"],
            Toolkit::Nvcc => &[
                "nvidia-cuda-nvcc==13.0.88",
                "nvidia-nvvm==13.0.88",
                "nvidia-cuda-crt==13.0.88",
                "nvidia-cuda-runtime==13.0.96",
                "nvidia-cuda-cccl==13.0.85",
            ],
            Toolkit::Headers => {
                &["nvidia-cuda-crt==13.5.37", "nvidia-cuda-runtime==13.5.37", "nvidia-cuda-cccl==13.3.5.0.6"]
            }
        }
    }

    fn directory(self) -> &'static str {
        match self {
            Toolkit::Ptxas => "cuda-12.9.86",
            Toolkit::Nvcc => "cuda-13.0.88",
            Toolkit::Headers => "cuda-headers-13.5.37",
        }
    }

    /// The directory inside the packages that `CUDA_PATH` should name, and a file in it.
    fn root(self) -> (&'static str, &'static str) {
        match self {
            Toolkit::Ptxas => ("nvidia/cuda_nvcc", "bin/ptxas"),
            Toolkit::Nvcc => ("nvidia/cu13", "bin/nvcc"),
            Toolkit::Headers => ("nvidia/cu13", "include/cuda.h"),
        }
    }
}

/// Finds the toolkit's root, for `CUDA_PATH`, installing it first where it is missing.
pub fn ensure(workspace: &Workspace, toolkit: Toolkit) -> Result<PathBuf> {
    let (root, witness) = toolkit.root();
    let prefix = workspace.target_dir.join("tools").join(toolkit.directory());
    if !prefix.join(root).join(witness).exists() {
        super::ensure(workspace, &[PIP])?;
        install(workspace, toolkit.packages(), &prefix)?;
    }
    Ok(prefix.join(root))
}

/// Installs next to `prefix` and renames at the end: an interrupted download must not look like a toolkit.
pub(super) fn install(workspace: &Workspace, packages: &[&str], prefix: &Path) -> Result<()> {
    println!("installing under {}: {}", prefix.display(), packages.join(" "));
    let shell = &workspace.shell;
    let tools = shell.create_dir(workspace.target_dir.join("tools"))?;
    let new = tempfile::Builder::new().prefix(".new-").tempdir_in(tools)?;
    let pip = shell.cmd("python3").args(["-m", "pip", "install", "--target"]).arg(new.path());
    let pip = pip.args(["--no-deps", "--no-compile", "--quiet", "--disable-pip-version-check"]);
    pip.args(["--root-user-action=ignore", "--no-input"]).args(packages).stdin("").run()?;
    std::fs::rename(new.path(), prefix)?;
    Ok(())
}
