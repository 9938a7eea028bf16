//! Identity of a program: its executable, shared libraries, and files opened at run time, by content.
//!
//! Machines with the same files share results, whatever the timestamps and owners are.

mod elf;
mod search;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use offload_protocol::remote::{FileIdentity, Program};

use self::elf::{Needs, ObjectClass};
use self::search::SearchPath;
use crate::fault::{self, Fault};
use crate::files::Files;

/// Hashes every file of `program`, each once, sorted by path. It blocks.
///
/// # Errors
/// If a named file cannot be read. A library that is not found is skipped: it may be optional.
pub(crate) fn identify(program: &Program, files: &Files) -> Result<Vec<FileIdentity>, Fault> {
    let mut collection = Collection { directories: SearchPath::for_program(program), files: BTreeSet::new() };
    collection.add_program(Path::new(&program.path), &program.opened)?;
    for path in &program.others {
        collection.add_program(Path::new(path), &[])?;
    }
    let mut identities = Vec::new();
    for path in &collection.files {
        let text = path.to_str().ok_or_else(|| local(path, "is not UTF-8"))?.to_string();
        identities.push(FileIdentity { path: text, sha256: files.digest(path)?.digest.sha256 });
    }
    Ok(identities)
}

/// The files found so far, by canonical path.
struct Collection {
    directories: SearchPath,
    files: BTreeSet<PathBuf>,
}

/// A file whose libraries are unresolved, with the RPATH of the objects that load it.
struct Pending {
    path: PathBuf,
    inherited: Vec<PathBuf>,
}

impl Collection {
    fn add_program(&mut self, path: &Path, opened: &[String]) -> Result<(), Fault> {
        if !path.is_absolute() {
            return Err(local(path, "is not an absolute path"));
        }
        let path = path.canonicalize().map_err(|error| Fault::file("read", path, &error))?;
        let needs = elf::needs(&path).map_err(|error| Fault::file("read", &path, &error))?;
        let mut pending = vec![Pending { path: path.clone(), inherited: Vec::new() }];
        let own = self.directories.for_object(&path, &needs, &[]);
        for found in opened.iter().flat_map(|start| self.directories.beginning(start, &own)) {
            pending.push(Pending { path: found, inherited: Vec::new() });
        }
        while let Some(object) = pending.pop() {
            self.add_object(object, &mut pending)?;
        }
        Ok(())
    }

    /// Adds a file, and its dependencies to `pending`.
    fn add_object(&mut self, object: Pending, pending: &mut Vec<Pending>) -> Result<(), Fault> {
        let Pending { path, inherited } = object;
        if !self.files.insert(path.clone()) {
            return Ok(());
        }
        let needs = elf::needs(&path).map_err(|error| Fault::file("read", &path, &error))?;
        let Some(kind) = needs.kind else { return Ok(()) };
        let searched = self.directories.for_object(&path, &needs, &inherited);
        let inherited = inherit_rpath(&path, &needs, inherited);
        let libraries = needs.libraries.iter().flat_map(|name| {
            self.library(name, &searched, kind).into_iter().chain(search::for_processors(name, &searched))
        });
        let interpreter = needs.interpreter.as_ref().and_then(|path| path.canonicalize().ok());
        let found = libraries.chain(interpreter);
        pending.extend(found.map(|path| Pending { path, inherited: inherited.clone() }));
        Ok(())
    }

    /// Resolves a library as the loader does: the first file of the same class and machine.
    fn library(&self, name: &str, searched: &[PathBuf], kind: ObjectClass) -> Option<PathBuf> {
        if name.contains('/') {
            return Path::new(name).canonicalize().ok();
        }
        for directory in searched {
            let path = directory.join(name);
            let has_kind = path.is_file() && elf::needs(&path).is_ok_and(|needs| needs.kind == Some(kind));
            if has_kind {
                return path.canonicalize().ok();
            }
        }
        None
    }
}

/// The RPATH for the dependencies of an object: RPATH is inherited, RUNPATH is not.
fn inherit_rpath(path: &Path, needs: &Needs, mut inherited: Vec<PathBuf>) -> Vec<PathBuf> {
    if needs.run_path.is_empty() {
        inherited.splice(0..0, search::expanded(&needs.old_run_path, path));
    }
    inherited
}

fn local(path: &Path, what: &str) -> Fault {
    Fault::new(fault::FaultKind::Local, format!("`{}` {what}", path.display()))
}

#[cfg(test)]
mod tests;
