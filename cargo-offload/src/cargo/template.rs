//! The files of a new project: those of the demo, which a test keeps equal; and those of a small start.

/// A file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TemplateFile {
    /// Its path in the package.
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

/// The program, which replaces that of `cargo new`.
pub(crate) const PROGRAM: [TemplateFile; 4] = [
    TemplateFile { name: "src/main.rs", text: include_str!("../../template/src/main.rs") },
    TemplateFile { name: "src/report.rs", text: include_str!("../../template/src/report.rs") },
    TemplateFile { name: "src/tests.rs", text: include_str!("../../template/src/tests.rs") },
    TemplateFile { name: "src/workload.rs", text: include_str!("../../template/src/workload.rs") },
];

/// What a package with kernels has beside its program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernels {
    /// It names the files.
    pub(crate) build_script: TemplateFile,
    pub(crate) files: &'static [TemplateFile],
}

/// The demo's, of the module `demo`.
pub(crate) const DEMO: Kernels = Kernels {
    build_script: TemplateFile { name: "build.rs", text: include_str!("../../template/build.rs") },
    files: &[
        TemplateFile { name: "kernels/blas.cl", text: include_str!("../../template/kernels/blas.cl") },
        TemplateFile { name: "kernels/common.h", text: include_str!("../../template/kernels/common.h") },
        TemplateFile { name: "kernels/stats.cl", text: include_str!("../../template/kernels/stats.cl") },
    ],
};

/// One kernel to start from, of the module `blas`, as the README's steps have it.
pub(crate) const STARTER: Kernels = Kernels {
    build_script: TemplateFile { name: "build.rs", text: include_str!("../../starter/build.rs") },
    files: &[TemplateFile { name: "kernels/blas.cl", text: include_str!("../../starter/kernels/blas.cl") }],
};

/// The program that runs it.
pub(crate) const STARTER_PROGRAM: TemplateFile =
    TemplateFile { name: "src/main.rs", text: include_str!("../../starter/src/main.rs") };

/// What `cargo new` writes there: nobody misses it.
pub(crate) const EMPTY_PROGRAM: &str = "fn main() {\n    println!(\"Hello, world!\");\n}\n";

/// What the demo's files call the program.
pub(crate) const NAME: &str = "example-app";

/// What runs on every device with a driver for OpenCL, and without one; compiling needs clang and PoCL's functions.
pub(crate) const OFFLOAD_TOML: &str = "\
# For which machines the kernels of this workspace are compiled.
# `cargo offload targets add TARGET` edits this list; the next build follows.
targets = [\"host\", \"spirv64\", \"opencl-c\"]
";
