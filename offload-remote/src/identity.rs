//! What a program is made of: its file, the libraries that it loads, and what it opens while it runs.
//!
//! Two machines with the same files get the same results from it, whatever the files' times and owners are.

mod elf;
mod search;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use offload_format::remote::{FileIdentity, Program};

use self::elf::{Kind, Needs};
use self::search::Directories;
use crate::fault::{self, Fault};
use crate::files::Files;

/// Every file of `program`, each once, by path. It blocks.
///
/// # Errors
/// A file that is named is not there, or cannot be read. A library that is not found is passed over: the program may do
/// without it.
pub(crate) fn identify(program: &Program, files: &Files) -> Result<Vec<FileIdentity>, Fault> {
    let mut collection = Collection { directories: Directories::of(program), files: BTreeSet::new() };
    collection.add_program(Path::new(&program.path), &program.opened)?;
    for path in &program.others {
        collection.add_program(Path::new(path), &[])?;
    }
    let identify = |path: &PathBuf| {
        let text = path.to_str().ok_or_else(|| local(path, "is no text"))?.to_string();
        Ok(FileIdentity { path: text, sha256: files.hashed(path)?.digest.sha256 })
    };
    collection.files.iter().map(identify).collect()
}

/// The files found so far, by path without links.
struct Collection {
    directories: Directories,
    files: BTreeSet<PathBuf>,
}

/// A file whose libraries are to be found, and where those that loaded it look for theirs (RPATH).
struct Pending {
    path: PathBuf,
    inherited: Vec<PathBuf>,
}

impl Collection {
    fn add_program(&mut self, path: &Path, opened: &[String]) -> Result<(), Fault> {
        if !path.is_absolute() {
            return Err(local(path, "is no absolute path"));
        }
        let path = path.canonicalize().map_err(|error| Fault::file("read", path, &error))?;
        let needs = elf::needs(&path).map_err(|error| Fault::file("read", &path, &error))?;
        let mut pending = vec![Pending { path: path.clone(), inherited: Vec::new() }];
        let own = self.directories.of_object(&path, &needs, &[]);
        for found in opened.iter().flat_map(|start| self.directories.beginning(start, &own)) {
            pending.push(Pending { path: found, inherited: Vec::new() });
        }
        while let Some(object) = pending.pop() {
            self.add_object(object, &mut pending)?;
        }
        Ok(())
    }

    /// Adds a file, and what it needs to `pending`.
    fn add_object(&mut self, object: Pending, pending: &mut Vec<Pending>) -> Result<(), Fault> {
        let Pending { path, inherited } = object;
        if !self.files.insert(path.clone()) {
            return Ok(());
        }
        let needs = elf::needs(&path).map_err(|error| Fault::file("read", &path, &error))?;
        let Some(kind) = needs.kind else { return Ok(()) };
        let searched = self.directories.of_object(&path, &needs, &inherited);
        let inherited = handed_on(&path, &needs, inherited);
        let libraries = needs.libraries.iter().flat_map(|name| {
            self.library(name, &searched, kind).into_iter().chain(search::for_processors(name, &searched))
        });
        let interpreter = needs.interpreter.as_ref().and_then(|path| path.canonicalize().ok());
        let found = libraries.chain(interpreter);
        pending.extend(found.map(|path| Pending { path, inherited: inherited.clone() }));
        Ok(())
    }

    /// The file that the loader takes for a name: the first for the same kind of machine.
    fn library(&self, name: &str, searched: &[PathBuf], kind: Kind) -> Option<PathBuf> {
        if name.contains('/') {
            return Path::new(name).canonicalize().ok();
        }
        let candidates = searched.iter().map(|directory| directory.join(name));
        let fits = |path: &PathBuf| elf::needs(path).is_ok_and(|needs| needs.kind == Some(kind));
        candidates.filter(|path| path.is_file()).find(fits)?.canonicalize().ok()
    }
}

/// An RPATH holds for what the object loads too, a RUNPATH does not.
fn handed_on(path: &Path, needs: &Needs, mut inherited: Vec<PathBuf>) -> Vec<PathBuf> {
    if needs.run_path.is_empty() {
        inherited.splice(0..0, search::expanded(&needs.old_run_path, path));
    }
    inherited
}

fn local(path: &Path, what: &str) -> Fault {
    Fault::new(fault::Kind::Local, format!("`{}` {what}", path.display()))
}

#[cfg(test)]
mod tests;
