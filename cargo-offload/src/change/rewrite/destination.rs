//! Destination of a rewritten program, which is published whole after its packs were read back.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use offload_files::parent;
use offload_format::Limits;

use super::rewritten::Rewritten;
use crate::cli;
use crate::error::{Error, IoContext, Result};
use crate::files::lock::DirectoryLock;
use crate::files::publish::Staged;
use crate::print::output::Output;
use crate::read::pack_file::PackFile;

/// The file to write and the one whose rights it gets.
#[derive(Debug)]
pub(crate) struct Destination {
    path: PathBuf,
    like: PathBuf,
    /// Lock against concurrent changes to programs of the directory.
    _lock: Option<DirectoryLock>,
}

impl Destination {
    /// The destination that the options name for a change of `input`. Waits for other commands that change programs there.
    pub(crate) fn new(output: &Output, input: &Path, options: &cli::Destination) -> Result<Destination> {
        // A link to the program is not replaced by a program.
        let like = fs::canonicalize(input).io_context("open", input)?;
        let path = options.output.clone().unwrap_or_else(|| like.clone());
        let directory = parent(&path);
        let lock = DirectoryLock::take(directory, || {
            let shown = directory.display();
            output.status(&format!("waiting for another command that changes programs in `{shown}`"));
        })
        .io_context("lock", directory)?;
        if options.output.is_some() && fs::symlink_metadata(&path).is_ok() {
            return Err(Error::usage(format!("`{}` exists", path.display()))
                .hint("choose another file, or use `--in-place` to rewrite the program itself"));
        }
        Ok(Destination { path, like, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the changed file takes the place of the old one.
    pub(crate) fn is_in_place(&self) -> bool {
        self.path == self.like
    }

    /// Writes the program beside its destination, and finds its packs again.
    pub(crate) fn stage(&self, program: &Rewritten) -> Result<Staged> {
        let Destination { path, like, .. } = self;
        let data = fs::metadata(like).io_context("inspect", like)?;
        let mut staged = Staged::new(path)?;
        program.write_to(staged.file()).io_context("write", path)?;
        if let Some(seal) = &program.seal {
            let written = staged.readable();
            let written = File::open(&written).io_context("open", &written)?;
            let patch = seal.patch(&written).io_context("read", path)?;
            patch.write_to(staged.file()).io_context("write", path)?;
        }
        self.read_back(&staged.readable(), &program.ids)?;
        staged.set_permissions(data.permissions()).io_context("write", path)?;
        Ok(staged)
    }

    fn read_back(&self, written: &Path, ids: &BTreeSet<[u8; 16]>) -> Result<()> {
        let file = PackFile::open(written, &Limits::trusting())?;
        let found: BTreeSet<[u8; 16]> =
            file.packs().filter_map(|source| Some(source.pack.id().ok()?.0)).collect();
        if !file.unreadable.is_empty() || found != *ids {
            let text = format!("`{}` was not written: its packs could not be read back", self.path.display());
            return Err(
                Error::check(text).hint("this is a bug in cargo-offload; please report it with the program")
            );
        }
        Ok(())
    }
}
