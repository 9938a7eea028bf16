//! Library search path of the Linux dynamic loader.
//!
//! <https://man7.org/linux/man-pages/man8/ld.so.8.html>

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use offload_protocol::remote::Program;

use super::elf::Needs;

/// The directories for every object of a program.
#[derive(Debug)]
pub(super) struct SearchPath {
    /// Searched first (LD_LIBRARY_PATH).
    named: Vec<PathBuf>,
    /// Searched last.
    system: Vec<PathBuf>,
}

const CONFIGURATION: &str = "/etc/ld.so.conf";
/// The deepest nesting of `include`.
const MAX_INCLUDE_DEPTH: usize = 8;

impl SearchPath {
    pub(super) fn for_program(program: &Program) -> SearchPath {
        let mut system = configured(Path::new(CONFIGURATION), MAX_INCLUDE_DEPTH);
        system.extend(built_in());
        SearchPath { named: program.library_directories.iter().map(PathBuf::from).collect(), system }
    }

    /// The directories to search for the dependencies of the object at `path`.
    pub(super) fn for_object(&self, path: &Path, needs: &Needs, inherited: &[PathBuf]) -> Vec<PathBuf> {
        let mut directories = Vec::new();
        if needs.run_path.is_empty() {
            directories.extend(expanded(&needs.old_run_path, path));
            directories.extend_from_slice(inherited);
        }
        directories.splice(0..0, self.named.iter().cloned());
        directories.extend(expanded(&needs.run_path, path));
        directories.extend_from_slice(&self.system);
        directories
    }

    /// The files in `searched` whose names start with `start`, by canonical path.
    pub(super) fn beginning(&self, start: &str, searched: &[PathBuf]) -> BTreeSet<PathBuf> {
        let entries =
            searched.iter().filter_map(|directory| fs::read_dir(directory).ok()).flatten().flatten();
        let named =
            entries.filter(|entry| entry.file_name().to_str().is_some_and(|it| it.starts_with(start)));
        named.filter_map(|entry| entry.path().canonicalize().ok()).filter(|path| path.is_file()).collect()
    }
}

/// The variants of a library in `glibc-hwcaps`, which the loader prefers on newer processors.
pub(super) fn for_processors(name: &str, searched: &[PathBuf]) -> Vec<PathBuf> {
    let levels = searched.iter().filter_map(|directory| fs::read_dir(directory.join("glibc-hwcaps")).ok());
    let versions = levels.flatten().flatten().map(|level| level.path().join(name));
    versions.filter_map(|path| path.canonicalize().ok()).collect()
}

/// Expands `$ORIGIN` and `$LIB` for the object at `path`.
pub(super) fn expanded(directories: &[String], path: &Path) -> Vec<PathBuf> {
    let origin = path.parent().unwrap_or(Path::new("/")).display().to_string();
    let mut expanded = Vec::new();
    for text in directories {
        let text = text.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin);
        expanded.push(text.replace("${LIB}", "lib64").replace("$LIB", "lib64").into());
    }
    expanded
}

/// The directories in a file like `/etc/ld.so.conf`, and in the files that it includes.
fn configured(path: &Path, depth: usize) -> Vec<PathBuf> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut directories = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        match line.strip_prefix("include") {
            Some(pattern) if depth > 0 => {
                let files = pattern.split_whitespace().flat_map(|pattern| matching(path, pattern));
                directories.extend(files.flat_map(|file| configured(&file, depth - 1)));
            }
            Some(_) => {}
            // Old files have a library type after `=`.
            None => {
                directories.extend(line.split('=').next().filter(|it| it.starts_with('/')).map(PathBuf::from))
            }
        }
    }
    directories
}

/// The files that match a pattern, whose star is in the file name.
fn matching(from: &Path, pattern: &str) -> BTreeSet<PathBuf> {
    let pattern = from.parent().unwrap_or(Path::new("/")).join(pattern);
    let name = pattern.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let Some((start, end)) = name.split_once('*') else { return BTreeSet::from([pattern]) };
    let entries = pattern.parent().and_then(|directory| fs::read_dir(directory).ok());
    let mut paths = BTreeSet::new();
    for entry in entries.into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(start) && name.ends_with(end)) {
            paths.insert(entry.path());
        }
    }
    paths
}

/// The default directories of the loader, with Debian's. Libraries of other machines are skipped later, so that all can be
/// listed.
fn built_in() -> Vec<PathBuf> {
    ["/lib64", "/usr/lib64", "/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/lib", "/usr/lib"]
        .iter()
        .flat_map(|pattern| matching(Path::new("/"), pattern))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_is_read_with_what_it_includes() {
        let dir = tempfile::tempdir().unwrap();
        let parts = dir.path().join("conf.d");
        fs::create_dir(&parts).unwrap();
        fs::write(dir.path().join("conf"), "# first\ninclude conf.d/*.conf\n/opt/lib # x\n\nhwcap 1\n")
            .unwrap();
        fs::write(parts.join("b.conf"), "/b\n").unwrap();
        fs::write(parts.join("a.conf"), "/a=libc6\ninclude ../conf\n").unwrap();
        fs::write(parts.join("c.old"), "/c\n").unwrap();
        let found = configured(&dir.path().join("conf"), 2);
        assert_eq!(found, ["/a", "/opt/lib", "/b", "/opt/lib"].map(PathBuf::from));
        assert!(configured(&dir.path().join("none"), 1).is_empty());
    }

    #[test]
    fn versions_for_newer_processors_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let level = dir.path().join("glibc-hwcaps/x86-64-v3");
        fs::create_dir_all(&level).unwrap();
        fs::write(level.join("libz.so.1"), "").unwrap();
        let searched = [PathBuf::from("/no such directory"), dir.path().to_path_buf()];
        let found = for_processors("libz.so.1", &searched);
        assert_eq!(found, [level.join("libz.so.1").canonicalize().unwrap()]);
        assert!(for_processors("libother.so", &searched).is_empty());
    }

    #[test]
    fn a_run_path_goes_from_where_the_object_is() {
        let directories = ["$ORIGIN/../lib".to_string(), "${ORIGIN}".to_string(), "/x".to_string()];
        let expanded = expanded(&directories, Path::new("/usr/bin/tool"));
        assert_eq!(expanded, ["/usr/bin/../lib", "/usr/bin", "/x"].map(PathBuf::from));
    }

    #[test]
    fn a_run_path_takes_the_place_of_older_ones() {
        let directories = SearchPath { named: vec!["/named".into()], system: vec!["/system".into()] };
        let old = Needs { old_run_path: vec!["/old".into()], ..Needs::default() };
        let searched = directories.for_object(Path::new("/a"), &old, &["/inherited".into()]);
        assert_eq!(searched, ["/named", "/old", "/inherited", "/system"].map(PathBuf::from));
        let new = Needs { run_path: vec!["/new".into()], ..old };
        let searched = directories.for_object(Path::new("/a"), &new, &["/inherited".into()]);
        assert_eq!(searched, ["/named", "/new", "/system"].map(PathBuf::from));
    }
}
