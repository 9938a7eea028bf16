//! The new files appear: all of them, or none as far as a full disk or a program that cannot take them decides.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::change::repack::pack::{NewPack, stage_packs};
use crate::change::rewrite::destination::Destination;
use crate::change::rewrite::{Replacement, rewrite};
use crate::error::{Error, Result};
use crate::files::publish::{Published, Staged};
use crate::print::output::Output;
use crate::read::program::Program;

/// What a program becomes.
#[derive(Debug)]
pub(crate) struct NewFiles {
    pub(super) replacements: Vec<Replacement>,
    pub(super) files: Vec<PacksFile>,
}

/// A file of packs to be written.
#[derive(Debug)]
pub(super) struct PacksFile {
    pub(super) path: PathBuf,
    pub(super) packs: Vec<NewPack>,
}

/// Sizes of what was written, in bytes.
#[derive(Debug)]
pub(crate) struct Written {
    /// Of the program, or of the file of packs that took its place.
    pub(crate) program: u64,
    pub(crate) sidecars: Vec<Published>,
    /// Sidecars that had nothing but images of the program, and that it no longer names.
    removed: Vec<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Removed<'a> {
    reason: &'static str,
    path: &'a Path,
}

impl Written {
    /// Says which files are gone.
    pub(crate) fn tell_removed(&self, output: &Output) -> Result<()> {
        self.removed.iter().try_for_each(|path| {
            let text = format!("`{}` is removed: the program has no images there", path.display());
            output.message(&Removed { reason: "removed", path }, &text)
        })
    }
}

impl NewFiles {
    /// Everything is written before the first file appears, and a program does not appear before what it refers to.
    pub(crate) fn publish(self, program: &Program, destination: &Destination) -> Result<Written> {
        let rewritten = match self.replacements.is_empty() {
            true => None,
            false => Some(rewrite(program.file(), self.replacements)?),
        };
        let stage = |file: &PacksFile| stage_packs(&file.path, &file.packs);
        let files = self.files.iter().map(stage).collect::<Result<Vec<_>>>()?;
        let new_program = rewritten.map(|rewritten| destination.stage(&rewritten)).transpose()?;
        let published =
            files.into_iter().chain(new_program).map(Staged::appear).collect::<Result<Vec<_>>>()?;
        let (programs, sidecars): (Vec<_>, Vec<_>) =
            published.into_iter().partition(|file| file.path == destination.path());
        let mut removed = if destination.is_in_place() { program.own_sidecars() } else { Vec::new() };
        removed.retain(|path| sidecars.iter().all(|written| written.path.file_name() != path.file_name()));
        removed.iter().try_for_each(|path| remove(path))?;
        Ok(Written { program: programs.iter().map(|file| file.size).sum(), sidecars, removed })
    }
}

fn remove(path: &Path) -> Result<()> {
    std::fs::remove_file(path).map_err(|error| Error::io("remove", path, &error))
}
