//! The new files appear: all of them, or none as far as a disk without room or a program without room decides.

use std::path::{Path, PathBuf};

use super::Moved;
use crate::carrier::Carrier;
use crate::error::Result;
use crate::publish::{Staged, stage_pack};
use crate::rewrite::{self, Destination};

/// Sizes of what was written, in bytes.
#[derive(Debug)]
pub(crate) struct Published {
    /// Of the program, or of the file of packs that took its place.
    pub(crate) program: u64,
    /// Of files beside it.
    pub(crate) files: Vec<(PathBuf, u64)>,
}

impl Moved {
    /// Everything is written before the first file appears, and a program does not appear before what it refers to.
    pub(crate) fn publish(self, program: &Carrier, destination: &Destination) -> Result<Published> {
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
        Ok(Published { program: program.iter().map(|(_, size)| size).sum(), files })
    }
}
