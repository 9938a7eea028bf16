//! Front ends as actions: what runs, which files were read, and what came of it.

use std::path::PathBuf;

use super::action::{Arg, Made};
use crate::cache::{Key, KeyBuilder};
use crate::tool::Tool;

/// The name of actions that run nvcc.
pub(super) const NVCC: &str = "nvcc";
/// The name of actions whose debug information tells the types of arguments; no image is made of them.
pub(super) const TYPES: &str = "types";

/// A compiler run that reads the file in its arguments, or `input`, and what they include.
#[derive(Debug)]
pub(super) struct FrontEnd<'a> {
    pub(super) name: &'static str,
    pub(super) tool: &'a Tool,
    pub(super) args: Vec<Arg>,
    pub(super) input: Option<String>,
}

impl FrontEnd<'_> {
    /// Whether the output names the directory of this build: nvcc writes lines of the source so.
    pub(super) fn names_places(&self) -> bool {
        let lines = ["-lineinfo", "--generate-line-info", "-G", "--device-debug"];
        let mut texts = self.args.iter().filter_map(|arg| match arg {
            Arg::Text(text) => text.to_str(),
            _ => None,
        });
        self.name == NVCC && texts.any(|text| lines.contains(&text))
    }
}

/// A file that a front end read, as it named it.
#[derive(Debug)]
pub(super) struct ReadFile {
    pub(super) path: PathBuf,
    pub(super) hash: String,
}

/// First line of a recorded set of dependencies, which may be empty.
pub(super) const SET_LINE: &str = "read";
/// So many sets are kept for an action: enough for the states that a file goes back and forth between.
pub(super) const SETS_KEPT: usize = 16;

/// What a front end has made just now, here or on another machine, and what was read for it, by this machine's paths.
#[derive(Debug)]
pub(super) struct MadeFrontEnd {
    pub(super) made: Made,
    pub(super) read: Vec<ReadFile>,
}

pub(super) fn result_key(action: Key, set: &str) -> Key {
    KeyBuilder::new("front end result").part(&action.bytes()).part(set.as_bytes()).finish()
}
