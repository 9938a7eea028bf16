//! Publication of new files in an order that leaves the program with all its images if the process is interrupted.
//!
//! 1. All files are written and synced, without names.
//! 2. The sidecars get their names, which contain a hash of their content, so that no sidecar of the old program is
//!    replaced.
//! 3. The program is renamed into place, which switches from the old images to the new ones in one step.
//! 4. Sidecars that no program references are removed. If this is interrupted, the next change removes them.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::cleanup;
use crate::change::repack::pack::{NewPack, stage_packs};
use crate::change::rewrite::destination::Destination;
use crate::change::rewrite::{Replacement, rewrite};
use crate::error::Result;
use crate::files::publish::{Published, Staged, sync_names};
use crate::print::output::Output;
use crate::read::program::Program;

/// New files of a program.
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

/// Replacement of the program.
#[derive(Debug)]
pub(super) enum NewProgram {
    /// It, with other packs.
    Linked(Vec<Replacement>),
    /// It was a file of packs, and is one again.
    Packs(Vec<NewPack>),
}

/// Written files.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) program: Published,
    pub(crate) sidecars: Vec<Published>,
    /// Files that nothing references any more.
    removed: Removed,
}

impl Written {
    /// Says which files are gone.
    pub(crate) fn print_removed(&self, output: &Output) -> Result<()> {
        self.removed.print(output)
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
        cleanup::remove(destination.path(), former).map(Removed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn print(&self, output: &Output) -> Result<()> {
        self.0.iter().try_for_each(|file| {
            let text = format!("removed `{}`: no program uses it", file.display());
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
        let mut sidecars = self
            .sidecars
            .iter()
            .map(|sidecar| stage_packs(&sidecar.path, &sidecar.packs))
            .collect::<Result<Vec<_>>>()?;
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
