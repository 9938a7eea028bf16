//! The new files appear: all of them, or none as far as a disk without room or a program without room decides.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Moved;
use crate::change::rewrite::{self, Destination};
use crate::error::{Error, Result};
use crate::files::publish::{Staged, stage_pack};
use crate::print::output::Output;
use crate::read::program::Opened;

/// Sizes of what was written, in bytes.
#[derive(Debug)]
pub(crate) struct Published {
    /// Of the program, or of the file of packs that took its place.
    pub(crate) program: u64,
    /// Of files beside it.
    pub(crate) files: Vec<(PathBuf, u64)>,
    /// Files that had nothing but images of the program, and that it no longer names.
    removed: Vec<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Removed<'a> {
    reason: &'static str,
    path: &'a Path,
}

impl Published {
    /// Says which files are gone.
    pub(crate) fn tell_removed(&self, output: &Output) -> Result<()> {
        self.removed.iter().try_for_each(|path| {
            let text = format!("`{}` is removed: the program has no images there", path.display());
            output.message(&Removed { reason: "removed", path }, &text)
        })
    }
}

impl Moved {
    /// Everything is written before the first file appears, and a program does not appear before what it refers to.
    pub(crate) fn publish(self, opened: &Opened, destination: &Destination) -> Result<Published> {
        let program = opened.program();
        let rewritten = match self.packs.is_empty() {
            true => None,
            false => Some(rewrite::rewrite((program.path(), program.file()), self.packs)?),
        };
        let stage = |(path, packs): &(PathBuf, Vec<_>)| stage_pack(Path::new(path), packs);
        let files = self.files.iter().map(stage).collect::<Result<Vec<_>>>()?;
        let program = rewritten.map(|rewritten| rewritten.stage(destination)).transpose()?;
        let written = files.into_iter().chain(program).map(Staged::appear).collect::<Result<Vec<_>>>()?;
        let (program, files): (Vec<_>, Vec<_>) =
            written.into_iter().partition(|(path, _)| path == destination.path());
        let mut removed = if destination.is_in_place() { opened.own_files() } else { Vec::new() };
        removed.retain(|path| files.iter().all(|(written, _)| written.file_name() != path.file_name()));
        removed.iter().try_for_each(|path| remove(path))?;
        Ok(Published { program: program.iter().map(|(_, size)| size).sum(), files, removed })
    }
}

fn remove(path: &Path) -> Result<()> {
    std::fs::remove_file(path).map_err(|error| Error::io("remove", path, &error))
}
