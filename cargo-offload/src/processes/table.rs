//! Process table of this machine, from `/proc` (<https://man7.org/linux/man-pages/man5/proc.5.html>).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rustix::process::{Pid, getpid};

/// A variable that processes inherit, and the value of it by which those of a run are known.
///
/// The value may stand in a list that colons separate: a run within another one belongs to both. A process that has the
/// variable without the value has left the run, with its descendants.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) variable: &'static str,
    pub(crate) value: String,
    /// Processes with this variable end with the run in any session. Others in a session of their own
    /// are services that others may use by now, as a compiler cache.
    pub(crate) anywhere: &'static str,
}

impl Mark {
    /// The name of this process, which no other process of this machine has had since it was started.
    pub(crate) fn own_value() -> String {
        let own = Pid::as_raw(Some(getpid()));
        let start = start(own).unwrap_or_default();
        format!("{own}-{start}")
    }
}

/// All processes at about the same time.
#[derive(Debug)]
pub(super) struct Table {
    processes: BTreeMap<i32, Process>,
    /// As `/proc` has it: 0 in a container whose processes were started from outside of it, which no [`Pid`] is.
    own_session: Option<i32>,
}

/// A process that has not ended.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) pid: i32,
    parent: i32,
    session: i32,
    /// Start time in ticks since boot, which distinguishes processes with a reused id.
    pub(super) start: u64,
    /// Whether it has the mark; `None` if it lacks the variable, or is another user's.
    is_marked: Option<bool>,
    ends_anywhere: bool,
}

impl Table {
    pub(super) fn read(mark: &Mark) -> Table {
        let mut processes = BTreeMap::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
            if let Some(process) = pid.and_then(|pid| Process::read(pid, mark)) {
                processes.insert(process.pid, process);
            }
        }
        let own = Pid::as_raw(Some(getpid()));
        let own_session = processes.get(&own).map(|process| process.session);
        Table { processes, own_session }
    }

    pub(super) fn get(&self, pid: i32) -> Option<&Process> {
        self.processes.get(&pid)
    }

    /// The processes that the mark is for. This process is none of them.
    pub(super) fn members(&self) -> impl Iterator<Item = &Process> {
        let own = Pid::as_raw(Some(getpid()));
        self.processes.values().filter(move |process| process.pid != own && self.is_member(process))
    }

    /// The nearest of a process and its ancestors that has the variable decides.
    fn is_member(&self, process: &Process) -> bool {
        let mut ends_anywhere = Some(process.session) == self.own_session;
        let mut next = Some(process);
        // Of processes that end and start meanwhile, parents may stand in a circle.
        for _ in 0..self.processes.len() {
            let Some(process) = next else { return false };
            ends_anywhere |= process.ends_anywhere;
            if let Some(is_marked) = process.is_marked {
                return is_marked && ends_anywhere;
            }
            next = self.processes.get(&process.parent);
        }
        false
    }
}

impl Process {
    fn read(pid: i32, mark: &Mark) -> Option<Process> {
        let directory = Path::new("/proc").join(pid.to_string());
        let stat = Stat::read(pid)?;
        let environment = fs::read(directory.join("environ")).unwrap_or_default();
        let value = values(&environment, mark.variable);
        Some(Process {
            pid,
            parent: stat.parent,
            session: stat.session,
            start: stat.start,
            is_marked: value
                .map(|value| value.split(|byte| *byte == b':').any(|one| one == mark.value.as_bytes())),
            ends_anywhere: values(&environment, mark.anywhere).is_some(),
        })
    }
}

/// The value of a variable in `environment`, whose entries end with a zero.
fn values<'e>(environment: &'e [u8], name: &str) -> Option<&'e [u8]> {
    let mut entries = environment.split(|byte| *byte == 0);
    entries.find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// The start time of a process; `None` if it does not exist.
pub(super) fn start(pid: i32) -> Option<u64> {
    Stat::read(pid).map(|stat| stat.start)
}

struct Stat {
    parent: i32,
    session: i32,
    start: u64,
}

impl Stat {
    /// `None` also of a process that has ended and waits for its parent to ask.
    fn read(pid: i32) -> Option<Stat> {
        let text = fs::read(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        // The name of the program stands in brackets and may have some of its own.
        let (_, fields) = text.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        if matches!(fields.first(), Some(&("Z" | "X")) | None) {
            return None;
        }
        Some(Stat {
            parent: fields.get(1)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_by_their_whole_names() {
        let environment = b"RUN_ID=x\0XRUN=1\0RUN=1-2:3-4\0EMPTY=\0";
        assert_eq!(values(environment, "RUN"), Some(&b"1-2:3-4"[..]));
        assert_eq!(values(environment, "EMPTY"), Some(&b""[..]));
        assert_eq!(values(environment, "RU"), None);
    }

    #[test]
    fn this_process_has_a_start() {
        let own = Pid::as_raw(Some(getpid()));
        assert!(start(own).is_some_and(|start| start > 0) && start(-1).is_none());
        assert_eq!(start(own), start(own));
    }
}
