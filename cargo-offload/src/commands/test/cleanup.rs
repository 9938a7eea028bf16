//! Cleanup of processes that tests leave behind.

use std::path::Path;

/// Ends the processes whose `variable` names `path`.
#[cfg(target_os = "linux")]
pub(in crate::commands) fn end(variable: &'static str, path: &Path) {
    use crate::processes::Mark;
    use offload_protocol::variable::TEST_RESULTS;

    if let Some(value) = path.to_str().map(str::to_string) {
        end_all(&Mark { variable, value, anywhere: TEST_RESULTS });
    }
}

/// Ends the processes that were started by tests of this process.
#[cfg(target_os = "linux")]
pub(super) fn end_own() {
    end_all(&crate::cargo::watch::own_mark());
}

#[cfg(target_os = "linux")]
fn end_all(mark: &crate::processes::Mark) {
    crate::processes::end_all(mark, std::time::Duration::ZERO);
}

/// Elsewhere no process can list the others with their environments.
#[cfg(not(target_os = "linux"))]
pub(in crate::commands) fn end(_variable: &'static str, _path: &Path) {}

#[cfg(not(target_os = "linux"))]
pub(super) fn end_own() {}
