//! Watchdog process that ends the descendants of a cargo run if this process dies first.
//!
//! This process cannot clean up when it is killed, so a second process watches it. The watchdog is in a process group
//! of its own, where Ctrl-C does not reach it.

#![allow(clippy::disallowed_methods, reason = "reads the environment and starts processes")]

use std::ffi::OsString;

use offload_protocol::variable;

#[cfg(all(target_os = "linux", feature = "devices"))]
pub(crate) use self::system::own_mark;
pub(crate) use self::system::{Watch, run};

/// The value of [`variable::RUN_ID`] for processes that this one starts: its own, and that of runs that it is a part of.
pub(crate) fn value_for_children() -> OsString {
    let own = system::own_value();
    match std::env::var(variable::RUN_ID) {
        Ok(others) if !others.is_empty() => format!("{others}:{own}").into(),
        _ => own.into(),
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};
    use std::thread;
    use std::time::Duration;

    use offload_protocol::variable;
    use rustix::process::{Pid, getppid};

    use crate::cli;
    use crate::processes::{Mark, end_all};

    /// Polling interval for the parent process.
    const TICK: Duration = Duration::from_millis(50);
    /// Grace period before processes are killed.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// The mark that all processes of this run inherit.
    pub(crate) fn own_mark() -> Mark {
        Mark { variable: variable::RUN_ID, value: own_value(), anywhere: variable::TEST_RESULTS }
    }

    pub(super) fn own_value() -> String {
        Mark::own_value()
    }

    /// A process that watches this one, until this is dropped.
    #[derive(Debug)]
    pub(crate) struct Watch(Option<Child>);

    impl Watch {
        /// Without a watch, everything works as long as this process is not killed.
        pub(crate) fn start() -> Watch {
            let Ok(program) = std::env::current_exe() else { return Watch(None) };
            let mut command = Command::new(program);
            command.args(["offload", "watch-run", "--parent", &std::process::id().to_string()]);
            command.args(["--run", &own_mark().value]).current_dir("/");
            // Who reads what this process prints, to its end, does not wait for that one.
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            Watch(command.env(variable::RUN_ID, "").process_group(0).spawn().ok())
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            if let Some(child) = &mut self.0 {
                // It has nothing to do any more.
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }

    /// Waits until the parent has ended, and then ends what the parent has started.
    pub(crate) fn run(args: &cli::WatchRun) {
        while Pid::as_raw(getppid()) == args.parent {
            thread::sleep(TICK);
        }
        end_all(&Mark { value: args.run.clone(), ..own_mark() }, PATIENCE);
    }
}

/// Elsewhere no process can list the others with their environments.
#[cfg(not(target_os = "linux"))]
mod system {
    use crate::cli;

    #[derive(Debug)]
    pub(crate) struct Watch;

    impl Watch {
        pub(crate) fn start() -> Watch {
            Watch
        }
    }

    pub(super) fn own_value() -> String {
        std::process::id().to_string()
    }

    pub(crate) fn run(_args: &cli::WatchRun) {}
}
