//! Results of front ends that other machines have stored: first which files were read, then what came of them.

use std::path::Path;
use std::time::Duration;

use super::super::Session;
use super::super::action::{Made, args_key};
use super::super::reading::{FrontEnd, MadeFrontEnd, ReadFile, SET_LINE, SETS_KEPT, result_key};
use super::super::roots::Roots;
use crate::cache::Key;

/// A front end, as every machine knows it.
#[derive(Debug)]
pub(in super::super) struct SharedFrontEnd {
    key: Key,
    roots: Roots,
}

impl Session<'_> {
    /// The identity of a front end on every machine; `None` where no other one is asked.
    pub(in super::super) fn shared_front_end(&self, action: &FrontEnd<'_>) -> Option<SharedFrontEnd> {
        if action.names_places() {
            return None;
        }
        let key = self.shared_key(action.name, action.tool)?;
        let roots = Roots::of(self);
        let key = args_key(key, &roots.args(&action.args));
        let key = key.part(action.input.as_deref().unwrap_or_default().as_bytes()).finish();
        Some(SharedFrontEnd { key, roots })
    }

    /// The result for a set of files that another machine has recorded, and that all have that content here.
    pub(in super::super) fn stored_front_end(&self, shared: &SharedFrontEnd) -> Option<MadeFrontEnd> {
        let sets = String::from_utf8(self.stored(shared.key)?.content).ok()?;
        sets.split("\n\n").find_map(|set| {
            let read = self.read_again(shared, set)?;
            Some(MadeFrontEnd { made: self.stored(result_key(shared.key, set))?, read })
        })
    }

    /// The files of a set, if they have the recorded content.
    fn read_again(&self, shared: &SharedFrontEnd, set: &str) -> Option<Vec<ReadFile>> {
        let files = set.strip_prefix(SET_LINE)?;
        let same = |line: &str| {
            let (hash, text) = line.split_once(' ')?;
            let path = shared.roots.local(text)?;
            let here = self.content_hash(&path)?;
            (here == hash).then_some(ReadFile { path, hash: here })
        };
        files.lines().filter(|line| !line.is_empty()).map(same).collect()
    }

    /// Stores what a front end has made here, and what it has read. Sets of other machines are kept.
    pub(in super::super) fn store_front_end(
        &self,
        shared: &SharedFrontEnd,
        MadeFrontEnd { made, read }: &MadeFrontEnd,
        took: Duration,
    ) {
        let line = |file: &ReadFile| {
            let path = shared.roots.portable(Path::new(&file.path)).filter(|path| !path.contains('\n'))?;
            Some(format!("{} {path}", file.hash))
        };
        let lines: Option<Vec<String>> = read.iter().map(line).collect();
        let Some(lines) = lines else { return };
        let set = std::iter::once(SET_LINE.to_string()).chain(lines).collect::<Vec<_>>().join("\n");
        self.store(result_key(shared.key, &set), made, took);
        let known = self.stored(shared.key).and_then(|known| String::from_utf8(known.content).ok());
        let known = known.unwrap_or_default();
        let others = known.split("\n\n").filter(|other| !other.is_empty() && *other != set);
        let sets: Vec<&str> = std::iter::once(&*set).chain(others).take(SETS_KEPT).collect();
        let sets = Made { content: sets.join("\n\n").into_bytes(), said: String::new() };
        self.store(shared.key, &sets, Duration::ZERO);
    }
}
