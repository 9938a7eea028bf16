//! Warnings for the user, once for each topic.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::sync::locked;

/// The topic of a note.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Topic {
    /// Any request to the server.
    Server,
    /// Uploads.
    Storing,
    /// Slow uploads.
    Late,
    /// Corrupt results.
    Damage,
    /// Remote execution.
    Running,
    /// A program on workers.
    Worker(String),
    /// A local program or file.
    Local(String),
}

/// Reported topics, and pending notes: most replies cannot carry one.
#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<NoteState>);

#[derive(Debug, Default)]
struct NoteState {
    reported: BTreeSet<Topic>,
    waiting: Vec<String>,
}

impl Notes {
    /// `text` if it is the first of its topic, else an empty string.
    pub(crate) fn once(&self, topic: Topic, text: impl FnOnce() -> String) -> String {
        if locked(&self.0).reported.insert(topic) { text() } else { String::new() }
    }

    /// Keeps `text` for the next reply that can carry it, if it is the first of its topic.
    pub(crate) fn keep(&self, topic: Topic, text: impl FnOnce() -> String) {
        let mut state = locked(&self.0);
        // An unreachable server implies failed uploads.
        let is_implied = topic == Topic::Storing && state.reported.contains(&Topic::Server);
        if !is_implied && state.reported.insert(topic) {
            state.waiting.push(text());
        }
    }

    /// Takes the pending notes.
    pub(crate) fn take(&self) -> String {
        std::mem::take(&mut locked(&self.0).waiting).join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_server_that_does_not_answer_only_that_is_told() {
        let notes = Notes::default();
        notes.keep(Topic::Server, || "refused".into());
        notes.keep(Topic::Storing, || "not stored".into());
        assert_eq!(notes.take(), "refused");
    }

    #[test]
    fn each_topic_is_told_once() {
        let notes = Notes::default();
        notes.keep(Topic::Storing, || "full".into());
        notes.keep(Topic::Storing, || "full again".into());
        assert_eq!(notes.once(Topic::Storing, || "full".into()), "");
        assert_eq!(notes.once(Topic::Worker("a".into()), || "a".into()), "a");
        assert_eq!(notes.once(Topic::Worker("b".into()), || "b".into()), "b");
        assert_eq!((notes.take().as_str(), notes.take().as_str()), ("full", ""));
    }
}
