//! The files of a new project: those of the demo, which a test keeps equal.

/// A file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TemplateFile {
    /// Its path in the package.
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

/// The program, which replaces that of `cargo new`.
pub(crate) const PROGRAM: [TemplateFile; 3] = [
    TemplateFile { name: "src/main.rs", text: include_str!("../../template/src/main.rs") },
    TemplateFile { name: "src/report.rs", text: include_str!("../../template/src/report.rs") },
    TemplateFile { name: "src/workload.rs", text: include_str!("../../template/src/workload.rs") },
];

/// The build script, which names the kernels.
pub(crate) const BUILD_SCRIPT: TemplateFile =
    TemplateFile { name: "build.rs", text: include_str!("../../template/build.rs") };

/// The kernels that the build script names, and their header.
pub(crate) const KERNELS: [TemplateFile; 3] = [
    TemplateFile { name: "kernels/blas.cl", text: include_str!("../../template/kernels/blas.cl") },
    TemplateFile { name: "kernels/common.h", text: include_str!("../../template/kernels/common.h") },
    TemplateFile { name: "kernels/stats.cl", text: include_str!("../../template/kernels/stats.cl") },
];

/// What the demo's files call the program.
pub(crate) const NAME: &str = "example-app";

/// What runs on every device with a driver for OpenCL, and without one; compiling needs clang and PoCL's functions.
pub(crate) const OFFLOAD_TOML: &str = "\
# For which machines the kernels of this workspace are compiled.
# `cargo offload targets add TARGET` edits this list; the next build follows.
targets = [\"host\", \"spirv64\", \"opencl-c\"]
";
