//! Header lookups: the search of a preprocessor for each name in the files that it read, and its outcome.
//!
//! A dependency file lists what was found. A result depends as well on what was not: a header that comes into being
//! earlier on the search path takes the place of the one that was read, and changes the answer of `__has_include`. No
//! compiler lists the paths that it tried. They follow from the names in the files and from the search path, which
//! clang and gcc print (`-v` of their preprocessors), so that the outcome of all lookups can be computed from the same files
//! again. Names that are looked up in no branch that is taken cost a build more at worst.

mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use self::names::{Form, Name, Names, Search};

/// Where a preprocessor looks for headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPath {
    /// For `"name"`, behind the directory of the including file.
    pub quoted: Vec<PathBuf>,
    /// For both forms.
    pub angled: Vec<PathBuf>,
    /// For `#embed`.
    pub embedded: Vec<PathBuf>,
    /// Directories of the command line that do not exist.
    pub missing: Vec<PathBuf>,
}

/// A file that was read, as it was named, with its text.
#[derive(Clone, Copy, Debug)]
pub struct SourceText<'a> {
    /// Its path as the compiler named it, relative to the directory where it ran.
    pub path: &'a Path,
    /// Empty for files that are no text.
    pub content: &'a str,
}

/// A lookup by a file in `directory`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    /// Empty where it does not matter.
    directory: PathBuf,
    name: Name,
}

/// The outcome of lookups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookups {
    /// The directories, by their places on the search path, in which lookups ended. Two records are equal if every lookup
    /// ends at the same place, also where the directories have other names. Only equality and a hash of it mean anything.
    pub record: Vec<u8>,
    /// Paths that were tried, and are no files.
    pub absent: BTreeSet<PathBuf>,
}

const BEGIN_QUOTED: &str = "#include \"...\" search starts here:";
const BEGIN_ANGLED: &str = "#include <...> search starts here:";
const END: &str = "End of search list.";
const NONEXISTENT: &str = "ignoring nonexistent directory \"";
const DUPLICATE: [&str; 2] =
    ["ignoring duplicate directory \"", "  as it is a non-system directory that duplicates"];
const VERSION: &str = "clang -cc1 version ";

impl SearchPath {
    /// The search path among what a compiler printed to standard error, and the other lines. A compiler that prints none
    /// has the one of its arguments.
    pub fn split(printed: &str, args: &[&OsStr]) -> (SearchPath, String) {
        let mut path = SearchPath {
            embedded: directories(args, &["--embed-dir=", "--embed-dir"]),
            ..SearchPath::default()
        };
        let mut is_printed = false;
        let mut others: Vec<&str> = Vec::new();
        let mut list: Option<&mut Vec<PathBuf>> = None;
        for line in printed.lines() {
            match line {
                BEGIN_QUOTED => list = Some(&mut path.quoted),
                BEGIN_ANGLED => list = Some(&mut path.angled),
                END => {
                    is_printed = true;
                    list = None;
                }
                _ if line.starts_with(VERSION) || DUPLICATE.iter().any(|start| line.starts_with(start)) => {}
                _ => match (line.strip_prefix(NONEXISTENT), &mut list) {
                    (Some(directory), _) => path.missing.push(directory.trim_end_matches('"').into()),
                    // Another compilation of the same run has the same path.
                    (None, Some(list)) => {
                        add(list, line.trim_start().trim_end_matches(" (framework directory)").into())
                    }
                    (None, None) => others.push(line),
                },
            }
        }
        if !is_printed {
            path.quoted = directories(args, &["-iquote"]);
            path.angled = directories(args, &["-I", "-isystem"]);
        }
        (path, others.join("\n"))
    }

    /// The directories, as a part of a key.
    pub fn to_key(&self) -> String {
        format!("{:?} {:?} {:?}", self.quoted, self.angled, self.embedded)
    }

