//! Drivers that are compiled for a test: what `devices` shows is then the same on every machine, but for the CPU.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Libraries in the places of the drivers'.
pub struct Drivers(tempfile::TempDir);

impl Drivers {
    /// An Intel GPU, an NVIDIA GPU and two AMD GPUs.
    pub fn working() -> Drivers {
        Drivers::compiled("WORKING")
    }

    /// A library of OpenCL that knows no driver, and ones for CUDA and HIP that lack a function.
    pub fn broken() -> Drivers {
        Drivers::compiled("INCOMPLETE")
    }

    /// Has `command` find these drivers before those of the machine.
    pub fn found_by(&self, command: &mut Command) {
        command.env("LD_LIBRARY_PATH", self.0.path()).env("OPENCL_DYLIB_PATH", self.opencl());
    }

    fn opencl(&self) -> PathBuf {
        self.0.path().join("opencl.so")
    }

    fn compiled(define: &str) -> Drivers {
        let drivers = Drivers(tempfile::tempdir().unwrap());
        let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
        let cuda = drivers.0.path().join("libcuda.so.1");
        let hip = ["driver.c", "kernels.c"].map(|file| crates.join("../offload-rt/tests/hip").join(file));
        for (sources, library) in [
            (vec![crates.join("../offload-rt/tests/opencl/driver.c")], drivers.opencl()),
            (vec![crates.join("../offload-rt/tests/cuda/driver.c")], cuda.clone()),
            (hip.into(), drivers.0.path().join("libamdhip64.so.7")),
        ] {
            let mut compiler = Command::new("cc");
            compiler.args(["-shared", "-fPIC", "-O1", "-pthread", "-o"]).arg(&library).args(&sources);
            assert!(compiler.arg(format!("-D{define}")).status().unwrap().success());
        }
        // The name without number is looked for first.
        std::fs::copy(&cuda, drivers.0.path().join("libcuda.so")).unwrap();
        drivers
    }
}
