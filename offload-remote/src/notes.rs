//! What the user is told, once for each topic.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::sync::locked;

/// What a note is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Topic {
    /// The server, whatever was asked.
    Server,
    /// Storing results.
    Storing,
    /// Storing takes long.
    Late,
    /// Results that were not what they should be.
    Damage,
    /// Running commands.
    Running,
    /// A program of workers.
    Worker(String),
    /// A program or file of this machine.
    Local(String),
}

/// What was said, and what nobody could be told yet: replies to most requests have no room for it.
#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    said: BTreeSet<Topic>,
    waiting: Vec<String>,
}

impl Notes {
    /// `text` if it is the first of the topic; nothing otherwise.
    pub(crate) fn once(&self, topic: Topic, text: impl FnOnce() -> String) -> String {
        if locked(&self.0).said.insert(topic) { text() } else { String::new() }
    }

    /// Keeps `text` for the next who can be told, if it is the first of the topic.
    pub(crate) fn keep(&self, topic: Topic, text: impl FnOnce() -> String) {
        let mut state = locked(&self.0);
        // A server that does not answer stores nothing either.
        let is_plain = topic == Topic::Storing && state.said.contains(&Topic::Server);
        if !is_plain && state.said.insert(topic) {
            state.waiting.push(text());
        }
    }

    /// What was kept.
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
