//! The example from end to end: which image each device gets, and that its results are right.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::support;

/// The example, built once for all tests.
fn example() -> PathBuf {
    static BUILT: OnceLock<tempfile::TempDir> = OnceLock::new();
    BUILT.get_or_init(build).path().join("example-app")
}

/// Held while cargo's program is built and used: a build with other variables replaces it.
static CARGOS_PROGRAM: Mutex<()> = Mutex::new(());

/// A directory with a copy of the program.
fn build() -> tempfile::TempDir {
    let _alone = CARGOS_PROGRAM.lock().unwrap_or_else(PoisonError::into_inner);
    // Development builds compress nothing.
    let mut cargo = support::build_of_workspace("example-app");
    let output = cargo.env("OFFLOAD_COMPRESSION", "fast").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let directory = tempfile::tempdir().unwrap();
    let program = support::program_of_workspace(&output.stdout, "example-app");
    support::program::copy(&program, &directory.path().join("example-app"));
    directory
}

/// A private copy, to be damaged.
fn copy_of_example(dir: &tempfile::TempDir) -> PathBuf {
    let copy = dir.path().join("example-app");
    support::program::copy(&example(), &copy);
    copy
}

/// Runs `program` where the OpenCL loader finds exactly the named driver.
fn run(program: PathBuf, device: &str, driver: &Driver) -> Output {
    let mut command = Command::new(program);
    command.arg(device).env_remove("OCL_ICD_FILENAMES").env("OCL_ICD_VENDORS", "/nonexistent");
    match driver {
        Driver::None => {}
        Driver::Pocl => {
            command.env("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd");
        }
        Driver::Intel(prefix) => {
            let lib = prefix.join("lib");
            command.env("LD_LIBRARY_PATH", &lib).env("OCL_ICD_FILENAMES", lib.join("libintelocl.so"));
        }
    }
    command.output().unwrap()
}

enum Driver {
    None,
    Pocl,
    Intel(PathBuf),
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

/// The lines about one device: its name to the next empty line.
fn section<'a>(text: &'a str, device: &str) -> Vec<&'a str> {
    let mut lines = text.lines().skip_while(|line| line.starts_with(' ') || !line.contains(device));
    lines.by_ref().take_while(|line| !line.is_empty()).collect()
}

fn assert_all_right(section: &[&str]) {
    for kernel in ["saxpy", "matmul", "reduce", "histogram"] {
        let line = section.iter().find(|line| line.trim_start().starts_with(kernel));
        assert!(line.is_some_and(|line| line.contains("right")), "{kernel}: {section:#?}");
    }
}

fn picked<'a>(section: &[&'a str]) -> &'a str {
    let line = section.iter().find(|line| line.contains("picked:")).unwrap_or_else(|| panic!("{section:#?}"));
    line.split_whitespace().next().unwrap()
}

#[test]
fn the_cpu_needs_no_driver() {
    let output = run(example(), "", &Driver::None);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let host = section(&text, "host CPU");
    assert_eq!(picked(&host), "host", "{text}");
    assert_all_right(&host);
    // The table of images: the five targets of offload.toml, compressed.
    for target in ["host", "spirv64", "intel:pvc", "intel:acm-g10", "opencl-c"] {
        let line = text.lines().find(|line| line.starts_with(target)).unwrap();
        let sizes: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert!(sizes[0] > 0 && sizes[0] < sizes[1], "{line}");
    }
}

#[test]
fn rust_and_gcc_alone_build_it_with_vendored_images() {
    let _alone = CARGOS_PROGRAM.lock().unwrap_or_else(PoisonError::into_inner);
    let cache = tempfile::tempdir().unwrap();
    let mut cargo = support::build_of_workspace("example-app");
    cargo.env("OFFLOAD_CACHE_DIR", cache.path());
    // Tools are looked for in fixed places too, whatever PATH says.
    for tool in ["CLANG", "LLVM_LINK", "LLD", "OCLOC", "SPIRV_VAL", "POCL_DIR"] {
        cargo.env(format!("OFFLOAD_{tool}"), "/nonexistent");
    }
    let built = cargo.output().unwrap();
    assert!(built.status.success(), "{}", text(&built));
    assert!(text(&built).contains("the images of `demo` for `host`, `spirv64`"), "{}", text(&built));
    let program = support::program_of_workspace(&built.stdout, "example-app");
    let output =
        Command::new(program).env("OCL_ICD_VENDORS", "/nonexistent").env_remove("OCL_ICD_FILENAMES").output();
    let output = output.unwrap();
    let text = text(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let host = section(&text, "host CPU");
    assert_eq!(picked(&host), "host", "{text}");
    assert_all_right(&host);
}

#[test]
fn pocl_gets_source() {
    if !std::path::Path::new("/etc/OpenCL/vendors/pocl.icd").exists() {
        offload_tests::skip::<()>("PoCL is not installed");
        return;
    }
    let output = run(example(), "OpenCL", &Driver::Pocl);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let device = section(&text, "OpenCL device");
    assert_eq!(picked(&device), "opencl-c", "{text}");
    assert!(device.iter().any(|line| line.contains("spirv64") && line.contains("refused")), "{text}");
    assert_all_right(&device);
}

#[test]
fn intels_runtime_gets_spirv() {
    let Some(prefix) = offload_tests::require_intel_runtime() else { return };
    let driver = Driver::Intel(prefix);
    let output = run(example(), "OpenCL", &driver);
    let good = text(&output);
    assert_eq!(output.status.code(), Some(0), "{good}");
    let device = section(&good, "OpenCL device");
    assert_eq!(picked(&device), "spirv64", "{good}");
    assert!(device.iter().any(|line| line.contains("intel:pvc") && line.contains("refused")), "{good}");
    assert_all_right(&device);

    // It really was that image: a damaged one fails, and no other is taken instead.
    let dir = tempfile::tempdir().unwrap();
    let damaged = copy_of_example(&dir);
    support::damage(&damaged, "spirv64");
    let output = run(damaged, "OpenCL", &driver);
    let bad = text(&output);
    assert_eq!(output.status.code(), Some(1), "{bad}");
    assert!(!bad.contains("right  "), "{bad}");
}

#[test]
fn a_damaged_image_is_never_run() {
    let dir = tempfile::tempdir().unwrap();
    let damaged = copy_of_example(&dir);
    support::damage(&damaged, "host");
    let output = run(damaged, "", &Driver::None);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(!text.contains("right  "), "{text}");
}

#[test]
fn no_device_is_said_with_what_was_looked_for() {
    let output = run(example(), "no such device", &Driver::None);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("no device to run on: looked for the CPU and for OpenCL devices"), "{text}");
    assert!(text.contains("no OpenCL: "), "{text}");
}
