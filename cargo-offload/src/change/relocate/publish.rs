//! The new files appear, in an order that leaves a program with all its images whenever the process ends.
//!
//! 1. Everything is written and on the disk, and nothing has a name.
//! 2. The sidecars get their names. These come from their content, so that no sidecar of the old program is replaced.
//! 3. The program gets its name: with this one step the new images take the place of the old ones.
//! 4. The sidecars that no program needs any more are removed. If that does not happen, the next change does it.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::leftover;
use crate::change::repack::pack::{NewPack, stage_packs};
use crate::change::rewrite::destination::Destination;
use crate::change::rewrite::{Replacement, rewrite};
use crate::error::Result;
use crate::files::publish::{Published, Staged, sync_names};
use crate::print::output::Output;
use crate::read::program::Program;

/// What a program becomes.
#[derive(Debug)]
pub(crate) struct NewFiles {
    pub(super) sidecars: Vec<NewSidecar>,
    pub(super) program: NewProgram,
}

/// A file of packs beside the program.
#[derive(Debug)]
pub(super) struct NewSidecar {
    pub(super) path: PathBuf,
    pub(super) packs: Vec<NewPack>,
}

/// What takes the place of the program.
#[derive(Debug)]
pub(super) enum NewProgram {
    /// It, with other packs.
    Linked(Vec<Replacement>),
    /// It was a file of packs, and is one again.
    Packs(Vec<NewPack>),
}

/// What was written.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) program: Published,
    pub(crate) sidecars: Vec<Published>,
    /// What nothing needs any more.
    removed: Removed,
}

impl Written {
    /// Says which files are gone.
    pub(crate) fn tell_removed(&self, output: &Output) -> Result<()> {
        self.removed.tell(output)
    }
}

/// Files that are gone.
#[derive(Debug, Default)]
pub(crate) struct Removed(Vec<PathBuf>);

#[derive(Debug, Serialize)]
struct RemovedMessage<'a> {
    reason: &'static str,
    file: &'a Path,
}

impl Removed {
    /// Removes what changes of the program have left that were interrupted.
    pub(crate) fn left_at(destination: &Destination) -> Result<Removed> {
        Removed::after(destination, &[])
    }

    /// The same, and `former`, the sidecars that the program had. Where it is changed into another one, nothing goes.
    fn after(destination: &Destination, former: &[PathBuf]) -> Result<Removed> {
        if !destination.is_in_place() {
            return Ok(Removed::default());
        }
        leftover::remove(destination.path(), former).map(Removed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn tell(&self, output: &Output) -> Result<()> {
        self.0.iter().try_for_each(|file| {
            let text = format!("`{}` is removed: no program needs it", file.display());
            output.done(&RemovedMessage { reason: "removed", file }, &text)
        })
    }
}

impl NewFiles {
    pub(crate) fn publish(self, old: &Program, destination: &Destination) -> Result<Written> {
        let (sidecars, program) = self.stage(old, destination)?;
        let mut created = Vec::new();
        let (sidecars, program) = match appear(sidecars, program, &mut created) {
            Err(error) => {
                // The old program needs none of them. What cannot be removed goes with the next change.
                created.iter().for_each(|path| drop(std::fs::remove_file(path)));
                return Err(error);
            }
            Ok(published) => published,
        };
        sync_names(destination.path())?;
        let removed = Removed::after(destination, &old.own_sidecars())?;
        Ok(Written { program, sidecars, removed })
    }

    /// Writes everything.
    fn stage(self, old: &Program, destination: &Destination) -> Result<(Vec<Staged>, Staged)> {
        let sidecar = |sidecar: &NewSidecar| stage_packs(&sidecar.path, &sidecar.packs);
        let mut sidecars = self.sidecars.iter().map(sidecar).collect::<Result<Vec<_>>>()?;
        let mut program = match self.program {
            NewProgram::Linked(packs) => destination.stage(&rewrite(old.file(), packs)?)?,
            NewProgram::Packs(packs) => stage_packs(destination.path(), &packs)?,
        };
        // The old files may be the only ones that have the images.
        sidecars.iter_mut().chain([&mut program]).try_for_each(Staged::sync)?;
        Ok((sidecars, program))
    }
}

/// Gives the files their names, the program last. `created` are those that did not exist and do now.
fn appear(
    sidecars: Vec<Staged>,
    program: Staged,
    created: &mut Vec<PathBuf>,
) -> Result<(Vec<Published>, Published)> {
    let mut published = Vec::new();
    for sidecar in sidecars {
        let is_new = sidecar.path().symlink_metadata().is_err();
        let sidecar = sidecar.appear()?;
        if is_new {
            created.push(sidecar.path.clone());
        }
        published.push(sidecar);
    }
    sync_names(program.path())?;
    Ok((published, program.appear()?))
}
