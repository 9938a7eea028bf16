//! Support library of the end-to-end tests and of `cargo xtask`: paths, test skips, the checkout, required tools and copies
//! of fixtures.
//!
//! `cargo xtask test` sets the environment variables that these functions read. Under `CI` a test that would be skipped fails:
//! a green run must have run every test.

pub mod binary;
pub mod drivers;
pub mod error;
pub mod fixture;
pub mod gemm;
pub mod kernel_module;
pub mod processes;
pub mod setup;
pub mod table;
pub mod workspace;

use std::env;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{self, Write};
use std::panic::Location;
use std::path::{Path, PathBuf};

/// Names the directory of the target directories in which fixture projects are built.
pub const TARGET_DIR_VAR: &str = "OFFLOAD_TEST_TARGET_DIR";
/// Names the prefix (with `lib/`) of Intel's OpenCL runtime for CPUs.
pub const INTEL_RUNTIME_VAR: &str = "OFFLOAD_TEST_INTEL_RT";

/// Names the directory of the Python packages that the decoder in Python needs.
pub const PYTHON_PACKAGES_VAR: &str = "OFFLOAD_TEST_PYTHON_PACKAGES";
/// Names the directory of the Python package NumPy.
pub const NUMPY_VAR: &str = "OFFLOAD_TEST_NUMPY";

/// Says which release of LLVM judges containers: 22, or an older one.
pub const LLVM_VAR: &str = "OFFLOAD_INTEROP_LLVM";
/// The release that judges where the variable does not say another.
pub const LLVM: u32 = 22;

/// Names the root of a CUDA toolkit, at least with `ptxas`; offload-build looks at it as well.
pub const CUDA_VAR: &str = "CUDA_PATH";

/// Names the root of the headers of a CUDA toolkit.
pub const CUDA_HEADERS_VAR: &str = "OFFLOAD_TEST_CUDA_HEADERS";

/// Set where tests try everything, and not a sample that takes seconds: the tasks of `cargo xtask` set it.
pub const FULL_VAR: &str = "OFFLOAD_TEST_FULL";

/// The interface of macOS' system library without its functions, for linkers: the format of Apple's SDK.
pub const MACOS_LIBRARY: &str = "\
--- !tapi-tbd
tbd-version: 4
targets: [ x86_64-macos, arm64-macos ]
install-name: '/usr/lib/libSystem.B.dylib'
exports:
  - targets: [ x86_64-macos, arm64-macos ]
    symbols: [ dyld_stub_binder ]
...
";

/// What a line starts with that [`figure`] prints.
pub const FIGURE: &str = "figure: ";

/// Whether a test is to try everything, and not a sample.
pub fn is_full() -> bool {
    env::var_os(FULL_VAR).is_some()
}

/// What a line starts with that [`is_nightly`] prints.
pub const LEFT_TO_NIGHTLY: &str = "left to nightly: ";

/// Whether the calling test is to run although it takes long; else it says that it is left to `cargo xtask nightly`.
///
/// `cargo xtask test` counts these lines.
#[track_caller]
pub fn is_nightly() -> bool {
    if is_full() {
        return true;
    }
    // The test harness captures `println!`, but not writes to the handle.
    let _ = writeln!(io::stdout(), "{LEFT_TO_NIGHTLY}{}", Location::caller());
    false
}

/// Says how much a test has tried, and what it has found: the tasks of `cargo xtask` put these lines into their tables.
pub fn figure(tried: impl Display, found: impl Display) {
    println!("{FIGURE}{tried}; {found}");
}

/// The root of this checkout.
pub fn workspace_root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests).to_path_buf()
}

/// The directory of the target directories for fixture projects.
pub fn fixture_target_dir() -> PathBuf {
    let given = env::var_os(TARGET_DIR_VAR).map(PathBuf::from);
    given.unwrap_or_else(|| workspace_root().join("target").join("fixtures"))
}

/// Finds a program in `PATH`, or says that the calling test is skipped.
///
/// # Panics
/// If the program is missing and the variable `CI` is set.
///
/// ```
/// assert!(offload_tests::require("cargo").is_some());
/// ```
pub fn require(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    find_program(program, &path).or_else(|| skip(&format!("{program} is not installed")))
}

/// The release of LLVM whose tools judge containers.
pub fn judging_llvm() -> u32 {
    env::var(LLVM_VAR).ok().and_then(|release| release.parse().ok()).unwrap_or(LLVM)
}

