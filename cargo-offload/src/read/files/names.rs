//! Member names of an archive. Of two members with one name, installers differ in the one that they keep.

use std::collections::BTreeMap;

/// Whether a member may have device images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    Wanted,
    Other,
}

/// The names that were seen.
#[derive(Debug, Default)]
pub(super) struct Names<C> {
    seen: BTreeMap<String, (Interest, C)>,
}

impl<C: PartialEq> Names<C> {
    /// Adds a member of which `content` tells whether another one is the same. True if another one has its name, is not
    /// the same, and one of the two may have images.
    pub(super) fn is_ambiguous(&mut self, name: &str, interest: Interest, content: C) -> bool {
        let name = plain(name);
        match self.seen.get(&name) {
            Some((other, before)) => {
                *before != content && (interest == Interest::Wanted || *other == Interest::Wanted)
            }
            None => {
                self.seen.insert(name, (interest, content));
                false
            }
        }
    }
}

/// The error text for two such members.
pub(super) fn sentence(archive: &str, name: &str) -> String {
    format!("two members of `{archive}` are called `{name}`: which one an installer takes is open")
}

/// The path without the parts that lead nowhere.
fn plain(name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in name.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_paths() {
        let mut names = Names::default();
        assert!(!names.is_ambiguous("lib/a.so", Interest::Wanted, 1));
        assert!(!names.is_ambiguous("lib/a.so", Interest::Wanted, 1));
        for name in ["lib/a.so", "./lib//a.so", "lib/x/../a.so"] {
            assert!(names.is_ambiguous(name, Interest::Other, 2), "{name}");
        }
        assert!(!names.is_ambiguous("README", Interest::Other, 1));
        assert!(!names.is_ambiguous("README", Interest::Other, 2));
        assert!(names.is_ambiguous("README", Interest::Wanted, 3));
    }
}
