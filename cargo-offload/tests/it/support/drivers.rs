//! Drivers that are compiled for a test: what `devices` shows is then the same on every machine, but for the CPU.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Libraries in the places of the drivers'.
pub struct Drivers(tempfile::TempDir);

impl Drivers {
    /// An Intel GPU and an NVIDIA GPU.
    pub fn working() -> Drivers {
        Drivers::compiled("WORKING")
    }

    /// A library of OpenCL that knows no driver, and one for CUDA that lacks a function.
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
        for (source, library) in [
            (crates.join("tests/it/support/opencl.c"), drivers.opencl()),
            (crates.join("../offload-rt/tests/cuda/driver.c"), cuda.clone()),
        ] {
            let mut compiler = Command::new("cc");
            compiler.args(["-shared", "-fPIC", "-O1", "-o"]).args([&library, &source]);
            assert!(compiler.arg(format!("-D{define}")).status().unwrap().success());
        }
        // The name without number is looked for first.
        std::fs::copy(&cuda, drivers.0.path().join("libcuda.so")).unwrap();
        drivers
    }
}
