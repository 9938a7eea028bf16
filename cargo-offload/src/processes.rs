//! Cleanup of the processes that carry this run's mark in their environment, and of their descendants.
//!
//! A process group is not enough: tests and shells create groups of their own, and orphans become children of init.
//! The environment is inherited all the same. `cargo xtask` includes this file, so that it uses nothing of the crate.

// Where `cargo xtask` takes this file by its path, it would look for the other one elsewhere.
#[path = "processes/table.rs"]
mod table;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

pub(crate) use self::table::Mark;
use self::table::{Process, Table};

/// Interval of the checks whether processes have exited.
const TICK: Duration = Duration::from_millis(10);
/// A process may start others while it is looked for. More rounds than this need one that does nothing else.
const ROUNDS: usize = 50;

/// Asks the processes with `mark` to end, and kills those that are there after `patience`.
pub(crate) fn end_all(mark: &Mark, patience: Duration) {
    let mut known = BTreeMap::new();
    let deadline = Instant::now().checked_add(patience);
    if !patience.is_zero() {
        for process in find_processes(mark, &mut known) {
            send(process, Signal::TERM);
        }
        while deadline.is_some_and(|deadline| Instant::now() < deadline) {
            if find_processes(mark, &mut known).is_empty() {
                return;
            }
            std::thread::sleep(TICK);
        }
    }
    for _ in 0..ROUNDS {
        let left = find_processes(mark, &mut known);
        if left.is_empty() {
            return;
        }
        for process in left {
            send(process, Signal::KILL);
        }
        std::thread::sleep(TICK);
    }
}

/// Those that are there. A process that was `known` counts although its parent, which has the mark, has ended since.
fn find_processes(mark: &Mark, known: &mut BTreeMap<i32, u64>) -> Vec<i32> {
    let table = Table::read(mark);
    for process in table.members() {
        known.insert(process.pid, process.start);
    }
    let is_there =
        |pid: &i32| table.get(*pid).is_some_and(|now: &Process| known.get(pid) == Some(&now.start));
    known.keys().copied().filter(is_there).collect()
}

fn send(process: i32, signal: Signal) {
    if let Some(process) = Pid::from_raw(process) {
        // It may have ended by itself.
        let _ = kill_process(process, signal);
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// Names of variables that no other process has, one for each test.
    fn mark(variable: &'static str) -> Mark {
        Mark { variable, value: Mark::own_value(), anywhere: "OFFLOAD_UNIT_TEST_ANYWHERE" }
    }

    /// Starts a shell that runs `script` and then waits.
    fn shell(mark: &Mark, script: &str) -> Child {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("{script}\necho ready; read line")]);
        command
            .env(mark.variable, format!("1-1:{}", mark.value))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut text = [0; 6];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut text).unwrap();
        child
    }

    fn count(mark: &Mark) -> usize {
        find_processes(mark, &mut BTreeMap::new()).len()
    }

    #[test]
    fn all_descendants_end() {
        let mark = mark("OFFLOAD_UNIT_TEST_DESCENDANTS");
        // One in the background, one without the variable, one whose parent has ended, and one that ignores what it is
        // asked.
        let script =
            "sleep 600 >&2 & env -i sleep 600 >&2 & (sleep 600 >&2 &) ; (trap '' TERM; sleep 600 >&2) &";
        let mut child = shell(&mark, script);
        assert!(count(&mark) >= 5, "{}", count(&mark));
        let start = Instant::now();
        end_all(&mark, Duration::from_millis(300));
        // The shell waits for this process to ask how it ended.
        assert!(!child.wait().unwrap().success());
        assert_eq!(count(&mark), 0);
        assert!(start.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn others_are_left_alone() {
        let other = mark("OFFLOAD_UNIT_TEST_OTHERS");
        let mark = mark("OFFLOAD_UNIT_TEST_OTHERS");
        let other = Mark { value: format!("{}0", other.value), ..other };
        let mut child = shell(&other, "");
        end_all(&mark, Duration::ZERO);
        assert_eq!((count(&mark), count(&other)), (0, 1));
        // A service of its own session, and one that has left the run; then one that is there for a test.
        let script = format!(
            "setsid sleep 600 >&2 & {}= sleep 600 >&2 & {}=1 setsid sleep 600 >&2 &",
            other.variable, other.anywhere
        );
        let mut services = shell(&mark, &script);
        while count(&mark) != 2 {
            std::thread::sleep(TICK);
        }
        end_all(&mark, Duration::ZERO);
        services.wait().unwrap();
        let left = Mark { value: String::new(), ..mark.clone() };
        assert_eq!(count(&left), 1);
        end_all(&left, Duration::ZERO);
        end_all(&other, Duration::ZERO);
        child.wait().unwrap();
    }
}
