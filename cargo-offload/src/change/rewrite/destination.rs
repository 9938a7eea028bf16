//! Where a changed program goes, and how it gets there: whole, and read back.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Rewritten;
use crate::cli;
use crate::error::{Error, Result};
use crate::files::publish::Staged;
use crate::read::pack_file::Carrier;

/// The file to write and the one whose rights it gets.
#[derive(Debug)]
pub(crate) struct Destination {
    path: PathBuf,
    like: PathBuf,
}

impl Destination {
    /// The destination that the options name for a change of `input`.
    pub(crate) fn new(input: &Path, options: &cli::Destination) -> Result<Destination> {
        // A link to the program is not replaced by a program.
        let real = fs::canonicalize(input).map_err(|error| Error::io("open", input, &error))?;
        let Some(path) = &options.output else { return Ok(Destination { path: real.clone(), like: real }) };
        if fs::symlink_metadata(path).is_ok() {
            return Err(Error::usage(format!("`{}` exists", path.display()))
                .hint("name another file, or use `--in-place` to change the program itself"));
        }
        Ok(Destination { path: path.clone(), like: real })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the changed file takes the place of the old one.
    pub(crate) fn is_in_place(&self) -> bool {
        self.path == self.like
    }
}

impl Rewritten {
    /// Writes the program beside its destination, and finds its packs again.
    pub(crate) fn stage(&self, destination: &Destination) -> Result<Staged> {
        let Destination { path, like } = destination;
        let failed = |error: io::Error| Error::io("write", path, &error);
        let data = fs::metadata(like).map_err(|error| Error::io("inspect", like, &error))?;
        let mut staged = Staged::new(path)?;
        self.write_to(staged.file()).map_err(failed)?;
        self.read_back(&staged.readable(), path)?;
        staged.set_permissions(data.permissions()).map_err(failed)?;
        // The input may be the only copy.
        staged.file().sync_all().map_err(failed)?;
        Ok(staged)
    }

    fn read_back(&self, written: &Path, shown: &Path) -> Result<()> {
        let carrier = Carrier::open(written)?;
        let found: BTreeSet<[u8; 16]> =
            carrier.packs().filter_map(|source| Some(source.pack.id().ok()?.0)).collect();
        if !carrier.skipped.is_empty() || found != self.ids {
            let text = format!("`{}` was not written: its packs could not be read back", shown.display());
            return Err(Error::check(text).hint("please report this with the program"));
        }
        Ok(())
    }
}
