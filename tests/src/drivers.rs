//! The OpenCL drivers for CPUs that tasks use, each with what lets the loader find it alone: two in one process would
//! take the cores from each other.

use std::path::PathBuf;

use crate::error::Result;
use crate::setup::{self, Runtime};
use crate::workspace::Workspace;

/// Where Debian's package tells the loader of PoCL.
const POCL: &str = "/etc/OpenCL/vendors/pocl.icd";

/// An OpenCL driver for the CPU.
#[derive(Debug)]
pub struct Driver {
    /// `pocl` or `intel`.
    pub name: &'static str,
    /// For the environment of a program.
    pub variables: Vec<(&'static str, PathBuf)>,
}

/// PoCL of the system, and Intel's runtime, which is installed below the target directory.
///
/// # Errors
/// If Intel's runtime cannot be installed.
pub fn cpus(workspace: &Workspace) -> Result<[Driver; 2]> {
    let lib = setup::ensure_intel(workspace, Runtime::OpenCl)?.join("lib");
    let pocl = vec![("OCL_ICD_VENDORS", PathBuf::from(POCL))];
    let intel = vec![
        ("OCL_ICD_FILENAMES", lib.join("libintelocl.so")),
        ("OCL_ICD_VENDORS", PathBuf::from("/nonexistent")),
        ("LD_LIBRARY_PATH", lib),
    ];
    Ok([Driver { name: "pocl", variables: pocl }, Driver { name: "intel", variables: intel }])
}