    /// The lookups that the first of `files`, which is no file but what a compiler was given, and the others may cause; `None`
    /// if names are computed in a way that only a preprocessor understands. `defined` are the macros of the command line.
    pub fn requests(&self, files: &[SourceText<'_>], defined: &[&str]) -> Option<BTreeSet<Request>> {
        let names: Vec<Names> = files.iter().map(|file| Names::scan(file.content)).collect();
        let texts: Vec<&str> = files.iter().map(|file| file.content).collect();
        if !names::all_are_named(&names, &texts, defined) {
            return None;
        }
        let mut in_macros = names::from_command_line(defined);
        in_macros.extend(names.iter().flat_map(|names| names.in_macros.iter().cloned()));
        let mut requests = BTreeSet::new();
        for (index, (file, names)) in files.iter().zip(&names).enumerate() {
            let directory = file.path.parent().unwrap_or(Path::new(""));
            requests.extend(names.direct.iter().map(|name| Request::new(directory, name.clone())));
            if names.is_computed {
                requests.extend(in_macros.iter().map(|name| Request::new(directory, name.clone())));
            }
            // Compilers include headers of their own, and those of their command line, as if the first file did.
            if names.is_computed || index == 0 {
                let found = files.iter().skip(1).flat_map(|found| self.names_of(found.path, directory));
                requests.extend(found.map(|name| Request::new(directory, name)));
            }
        }
        Some(requests)
    }

    /// The outcome of `requests` for a compiler that runs in `root`.
    pub fn resolve(&self, root: &Path, requests: &BTreeSet<Request>) -> Lookups {
        let mut resolver = Resolver::new(self, root);
        for directory in &self.missing {
            resolver.note_missing(directory);
        }
        for request in requests {
            resolver.resolve(request);
        }
        resolver.finish()
    }

    /// The names by which the file at `path` can have been included from a file in `directory`.
    fn names_of(&self, path: &Path, directory: &Path) -> Vec<Name> {
        let beside = [directory.to_path_buf()];
        let mut found = Vec::new();
        for base in beside.iter().chain(&self.quoted).chain(&self.angled) {
            let Ok(rest) = path.strip_prefix(base) else { continue };
            if rest.is_absolute() {
                continue;
            }
            let text = rest.display().to_string();
            found.push(Name { text, form: Form::Quoted, search: Search::First });
        }
        found
    }
}

fn add(list: &mut Vec<PathBuf>, directory: PathBuf) {
    if !list.contains(&directory) {
        list.push(directory);
    }
}

/// The operands of `flags`, which follow at once or as the next argument.
pub fn directories(args: &[&OsStr], flags: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let Some(text) = arg.to_str() else { continue };
        let Some(rest) = flags.iter().find_map(|flag| text.strip_prefix(flag)) else { continue };
        match rest {
            "" => found.extend(args.next().map(PathBuf::from)),
            rest => found.push(rest.into()),
        }
    }
    found
}

impl Request {
    fn new(directory: &Path, name: Name) -> Request {
        let directory = match name.form {
            Form::Quoted => directory.to_path_buf(),
            Form::Angled => PathBuf::new(),
        };
        Request { directory, name }
    }

    /// A line without its end; `None` for names that are no line.
    fn to_line(&self) -> Option<String> {
        let directory = self.directory.to_str()?;
        let Name { text, form, search } = &self.name;
        let form = match form {
            Form::Quoted => "quoted",
            Form::Angled => "angled",
        };
        let search = match search {
            Search::First => "first",
            Search::Next => "next",
            Search::Embed => "embed",
        };
        let line = format!("{form}\t{search}\t{directory}\t{text}");
        (!line.contains('\n')).then_some(line)
    }

    fn parse(line: &str) -> Option<Request> {
        let mut words = line.splitn(4, '\t');
        let form = match words.next()? {
            "quoted" => Form::Quoted,
            "angled" => Form::Angled,
            _ => return None,
        };
        let search = match words.next()? {
            "first" => Search::First,
            "next" => Search::Next,
            "embed" => Search::Embed,
            _ => return None,
        };
        let directory = words.next()?.into();
        let text = words.next()?.to_string();
        Some(Request { directory, name: Name { text, form, search } })
    }
}

/// Requests as text, for a cache: a text of source files takes longer to scan. `None` if a name is no line.
pub fn to_text(requests: &BTreeSet<Request>) -> Option<String> {
    let lines: Vec<String> = requests.iter().map(Request::to_line).collect::<Option<_>>()?;
    Some(lines.join("\n"))
}

/// The inverse of [`to_text`]; `None` for other texts.
pub fn parse(text: &str) -> Option<BTreeSet<Request>> {
    text.lines().map(Request::parse).collect()
}

/// The lookups of a run, one after the other.
struct Resolver<'a> {
    path: &'a SearchPath,
    root: &'a Path,
    /// One for each lookup. Their order is not that of requests: directories have other names on other machines.
    outcomes: Vec<Vec<u8>>,
    absent: BTreeSet<PathBuf>,
    /// Whether there is a file, by its path.
    known: BTreeMap<PathBuf, bool>,
}

