//! The command sequence of a new user, with the expected outcome of each command.

use std::fs;
use std::path::Path;

use offload_tests::error::Result;

/// A command with its expected outcome.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The name of its screen.
    pub(super) name: String,
    /// A line of the shell.
    pub(super) command: String,
    /// Where, below the user's directory.
    pub(super) directory: &'static str,
    /// Files that the user writes before, below the user's directory.
    pub(super) files: Vec<(&'static str, &'static str)>,
    pub(super) end: End,
    pub(super) lines: Lines,
    /// What the user has to read.
    pub(super) says: Vec<&'static str>,
}

/// How a command should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Well,
    Badly,
    /// It depends on the machine.
    Either,
}

/// How wide its lines may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// None is wider than the screen.
    Fit,
    /// Sentences are as long as they are, and the terminal wraps them.
    Any,
}

/// The package that the user makes.
const PACKAGE: &str = "hello";

const BROKEN: &str = "__kernel void twice(__global float *x) {\n  x[get_global_id(0)] *= two;\n}\n";
const UNDEFINED: &str = "float doubled(float x);\n__kernel void twice(__global float *x) {\n  x[get_global_id(0)] = doubled(x[0]);\n}\n";
const NAMED: &str = "__kernel void dot(__global float *x) {\n  x[get_global_id(0)] *= 2;\n}\n";
const TWICE: &str = "__kernel void twice(__global float *x) {\n  x[get_global_id(0)] *= 2;\n}\n";
const HALF: &str = "#include <cuda_fp16.h>\n\nextern \"C\" __global__ void halve(__half *x) {\n  x[threadIdx.x] *= __float2half(0.5f);\n}\n";
const TWO_FILES: &str = "fn main() {\n    offload_build::Build::new().file(\"kernels/blas.cl\").file(\"kernels/stats.cl\").file(\"kernels/twice.cl\").compile(\"demo\");\n}\n";
const WITH_CUDA: &str = "fn main() {\n    offload_build::Build::new().file(\"kernels/blas.cl\").file(\"kernels/stats.cl\").compile(\"demo\");\n    offload_build::Build::new().file(\"kernels/half.cu\").compile(\"half\");\n}\n";
const AS_MADE: &str = "fn main() {\n    offload_build::Build::new().file(\"kernels/blas.cl\").file(\"kernels/stats.cl\").compile(\"demo\");\n}\n";

/// All steps, with the crates of the checkout in `root`.
pub(super) fn all(root: &Path) -> Vec<Step> {
    let new = format!("cargo offload new {PACKAGE} --checkout {}", root.display());
    let mut steps = first_look(&new);
    steps.extend(looking());
    steps.extend(mistakes());
    steps.extend(larger());
    steps.extend(own_package());
    for (number, step) in steps.iter_mut().enumerate() {
        step.name = format!("{:02}-{}", number.saturating_add(1), step.name);
    }
    steps
}

/// From nothing to a program that runs.
fn first_look(new: &str) -> Vec<Step> {
    vec![
        Step::new("help", "cargo offload --help").below("").fits(),
        Step::new("help-build", "cargo offload build --help").below("").fits(),
        Step::new("outside", "cargo offload inspect")
            .below("")
            .fails(&["could not find `Cargo.toml`", "hint: "]),
        Step::new("new", new).below("").says(&["cd hello", "cargo offload doctor", "cargo offload run"]),
        Step::new("doctor", "cargo offload doctor").fits().either(),
        Step::new("doctor-cuda", "cargo offload doctor cuda")
            .either()
            .says(&["cuda-sdk = true", "cargo offload toolchain install cuda-headers"]),
        Step::new("build", "cargo offload build").says(&["Finished"]),
        Step::new("run", "cargo offload run").says(&["all results are right"]),
    ]
}

/// What the program has.
fn looking() -> Vec<Step> {
    vec![
        Step::new("inspect", "cargo offload inspect").fits().says(&["spirv64", "opencl-c"]),
        Step::new("report", "cargo offload report").fits().says(&["matmul"]),
        Step::new("size", "cargo offload size").fits(),
        Step::new("verify", "cargo offload verify"),
        Step::new("devices", "cargo offload devices"),
        Step::new("asm", "cargo offload asm saxpy"),
        Step::new("compression", "cargo offload compression").fits().says(&["balanced"]),
        Step::new("targets", "cargo offload targets").fits().says(&["spirv64"]),
        Step::new("page", "cargo offload report --html page.html && ls -l page.html"),
    ]
}

