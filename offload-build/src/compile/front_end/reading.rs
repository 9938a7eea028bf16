//! Front-end actions: the command, the files that it read, and its result.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use offload_clang::lookups::SearchPath;
use offload_format::Hash128;

use crate::cache::{Key, KeyBuilder};
use crate::compile::steps::action::{Arg, Made};
use crate::tool::Tool;

/// The name of actions that run nvcc.
pub(crate) const NVCC: &str = "nvcc";
/// Front ends for AMD.
pub(crate) const AMDGCN: &str = "amdgcn";
/// Front ends for the CPU.
pub(crate) const HOST: &str = "front end for host";
/// The name of actions whose debug information tells the types of arguments; no image is made of them.
pub(crate) const TYPES: &str = "types";

/// A compiler run that reads the file in its arguments, or `input`, and what they include.
#[derive(Debug)]
pub(crate) struct FrontEnd<'a> {
    pub(crate) name: &'static str,
    pub(crate) tool: &'a Tool,
    pub(crate) args: Vec<Arg>,
    pub(crate) input: Option<String>,
}

impl FrontEnd<'_> {
    /// Whether the output names the directory of this build: nvcc writes lines of the source so.
    pub(crate) fn names_places(&self) -> bool {
        let lines = ["-lineinfo", "--generate-line-info", "-G", "--device-debug"];
        let texts = self.text_args();
        self.name == NVCC && texts.iter().any(|text| lines.iter().any(|line| text == line))
    }

    /// The arguments that are no files without a name.
    pub(crate) fn text_args(&self) -> Vec<&OsStr> {
        let mut texts = Vec::new();
        for arg in &self.args {
            if let Arg::Text(text) = arg {
                texts.push(text.as_os_str());
            }
        }
        texts
    }

    /// The macros that the arguments define, as they stand behind `-D`.
    pub(crate) fn defined_macros(&self) -> Vec<&str> {
        let texts = self.text_args().into_iter().filter_map(OsStr::to_str);
        texts.filter_map(|text| text.strip_prefix("-D")).collect()
    }

    /// The flags with which the preprocessor prints its search path.
    pub(crate) fn search_path_flags(&self) -> &'static [&'static str] {
        match self.name {
            // nvcc divides the operand at commas.
            NVCC => &["-Xcompiler=-Wp\\,-v"],
            _ => &["-Xclang", "-v"],
        }
    }
}

/// A file that a front end read, as it named it.
#[derive(Clone, Debug)]
pub(crate) struct ReadFile {
    pub(crate) path: PathBuf,
    pub(crate) hash: String,
}

/// The outcome of the header lookups of a front end.
#[derive(Clone, Debug)]
pub(crate) struct LookupOutcome {
    /// Of the record of lookups.
    pub(crate) digest: Hash128,
    /// Paths that were tried, and are no files; empty where only the digest is known.
    pub(crate) absent: BTreeSet<PathBuf>,
}

/// What the result of a front end depends on.
#[derive(Clone, Debug)]
pub(crate) struct Dependencies {
    pub(crate) files: Vec<ReadFile>,
    pub(crate) search: SearchPath,
    /// `None` if the lookups do not follow from the files: the result is not reused by other builds then.
    pub(crate) lookups: Option<LookupOutcome>,
}

/// First line of recorded dependencies.
const FIRST_LINE: &str = "read";
/// What stands between the dependencies of several results.
const BETWEEN: &str = "\n\n";
/// So many are kept for an action: enough for the states that a file goes back and forth between.
const KEPT: usize = 16;

impl Dependencies {
    /// As text, in which each path is what `name` makes of it; `None` where a path has no name, or the lookups are not
    /// known.
    pub(crate) fn to_text(&self, name: impl Fn(&Path) -> Option<String>) -> Option<String> {
        let mut paths: Vec<(&str, &Path)> = Vec::new();
        for ReadFile { path, hash } in &self.files {
            paths.push((hash, path));
        }
        let SearchPath { quoted, angled, embedded, missing } = &self.search;
        for (word, list) in
            [("quoted", quoted), ("angled", angled), ("embedded", embedded), ("missing", missing)]
        {
            for directory in list {
                paths.push((word, directory));
            }
        }
        let mut lines = vec![FIRST_LINE.to_string()];
        for (word, path) in paths {
            let name = name(path).filter(|name| !name.contains('\n'))?;
            lines.push(format!("{word} {name}"));
        }
        lines.push(format!("lookups {}", self.lookups.as_ref()?.digest));
        Some(lines.join("\n"))
    }

    /// The inverse of [`Dependencies::to_text`]; `place` is that of `name`.
    pub(crate) fn parse(text: &str, place: impl Fn(&str) -> Option<PathBuf>) -> Option<Dependencies> {
        let mut found = Dependencies { files: Vec::new(), search: SearchPath::default(), lookups: None };
        let lines = text.strip_prefix(FIRST_LINE)?.lines();
        for line in lines.filter(|line| !line.is_empty()) {
            let (word, rest) = line.split_once(' ')?;
            let list = match word {
                "quoted" => &mut found.search.quoted,
                "angled" => &mut found.search.angled,
                "embedded" => &mut found.search.embedded,
                "missing" => &mut found.search.missing,
                "lookups" => {
                    let digest = rest.parse().ok()?;
                    found.lookups = Some(LookupOutcome { digest, absent: BTreeSet::new() });
                    continue;
                }
                hash => {
                    found.files.push(ReadFile { path: place(rest)?, hash: hash.to_string() });
                    continue;
                }
            };
            list.push(place(rest)?);
        }
        found.lookups.is_some().then_some(found)
    }

    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.files.iter().map(|file| file.path.clone()).collect()
    }
}

/// The texts of `known`, which [`with_newest`] has written.
pub(crate) fn recorded(known: &str) -> impl Iterator<Item = &str> {
    known.split(BETWEEN).filter(|text| !text.is_empty())
}

/// `newest` before the others of `known`, without the oldest.
pub(crate) fn with_newest(newest: &str, known: &str) -> String {
    let others = recorded(known).filter(|other| *other != newest);
    let kept: Vec<&str> = std::iter::once(newest).chain(others).take(KEPT).collect();
    kept.join(BETWEEN)
}

/// What a front end has made just now, here or on another machine, and what was read for it, by this machine's paths.
#[derive(Debug)]
pub(crate) struct MadeFrontEnd {
    pub(crate) made: Made,
    pub(crate) dependencies: Dependencies,
}

/// The key of the result of `action` with these dependencies.
pub(crate) fn result_key(action: Key, dependencies: &str) -> Key {
    KeyBuilder::new("front end result").part(&action.bytes()).part(dependencies.as_bytes()).finish()
}
