//! Files that others made, from Python's package index, under the target directory: to be read, never distributed.

use std::path::PathBuf;

use super::cuda::install;
use super::need::PIP;
use crate::error::Result;
use crate::workspace::Workspace;

/// A set of packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wheel {
    /// NVIDIA's tools that write and read fatbins.
    Fatbins,
    /// A library with images for NVIDIA's, AMD's and Intel's devices.
    Bitsandbytes,
    /// Intel's libraries of SYCL kernels.
    Dpnp,
    /// What the decoder in Python reads frames and hashes with.
    Decoder,
}

impl Wheel {
    fn packages(self) -> &'static [&'static str] {
        match self {
            Wheel::Fatbins => &["nvidia-cuda-nvcc==13.5.37", "nvidia-cuda-cuobjdump==13.5.37"],
            Wheel::Bitsandbytes => &["bitsandbytes==0.50.2"],
            Wheel::Dpnp => &["dpnp==0.20.0"],
            Wheel::Decoder => &["blake3==1.0.11", "zstandard==0.25.0"],
        }
    }

    /// The directory under the tools, the part of it that is wanted, and a file there.
    fn place(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Wheel::Fatbins => ("fatbins-13.5.37", "nvidia/cu13/bin", "cuobjdump"),
            Wheel::Bitsandbytes => ("bitsandbytes-0.50.2", "bitsandbytes", "libbitsandbytes_cpu.so"),
            Wheel::Dpnp => ("dpnp-0.20.0", "dpnp", "libdpnp_backend_c.so"),
            Wheel::Decoder => ("decoder-zstandard-0.25.0", "", "zstandard"),
        }
    }
}

/// Finds what the packages hold, installing them first where they are missing.
pub fn ensure(workspace: &Workspace, wheel: Wheel) -> Result<PathBuf> {
    let (directory, part, witness) = wheel.place();
    let prefix = workspace.target_dir.join("tools").join(directory);
    if !prefix.join(part).join(witness).exists() {
        super::ensure(workspace, &[PIP])?;
        install(workspace, wheel.packages(), &prefix)?;
    }
    Ok(prefix.join(part))
}

/// Finds what one package holds, given as `NAME==VERSION`, installing it first where it is missing.
pub fn ensure_package(workspace: &Workspace, package: &str) -> Result<PathBuf> {
    let prefix = workspace.target_dir.join("tools").join(package.replace("==", "-"));
    if !prefix.exists() {
        super::ensure(workspace, &[PIP])?;
        install(workspace, &[package], &prefix)?;
    }
    Ok(prefix)
}