/// What goes wrong in the first hour.
fn mistakes() -> Vec<Step> {
    vec![
        Step::new("misspelt", "cargo offload inspekt").fails(&["inspect"]),
        Step::new("wrong-target", "cargo offload targets add intel:pcv").fails(&["intel:pvc"]),
        Step::new("broken-kernel", "cargo offload build")
            .files(with_twice(BROKEN))
            .fails(&["kernels/twice.cl:2:", "use of undeclared identifier 'two'"]),
        Step::new("built-in-name", "cargo offload build")
            .files(with_twice(NAMED))
            .says(&["kernel `dot` has the name of a built-in function"]),
        Step::new("target-added", "cargo offload targets add nvptx:sm_75").says(&["added nvptx:sm_75"]),
        Step::new("no-definition", "cargo offload build").files(with_twice(UNDEFINED)).fails(&[
            "kernels/twice.cl:3: `doubled` has no definition for",
            "`nvptx:sm_75`",
            "hint: ",
        ]),
        Step::new("mended", "cargo offload build").files(with_twice(TWICE)).says(&["Finished"]),
        Step::new("missing-header", "cargo offload build")
            .files(vec![("hello/build.rs", WITH_CUDA), ("hello/kernels/half.cu", HALF)])
            .fails(&["'cuda_fp16.h' file not found", "cargo offload toolchain install cuda-headers"]),
        Step::new("no-such-image", "cargo offload report --for amdgcn:gfx90a")
            .files(vec![("hello/build.rs", AS_MADE)])
            .fails(&["no image matches"]),
    ]
}

/// The files of a package with this third kernel file.
fn with_twice(text: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![("hello/build.rs", TWO_FILES), ("hello/kernels/twice.cl", text)]
}

/// With more targets the tables get longer.
fn larger() -> Vec<Step> {
    vec![
        Step::new("many-targets", "cargo offload targets add intel:pvc amdgcn:gfx90a amdgcn:gfx1100")
            .files(vec![("hello/build.rs", AS_MADE)]),
        Step::new("many-inspect", "cargo offload inspect").fits().says(&["amdgcn:gfx1100", "intel:pvc"]),
        Step::new("many-report", "cargo offload report").fits().says(&["histogram  ", "target"]),
        Step::new("many-size", "cargo offload size").fits(),
    ]
}

/// Kernels in a package that is there; the dependencies are those of the first one.
fn own_package() -> Vec<Step> {
    vec![
        Step::new("cargo-new", "cargo new --quiet --vcs none own").below(""),
        Step::new("init", "cargo offload init")
            .below("own")
            .says(&["next: `cargo offload doctor`", "`cargo run`"]),
        Step::new("init-run", "CARGO_TARGET_DIR=../hello/target cargo run")
            .below("own")
            .says(&["3 * 1 + 2 = 5"]),
        Step::new("other-targets", "OFFLOAD_TARGETS=host,spirv64 cargo build").says(&["Finished"]),
    ]
}

/// Writes the files of a step.
pub(super) fn write_files(step: &Step, home: &Path) -> Result<()> {
    for (name, text) in &step.files {
        fs::write(home.join(name), text)?;
    }
    Ok(())
}

impl Step {
    /// A command in the package that has to end well.
    pub(super) fn new(name: &str, command: &str) -> Step {
        Step {
            name: name.to_string(),
            command: command.to_string(),
            directory: PACKAGE,
            files: Vec::new(),
            end: End::Well,
            lines: Lines::Any,
            says: Vec::new(),
        }
    }

    fn below(self, directory: &'static str) -> Step {
        Step { directory, ..self }
    }

    fn fits(self) -> Step {
        Step { lines: Lines::Fit, ..self }
    }

    fn either(self) -> Step {
        Step { end: End::Either, ..self }
    }

    fn says(self, says: &[&'static str]) -> Step {
        Step { says: says.to_vec(), ..self }
    }

    fn fails(self, says: &[&'static str]) -> Step {
        Step { end: End::Badly, ..self.says(says) }
    }

    fn files(self, files: Vec<(&'static str, &'static str)>) -> Step {
        Step { files, ..self }
    }
}
