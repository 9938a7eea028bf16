//! `remote`: builds with other machines, all of them on this one.

mod task;

use std::process::ExitCode;

use offload_tests::workspace;

fn main() -> ExitCode {
    workspace::run_task(task::run)
}
