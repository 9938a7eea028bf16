//! Oclgrind, an OpenCL device simulator that reports errors of kernels (<https://github.com/jrprice/Oclgrind/wiki>).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use offload_protocol::variable;

use super::oclgrind_log::{self, Log};
use super::report;
use crate::commands::test::device::{DeviceUnderTest, Observer};
use crate::commands::test::outcome::{Outcome, TestResult};
use crate::commands::test::process::{self, Run, TestRun};
use crate::error::{IoContext, Result};

/// Name for `--device`.
pub(super) const LABEL: &str = "oclgrind";
/// A part of the name that the device has, so that a test that finds another one is refused there.
const DEVICE: &str = "Oclgrind Simulator";

/// The file that OpenCL's loader opens.
const LIBRARY: &str = "liboclgrind-rt-icd.so";

/// Possible paths of the library that belongs to this program of Oclgrind.
pub(super) fn libraries(program: &Path) -> Vec<PathBuf> {
    let root = program.parent().and_then(Path::parent).unwrap_or(Path::new("/usr"));
    // Debian's package has it in a folder of its own.
    ["lib/oclgrind", "lib", "lib64"].map(|dir| root.join(dir).join(LIBRARY)).into()
}

/// The device behind `library`.
pub(super) fn place(library: PathBuf) -> DeviceUnderTest {
    DeviceUnderTest {
        label: LABEL.to_string(),
        device: DEVICE.to_string(),
        name: DEVICE.to_string(),
        description: format!("{DEVICE} (takes OpenCL C 1.2)"),
        watcher: Observer::Oclgrind(library),
    }
}

/// Runs a test where Oclgrind is the only OpenCL device.
pub(super) fn run(library: &Path, run: Run<'_>) -> Result<TestRun> {
    let folder = tempfile::Builder::new()
        .prefix("offload-oclgrind-")
        .tempdir()
        .io_context("write to", "the temporary directory")?;
    let log = folder.path().join("log");
    let registration = folder.path().join("oclgrind.icd");
    fs::write(&registration, library.as_os_str().as_encoded_bytes())
        .io_context("write to", "the temporary directory")?;
    let env = environment(folder.path(), &log);
    let done = process::run(&Run { env: &env, ..run })?;
    // Without a message there is no file.
    let log = fs::read(&log).map(|bytes| oclgrind_log::read(&String::from_utf8_lossy(&bytes)));
    let Log { reports, limit } = log.unwrap_or_default();
    match reports.as_slice() {
        [] => Ok(TestRun { end: apply_limit(done.end, limit), ..done }),
        reports => Ok(report::add_reports(done, reports)),
    }
}

/// Environment that registers only the drivers in `vendors`, and has Oclgrind check accesses, races and barriers, and write
/// to `log`.
///
/// `OCLGRIND_UNINITIALIZED` stays unset: of release 21.10, it calls data unwritten that came through mapped memory, and
/// pointers that a kernel has stored. `OCLGRIND_CHECK_API` does too: errors of calls are the test's to tell.
fn environment(vendors: &Path, log: &Path) -> Vec<(&'static str, OsString)> {
    vec![
        // Khronos's loader and ocl-icd take a directory, and files beside it.
        (variable::OCL_ICD_VENDORS, vendors.into()),
        ("OCL_ICD_FILENAMES", OsString::from("")),
        ("OCLGRIND_LOG", log.into()),
        ("OCLGRIND_DATA_RACES", OsString::from("1")),
        // Each work-item tells of the same mistake: the second mistake would be behind the usual 1000 messages.
        ("OCLGRIND_MAX_ERRORS", OsString::from("20000")),
        // As GPUs have it; it would be half.
        ("OCLGRIND_LOCAL_MEM_SIZE", OsString::from("65536")),
        // Which of two work-items comes first is the same in each run.
        ("OCLGRIND_NUM_THREADS", OsString::from("1")),
    ]
}

/// The end of a test of which Oclgrind has no report. What its front end or its simulator does not know is no mistake of a
/// kernel.
fn apply_limit(end: TestResult, limit: Option<String>) -> TestResult {
    let is_unbuilt = end.problem.as_deref().is_some_and(|problem| problem.contains(": cannot build "));
    match (limit, end.outcome) {
        (Some(limit), _) => TestResult::because(Outcome::Refused, format!("Oclgrind cannot run it: {limit}")),
        (None, Outcome::Failed) if is_unbuilt => TestResult { outcome: Outcome::Refused, ..end },
        (None, _) => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_child_sees_oclgrind_alone() {
        let env = environment(Path::new("/t"), Path::new("/t/log"));
        let of =
            |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_os_str());
        assert_eq!(of(variable::OCL_ICD_VENDORS).unwrap(), "/t");
        assert_eq!(of("OCL_ICD_FILENAMES").unwrap(), "");
        assert_eq!(of("OCLGRIND_LOG").unwrap(), "/t/log");
        assert_eq!(of("OCLGRIND_DATA_RACES").unwrap(), "1");
        assert_eq!(of("OCLGRIND_UNINITIALIZED"), None);
    }

    #[test]
    fn libraries_are_below_the_prefix() {
        let places = libraries(Path::new("/opt/o/bin/oclgrind"));
        assert_eq!(places[0], Path::new("/opt/o/lib/oclgrind/liboclgrind-rt-icd.so"));
        assert_eq!(places.len(), 3);
    }

    fn failed(problem: &str) -> TestResult {
        TestResult::because(Outcome::Failed, problem)
    }

    #[test]
    fn what_oclgrind_cannot_do_is_refused() {
        let unbuilt = "device Oclgrind Simulator: cannot build an image: CL_BUILD_PROGRAM_FAILURE\nerror";
        let end = apply_limit(failed(unbuilt), None);
        assert_eq!((end.outcome, end.problem.as_deref()), (Outcome::Refused, Some(unbuilt)));
        let end = apply_limit(failed("no kernel"), Some("Undefined external function: f".into()));
        assert_eq!(end.outcome, Outcome::Refused);
        assert_eq!(end.problem.unwrap(), "Oclgrind cannot run it: Undefined external function: f");
        assert_eq!(apply_limit(failed("wrong"), None).outcome, Outcome::Failed);
    }
}
