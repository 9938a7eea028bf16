//! The files of a new project: those of the demo, which a test keeps equal.

/// A file: its path in the package, and its text.
pub(crate) type File = (&'static str, &'static str);

/// The program, which replaces that of `cargo new`.
pub(crate) const PROGRAM: [File; 3] = [
    ("src/main.rs", include_str!("../../template/src/main.rs")),
    ("src/report.rs", include_str!("../../template/src/report.rs")),
    ("src/workload.rs", include_str!("../../template/src/workload.rs")),
];

/// The build script, which names the kernels.
pub(crate) const BUILD_SCRIPT: File = ("build.rs", include_str!("../../template/build.rs"));

/// The kernels that the build script names, and their header.
pub(crate) const KERNELS: [File; 3] = [
    ("kernels/blas.cl", include_str!("../../template/kernels/blas.cl")),
    ("kernels/common.h", include_str!("../../template/kernels/common.h")),
    ("kernels/stats.cl", include_str!("../../template/kernels/stats.cl")),
];

/// What the demo's files call the program.
pub(crate) const NAME: &str = "example-app";

/// What runs on every device with a driver for OpenCL, and without one; compiling needs clang and PoCL's functions.
pub(crate) const OFFLOAD_TOML: &str = "\
# For which machines the kernels of this workspace are compiled.
# `cargo offload targets add TARGET` edits this list; the next build follows.
targets = [\"host\", \"spirv64\", \"opencl-c\"]
";
