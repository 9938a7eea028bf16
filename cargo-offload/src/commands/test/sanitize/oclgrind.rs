//! Oclgrind: an OpenCL device that is a simulator, and says what kernels do that they must not
//! (<https://github.com/jrprice/Oclgrind/wiki>).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use offload_protocol::variable;

use super::oclgrind_log::{self, Log};
use super::report;
use crate::commands::test::outcome::{End, Outcome};
use crate::commands::test::place::{Place, Watcher};
use crate::commands::test::process::{self, Done, Run};
use crate::error::{Error, Result};

/// What `--device` calls it.
pub(super) const LABEL: &str = "oclgrind";
/// A part of the name that the device has, so that a test that finds another one is refused there.
const DEVICE: &str = "Oclgrind Simulator";

/// The file that OpenCL's loader opens.
const LIBRARY: &str = "liboclgrind-rt-icd.so";

/// Where the library may be of the Oclgrind that has this program.
pub(super) fn libraries(program: &Path) -> Vec<PathBuf> {
    let root = program.parent().and_then(Path::parent).unwrap_or(Path::new("/usr"));
    // Debian's package has it in a folder of its own.
    ["lib/oclgrind", "lib", "lib64"].map(|dir| root.join(dir).join(LIBRARY)).into()
}

/// The device behind `library`.
pub(super) fn place(library: PathBuf) -> Place {
    Place {
        label: LABEL.to_string(),
        device: DEVICE.to_string(),
        name: DEVICE.to_string(),
        description: format!("{DEVICE} (takes OpenCL C 1.2)"),
        watcher: Watcher::Oclgrind(library),
    }
}

/// Runs a test where Oclgrind is the only OpenCL device.
pub(super) fn run(library: &Path, run: Run<'_>) -> Result<Done> {
    let failed = |error| Error::io("write to", Path::new("the temporary directory"), &error);
    let folder = tempfile::Builder::new().prefix("offload-oclgrind-").tempdir().map_err(failed)?;
    let log = folder.path().join("log");
    let registration = folder.path().join("oclgrind.icd");
    fs::write(&registration, library.as_os_str().as_encoded_bytes()).map_err(failed)?;
    let env = environment(folder.path(), &log);
    let done = process::run(&Run { env: &env, ..run })?;
    // Without a message there is no file.
    let said = fs::read(&log).map(|bytes| oclgrind_log::read(&String::from_utf8_lossy(&bytes)));
    let Log { reports, limit } = said.unwrap_or_default();
    match reports.as_slice() {
        [] => Ok(Done { end: judged(done.end, limit), ..done }),
        reports => Ok(report::added(done, reports)),
    }
}

/// What makes the drivers that `vendors` registers the only ones, and Oclgrind look at accesses, races and barriers and write
/// to `log`.
///
/// `OCLGRIND_UNINITIALIZED` stays unset: of release 21.10, it calls data unwritten that came through mapped memory, and
/// pointers that a kernel has stored. `OCLGRIND_CHECK_API` does too: errors of calls are the test's to tell.
fn environment(vendors: &Path, log: &Path) -> Vec<(&'static str, OsString)> {
    let text = |name, value: &str| (name, OsString::from(value));
    vec![
        // Khronos's loader and ocl-icd take a directory, and files beside it.
        (variable::OCL_ICD_VENDORS, vendors.into()),
        text("OCL_ICD_FILENAMES", ""),
        ("OCLGRIND_LOG", log.into()),
        text("OCLGRIND_DATA_RACES", "1"),
        // Each work-item tells of the same mistake: the second mistake would be behind the usual 1000 messages.
        text("OCLGRIND_MAX_ERRORS", "20000"),
        // As GPUs have it; it would be half.
        text("OCLGRIND_LOCAL_MEM_SIZE", "65536"),
        // Which of two work-items comes first is the same in each run.
        text("OCLGRIND_NUM_THREADS", "1"),
    ]
}

/// The end of a test of which Oclgrind has no report. What its front end or its simulator does not know is no mistake of a
/// kernel.
fn judged(end: End, limit: Option<String>) -> End {
    let is_unbuilt = || end.problem.as_deref().is_some_and(|problem| problem.contains(": cannot build "));
    match (limit, end.outcome) {
        (Some(limit), _) => End::because(Outcome::Refused, format!("Oclgrind cannot run it: {limit}")),
        (None, Outcome::Failed) if is_unbuilt() => End { outcome: Outcome::Refused, ..end },
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

    #[test]
    fn what_oclgrind_cannot_do_is_refused() {
        let failed = |problem: &str| End::because(Outcome::Failed, problem);
        let unbuilt = "device Oclgrind Simulator: cannot build an image: CL_BUILD_PROGRAM_FAILURE\nerror";
        let end = judged(failed(unbuilt), None);
        assert_eq!((end.outcome, end.problem.as_deref()), (Outcome::Refused, Some(unbuilt)));
        let end = judged(failed("no kernel"), Some("Undefined external function: f".into()));
        assert_eq!(end.outcome, Outcome::Refused);
        assert_eq!(end.problem.unwrap(), "Oclgrind cannot run it: Undefined external function: f");
        assert_eq!(judged(failed("wrong"), None).outcome, Outcome::Failed);
    }
}
