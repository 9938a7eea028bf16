//! The Makefile of a program: its sources, compiler flags, and the arguments of its run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What a folder's Makefile says.
pub(super) struct Makefile {
    folder: PathBuf,
    /// The lines that make reads by default, with continued ones joined.
    text: String,
}

impl Makefile {
    /// That of `folder`; an empty one if there is none.
    pub(super) fn read(folder: &Path) -> Makefile {
        let text = fs::read_to_string(folder.join("Makefile")).unwrap_or_default();
        Makefile { folder: folder.to_path_buf(), text: default_lines(&text.replace("\\\n", " ")) }
    }

    /// The definitions and the folders of headers, for clang.
    pub(super) fn flags(&self) -> Vec<String> {
        let mut flags = vec![format!("-I{}", self.folder.display()), "-w".to_string()];
        for word in self.text.split_whitespace().filter(|word| !word.contains('$')) {
            if word.starts_with("-D") && word.len() > 2 {
                flags.push(word.to_string());
            } else if let Some(directory) = word.strip_prefix("-I").filter(|rest| !rest.is_empty()) {
                flags.push(format!("-I{}", self.folder.join(directory).display()));
            }
        }
        flags
    }

    /// The files that the program is made of: those that the Makefile assigns to variables, itself or as objects, or all
    /// of the folder.
    pub(super) fn sources(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let assigned = self.text.lines().filter_map(|line| line.split_once('=')).map(|(_, value)| value);
        for word in assigned.flat_map(str::split_whitespace) {
            let named = self.folder.join(word.trim_start_matches("./"));
            let found = match named.extension() {
                Some(extension) if extension == "o" => SOURCES
                    .iter()
                    .map(|extension| named.with_extension(extension))
                    .find(|file| file.is_file()),
                _ => Some(named).filter(|file| is_source(file) && file.is_file()),
            };
            files.extend(found.filter(|file| !files.contains(file)));
        }
        if files.is_empty() {
            let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
            files = entries.map(|entry| entry.path()).filter(|file| is_source(file)).collect();
            files.sort();
        }
        files
    }

    /// The arguments of the first command behind `run:`.
    pub(super) fn arguments(&self) -> String {
        let Some((_, rule)) = self.text.split_once("\nrun:") else { return String::new() };
        let Some(command) = rule.lines().find(|line| line.contains("./")) else { return String::new() };
        let words = command.split_whitespace().skip_while(|word| !word.starts_with("./"));
        words.skip(1).take_while(|word| !word.starts_with('>')).collect::<Vec<_>>().join(" ")
    }
}

/// Without the branches of conditions, as `ifeq ($(DEBUG),yes)`, that the values of the file's own variables do not take.
fn default_lines(text: &str) -> String {
    let mut values: BTreeMap<&str, &str> = BTreeMap::new();
    let mut branches: Vec<bool> = Vec::new();
    let mut kept = String::new();
    for line in text.lines() {
        let (word, rest) = line.trim().split_once([' ', '\t']).unwrap_or((line.trim(), ""));
        match word {
            "ifeq" => branches.push(is_equal(rest, &values)),
            "ifneq" => branches.push(!is_equal(rest, &values)),
            "ifdef" => branches.push(values.contains_key(rest.trim())),
            "ifndef" => branches.push(!values.contains_key(rest.trim())),
            "else" => {
                if let Some(branch) = branches.last_mut() {
                    *branch = !*branch;
                }
            }
            "endif" => {
                branches.pop();
            }
            _ if branches.iter().all(|is_taken| *is_taken) => {
                if let Some((name, value)) = line.split_once('=') {
                    values.insert(name.trim_end_matches([':', '?', '+']).trim(), value.trim());
                }
                kept.push_str(line);
                kept.push('\n');
            }
            _ => {}
        }
    }
    kept
}

/// Whether `($(NAME),VALUE)` holds.
fn is_equal(condition: &str, values: &BTreeMap<&str, &str>) -> bool {
    let inner = condition.trim().trim_start_matches('(').trim_end_matches(')');
    let Some((name, value)) = inner.split_once(',') else { return false };
    let name = name.trim().trim_start_matches("$(").trim_end_matches(')');
    values.get(name).copied().unwrap_or_default() == value.trim()
}

fn is_source(file: &Path) -> bool {
    file.extension().is_some_and(|extension| SOURCES.iter().any(|known| extension == *known))
}

/// The extensions of sources.
const SOURCES: [&str; 4] = ["cu", "cpp", "cc", "c"];