/// Finds Intel's OpenCL runtime, or says that the calling test is skipped.
///
/// # Panics
/// If it is missing and the variable `CI` is set.
pub fn require_intel_runtime() -> Option<PathBuf> {
    let prefix = env::var_os(INTEL_RUNTIME_VAR).map(PathBuf::from);
    let usable = prefix.filter(|prefix| prefix.join("lib/libintelocl.so").exists());
    usable.or_else(|| skip(&format!("{INTEL_RUNTIME_VAR} names no runtime; `cargo xtask test` installs one")))
}

/// Finds the Python packages that the decoder in Python needs, or says that the calling test is skipped.
///
/// # Panics
/// If they are missing and the variable `CI` is set.
pub fn require_python_packages() -> Option<PathBuf> {
    let packages = env::var_os(PYTHON_PACKAGES_VAR).map(PathBuf::from);
    let usable = packages.filter(|packages| packages.join("zstandard").exists());
    usable.or_else(|| {
        skip(&format!("{PYTHON_PACKAGES_VAR} names no packages; `cargo xtask test` installs them"))
    })
}

/// Finds NumPy, or says that the calling test is skipped.
///
/// # Panics
/// If it is missing and the variable `CI` is set.
pub fn require_numpy() -> Option<PathBuf> {
    let packages = env::var_os(NUMPY_VAR).map(PathBuf::from);
    let usable = packages.filter(|packages| packages.join("numpy").exists());
    usable.or_else(|| skip(&format!("{NUMPY_VAR} names no packages; `cargo xtask test` installs them")))
}

/// Finds NVIDIA's assembler, or says that the calling test is skipped.
///
/// # Panics
/// If it is missing and the variable `CI` is set.
pub fn require_ptxas() -> Option<PathBuf> {
    let root = env::var_os(CUDA_VAR).map(PathBuf::from);
    let ptxas = root.map(|root| root.join("bin/ptxas")).filter(|ptxas| ptxas.exists());
    ptxas.or_else(|| skip(&format!("{CUDA_VAR} names no toolkit; `cargo xtask test` installs one")))
}

/// Finds NVIDIA's headers, or says that the calling test is skipped.
///
/// # Panics
/// If they are missing and the variable `CI` is set.
pub fn require_cuda_headers() -> Option<PathBuf> {
    let root = env::var_os(CUDA_HEADERS_VAR).map(PathBuf::from);
    let usable = root.filter(|root| root.join("include/cuda.h").exists());
    usable.or_else(|| skip(&format!("{CUDA_HEADERS_VAR} names no headers; `cargo xtask test` installs them")))
}

/// Says that the calling test is skipped, and why; `None`, for `let ... else { return }`.
///
/// # Panics
/// If the variable `CI` is set.
pub fn skip<T>(reason: &str) -> Option<T> {
    // The test harness captures `println!`, but not writes to the handle.
    let _ = writeln!(io::stderr(), "skipped: {reason}");
    refuse_in_ci(reason, env::var_os("CI").as_deref());
    None
}

#[allow(clippy::panic, reason = "this is how a test fails")]
fn refuse_in_ci(reason: &str, ci: Option<&OsStr>) {
    if ci.is_some_and(|ci| !ci.is_empty() && ci != "false") {
        panic!("a test would be skipped in CI: {reason}");
    }
}

fn find_program(program: &str, path: &OsStr) -> Option<PathBuf> {
    env::split_paths(path).map(|dir| dir.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipping_is_fine_on_a_desk() {
        refuse_in_ci("no such tool", None);
        refuse_in_ci("no such tool", Some(OsStr::new("false")));
    }

    #[test]
    #[should_panic(expected = "no such tool")]
    fn skipping_fails_in_ci() {
        refuse_in_ci("no such tool", Some(OsStr::new("true")));
    }

    #[test]
    fn programs_are_files_in_path() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("folder")).unwrap();
        std::fs::write(dir.path().join("tool"), "").unwrap();
        assert_eq!(find_program("tool", dir.path().as_os_str()), Some(dir.path().join("tool")));
        assert_eq!(find_program("folder", dir.path().as_os_str()), None);
    }

    #[test]
    fn root_holds_the_workspace() {
        assert!(workspace_root().join("tests/Cargo.toml").is_file());
    }
}
