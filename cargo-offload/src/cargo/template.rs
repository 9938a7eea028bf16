//! Files of a new project: the demo, which a test keeps equal to `example-app`, and a minimal starter.

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

/// Files of a package with kernels, without its program.
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

/// The program that `cargo new` writes, which is safe to replace.
pub(crate) const EMPTY_PROGRAM: &str = "fn main() {\n    println!(\"Hello, world!\");\n}\n";

/// Name of the program in the demo's files.
pub(crate) const NAME: &str = "example-app";

/// Default targets: they run on every OpenCL device and on the CPU, and require clang and PoCL's built-in functions.
pub(crate) const OFFLOAD_TOML: &str = "\
# For which machines the kernels of this workspace are compiled.
# `cargo offload targets add TARGET` edits this list; the next build follows.
targets = [\"host\", \"spirv64\", \"opencl-c\"]
";
