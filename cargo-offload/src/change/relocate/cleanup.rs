//! Cleanup of unreferenced files: the sidecars of earlier changes, and remains of an interrupted change.
//!
//! Only files that certainly belong to this program are removed, and none that any program of the directory
//! references.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use object::FileKind;
use offload_files::{TemporaryName, parent};
use offload_format::Hash128;
use offload_format::Limits;
use offload_format::pack::layout::MAGIC;

use super::sidecar_name::{has_form, is_for};
use crate::error::{Error, ExitStatus, IoContext, Result};
use crate::files::read_at::read_at;
use crate::read::pack_file::PackFile;

/// Size of the start of a file that identifies its format.
const HEAD: u64 = 4096;

/// Removes `former`, the sidecars that the program at `path` had before it was changed, and what interrupted changes of
/// it have left. The directory is locked.
pub(super) fn remove(path: &Path, former: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Ok(Vec::new()) };
    let files = files(parent(path))?;
    let named = former.iter().filter_map(|file| file.file_name());
    let mut gone: Vec<PathBuf> = named.map(|name| parent(path).join(name)).collect();
    for file in &files {
        if !gone.contains(file) && is_left(file, name)? {
            gone.push(file.clone());
        }
    }
    if gone.is_empty() {
        return Ok(gone);
    }
    let Some(needed) = referenced_files(&files)? else { return Ok(Vec::new()) };
    gone.retain(|file| file_name(file).is_some_and(|name| !needed.contains(name)));
    gone.iter().try_for_each(|file| match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io("remove", file, &error)),
        _ => Ok(()),
    })?;
    Ok(gone)
}

fn file_name(file: &Path) -> Option<&str> {
    file.file_name()?.to_str()
}

/// The files of a directory, by name.
fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(files),
        entries => entries.io_context("read", directory)?,
    };
    for entry in entries {
        let path = directory.join(entry.io_context("read", directory)?.file_name());
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Whether an interrupted change of `program` has left the file.
fn is_left(file: &Path, program: &str) -> Result<bool> {
    let Some(name) = file_name(file) else { return Ok(false) };
    if let Some(becomes) = TemporaryName::becomes(name) {
        // Another process that writes a file of this name holds the lock.
        return Ok(becomes == program || has_form(becomes));
    }
    Ok(has_form(name) && whole(file)?.is_some_and(|packs| is_for(name, program, &packs)))
}

/// The packs of a file that consists of packs, all of which can be read.
fn whole(file: &Path) -> Result<Option<Vec<Hash128>>> {
    let Some(file) = open(PackFile::open(file, &Limits::default()))? else { return Ok(None) };
    let ids: Option<Vec<Hash128>> = file.packs().map(|source| source.pack.id().ok()).collect();
    Ok(ids.filter(|_| file.is_packs() && file.unreadable.is_empty()))
}

/// The names of all sidecars that the programs among `files` name; `None` if one of them does not tell.
fn referenced_files(files: &[PathBuf]) -> Result<Option<BTreeSet<String>>> {
    let mut needed = BTreeSet::new();
    for file in files {
        let head = match head(file) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(None),
            head => head.io_context("read", file)?,
        };
        let Some(program) = program(file, &head)? else { continue };
        for sidecar in program.packs().flat_map(|source| source.pack.sidecars()) {
            let Ok(sidecar) = sidecar else { return Ok(None) };
            needed.insert(sidecar.file().to_string());
        }
        if !program.unreadable.is_empty() {
            return Ok(None);
        }
    }
    Ok(Some(needed))
}

/// Reads the start of a file, which identifies its format.
fn head(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    read_at(&file, 0, HEAD.min(file.metadata()?.len()))
}

/// A program, a library or a file of packs.
fn program(path: &Path, head: &[u8]) -> Result<Option<PackFile>> {
    if head.starts_with(&MAGIC) {
        return open(PackFile::open(path, &Limits::default()));
    }
    match FileKind::parse(head) {
        Ok(FileKind::Elf32 | FileKind::Elf64) => PackFile::linked(path, &Limits::default()).map(Some),
        Ok(FileKind::Pe32 | FileKind::Pe64 | FileKind::MachO32 | FileKind::MachO64) => {
            open(PackFile::open(path, &Limits::default()))
        }
        _ => Ok(None),
    }
}

/// A file without packs is of no interest here.
fn open(file: Result<PackFile>) -> Result<Option<PackFile>> {
    match file {
        Err(error) if error.status() == ExitStatus::CheckFailed => Ok(None),
        file => file.map(Some),
    }
}