impl<'a> Resolver<'a> {
    fn new(path: &'a SearchPath, root: &'a Path) -> Resolver<'a> {
        Resolver { path, root, outcomes: Vec::new(), absent: BTreeSet::new(), known: BTreeMap::new() }
    }

    fn note_missing(&mut self, directory: &Path) {
        let exists = self.root.join(directory).is_dir();
        self.outcomes.push(vec![u8::from(exists)]);
        if !exists {
            self.absent.insert(directory.to_path_buf());
        }
    }

    fn resolve(&mut self, request: &Request) {
        let Name { text, form, search } = &request.name;
        let path = self.path;
        let beside = std::slice::from_ref(&request.directory);
        let places = match (search, form) {
            (Search::Embed, Form::Quoted) => [beside, &path.embedded[..], &[]],
            (Search::Embed, Form::Angled) => [&path.embedded[..], &[], &[]],
            (_, Form::Quoted) => [beside, &path.quoted, &path.angled],
            (_, Form::Angled) => [&path.angled[..], &[], &[]],
        };
        let mut outcome = text.as_bytes().to_vec();
        outcome.push(0);
        for base in places.into_iter().flatten() {
            let exists = self.exists(&base.join(text));
            outcome.push(u8::from(exists));
            if exists && *search != Search::Next {
                break;
            }
        }
        self.outcomes.push(outcome);
    }

    fn exists(&mut self, path: &Path) -> bool {
        if let Some(known) = self.known.get(path) {
            return *known;
        }
        let exists = std::fs::metadata(self.root.join(path)).is_ok_and(|data| !data.is_dir());
        self.known.insert(path.to_path_buf(), exists);
        if !exists {
            self.absent.insert(path.to_path_buf());
        }
        exists
    }

    fn finish(mut self) -> Lookups {
        self.outcomes.sort();
        let mut record = Vec::new();
        for outcome in &self.outcomes {
            record.extend_from_slice(&(outcome.len() as u64).to_le_bytes());
            record.extend_from_slice(outcome);
        }
        Lookups { record, absent: self.absent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
clang -cc1 version 22.1.8 based upon LLVM 22.1.8 default target x86_64-pc-linux-gnu
ignoring nonexistent directory \"none\"
ignoring duplicate directory \"b\"
#include \"...\" search starts here:
 q
#include <...> search starts here:
 a
 b c
 /usr/include
End of search list.
k.cl:1:2: warning: unused";

    #[test]
    fn search_paths_are_printed_between_warnings() {
        let (path, others) = SearchPath::split(PRINTED, &["-Ix", "--embed-dir=e"].map(OsStr::new));
        assert_eq!(path.quoted, ["q"].map(PathBuf::from));
        assert_eq!(path.angled, ["a", "b c", "/usr/include"].map(PathBuf::from));
        assert_eq!(path.embedded, ["e"].map(PathBuf::from));
        assert_eq!(path.missing, ["none"].map(PathBuf::from));
        assert_eq!(others, "k.cl:1:2: warning: unused");
    }

    #[test]
    fn compilers_that_print_no_path_search_that_of_their_arguments() {
        let args = ["-I", "a", "-isystemb", "-iquote", "q"].map(OsStr::new);
        let (path, _) = SearchPath::split("warning: old", &args);
        assert_eq!(path.angled, ["a", "b"].map(PathBuf::from));
        assert_eq!(path.quoted, ["q"].map(PathBuf::from));
    }

    /// Whether the creation of each file changes the lookups of `text` in `k/k.cl`, with the search path `one`, `two`.
    fn changes(text: &str, created: &[&str]) -> Vec<bool> {
        let dir = tempfile::tempdir().unwrap();
        let names = ["one", "two", "k", "embedded"];
        for name in names {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        std::fs::write(dir.path().join("two/head.h"), "").unwrap();
        let path = SearchPath {
            angled: ["one", "two"].map(PathBuf::from).into(),
            embedded: vec!["embedded".into()],
            missing: vec!["gone".into()],
            ..SearchPath::default()
        };
        let files = [("-", ""), ("k/k.cl", text), ("two/head.h", "")]
            .map(|(path, content)| SourceText { path: Path::new(path), content });
        let requests = path.requests(&files, &[]).unwrap();
        assert_eq!(parse(&to_text(&requests).unwrap()).unwrap(), requests);
        let before = path.resolve(dir.path(), &requests);
        let mut found = Vec::new();
        for name in created {
            let file = dir.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "").unwrap();
            let is_changed = path.resolve(dir.path(), &requests).record != before.record;
            assert!(!is_changed || before.absent.iter().any(|path| dir.path().join(path).exists()));
            found.push(is_changed);
            std::fs::remove_file(&file).unwrap();
            let _ = std::fs::remove_dir(file.parent().unwrap());
            std::fs::create_dir_all(dir.path().join("k")).unwrap();
        }
        found
    }

    #[test]
    fn files_that_come_before_the_one_that_was_found_change_the_outcome() {
        let created = ["one/head.h", "k/head.h", "one/other.h", "embedded/head.h", "gone/x.h"];
        assert_eq!(changes("#include <head.h>", &created), [true, false, false, false, true]);
        assert_eq!(changes("#include \"head.h\"", &created), [true, true, false, false, true]);
        // Names in macros count as quoted ones, too.
        assert_eq!(changes("#define H <head.h>\n#include H", &created), [true, true, false, false, true]);
        assert_eq!(
            changes("#define S(x) #x\n#include S(head.h)", &created),
            [true, true, false, false, true]
        );
        // That the header was read is known, and not by whom.
        assert_eq!(
            changes("#if __has_include(<other.h>)\n#endif", &created),
            [true, false, true, false, true]
        );
        assert_eq!(changes("#embed <head.h>", &created), [true, false, false, true, true]);
    }

    #[test]
    fn each_directory_counts_for_next() {
        assert_eq!(changes("#include_next <head.h>", &["one/head.h"]), [true]);
        assert_eq!(changes("#include <other.h>", &["two/other.h", "one/other.h"]), [true, true]);
    }
}
