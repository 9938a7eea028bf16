//! The OpenCL drivers for CPUs that are measured, each with what lets the loader find it alone: two in one process would
//! take the cores from each other.

use std::path::PathBuf;

use offload_tests::error::Result;
use offload_tests::setup::{self, Runtime};
use offload_tests::workspace::Workspace;

/// Where Debian's package tells the loader of PoCL.
const POCL: &str = "/etc/OpenCL/vendors/pocl.icd";

/// An OpenCL driver for the CPU.
pub(super) struct Driver {
    pub(super) name: &'static str,
    pub(super) variables: Vec<(&'static str, PathBuf)>,
}

/// PoCL of the system, and Intel's runtime, which is installed below the target directory.
pub(super) fn cpus(workspace: &Workspace) -> Result<[Driver; 2]> {
    let lib = setup::ensure_intel(workspace, Runtime::OpenCl)?.join("lib");
    let pocl = vec![("OCL_ICD_VENDORS", PathBuf::from(POCL))];
    let intel = vec![
        ("OCL_ICD_FILENAMES", lib.join("libintelocl.so")),
        ("OCL_ICD_VENDORS", PathBuf::from("/nonexistent")),
        ("LD_LIBRARY_PATH", lib),
    ];
    Ok([Driver { name: "pocl", variables: pocl }, Driver { name: "intel", variables: intel }])
}
