//! The processes of a task, which end with it, also where it is killed: `cargo test` starts hundreds.

#[cfg(target_os = "linux")]
#[path = "../../../cargo-offload/src/processes.rs"]
mod processes;

#[cfg(not(target_os = "linux"))]
use std::process::ExitCode;

#[cfg(not(target_os = "linux"))]
pub(crate) fn run(task: fn() -> ExitCode) -> ExitCode {
    task()
}

#[cfg(target_os = "linux")]
pub(crate) use self::system::run;

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, ExitCode, Stdio};
    use std::thread;
    use std::time::Duration;

    use rustix::process::{Pid, getppid};

    use super::processes::{Mark, end_all};

    /// What the processes of a task have in their environment.
    const VARIABLE: &str = "OFFLOAD_XTASK_RUN";
    /// The first argument of the process that watches another one.
    const WATCH: &str = "--watch-run";
    const TICK: Duration = Duration::from_millis(50);
    const PATIENCE: Duration = Duration::from_secs(2);

    /// Runs `task` in a process of its own, and ends what it has started and left.
    pub(crate) fn run(task: fn() -> ExitCode) -> ExitCode {
        let args: Vec<String> = std::env::args().skip(1).collect();
        if let [first, parent, value] = args.as_slice()
            && first == WATCH
        {
            watch(parent.parse().unwrap_or(0), value);
            return ExitCode::SUCCESS;
        }
        // A task within a task is a part of it.
        if std::env::var_os(VARIABLE).is_some() {
            return task();
        }
        aside(&args).unwrap_or_else(|error| {
            eprintln!("error: cannot run this program again: {error}");
            ExitCode::FAILURE
        })
    }

    fn aside(args: &[String]) -> io::Result<ExitCode> {
        let own = std::env::current_exe()?;
        let value = Mark::own_value();
        let mut watch = Command::new(&own);
        watch.args([WATCH, &std::process::id().to_string(), &value]).env(VARIABLE, "").process_group(0);
        watch.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut watch = watch.spawn()?;
        let status = Command::new(own).args(args).env(VARIABLE, &value).status();
        end_all(&mark(&value), Duration::ZERO);
        // It has nothing to do any more.
        let _ = watch.kill();
        let _ = watch.wait();
        Ok(offload_tests::workspace::exit_code(status?))
    }

    /// Waits until the parent has ended, and then ends what the parent has started.
    fn watch(parent: i32, value: &str) {
        while Pid::as_raw(getppid()) == parent {
            thread::sleep(TICK);
        }
        end_all(&mark(value), PATIENCE);
    }

    /// No service that others use is started by a task: what has made a session of its own ends too.
    fn mark(value: &str) -> Mark {
        Mark { variable: VARIABLE, value: value.to_string(), anywhere: VARIABLE }
    }
}
