//! State and callbacks of a walk through files.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use offload_containers::carrier::FileKind;
use offload_format::Limits;
use offload_format::limits::Budget;

use super::form::{self, Form};
use super::zip;
use crate::error::{Error, IoContext, Result};

/// Callback for each file, with its name.
pub(crate) type VisitFile<'v> = dyn FnMut(&str, VisitedFile<'_>) -> Result<()> + 'v;

/// A file that may carry images.
pub(crate) enum VisitedFile<'f> {
    /// Its bytes.
    File(&'f Path),
    /// It was not looked into, and why.
    Unread(String),
    /// It is damaged, or ambiguous.
    Wrong(Error),
}

pub(super) struct Walk<'w, 'v> {
    pub(super) limits: &'w Limits,
    pub(super) visit: &'w mut VisitFile<'v>,
    /// Of the outermost archive, and all in it: each level could inflate to as many times its size.
    pub(super) budget: Rc<RefCell<Budget>>,
    /// The canonical path that all is in.
    pub(super) root: PathBuf,
}

/// A file's name for people, and how many archives it lies in.
#[derive(Clone, Copy)]
pub(super) struct FileLocation<'p> {
    pub(super) shown: &'p str,
    pub(super) depth: u32,
}

impl FileLocation<'_> {
    /// That of a member, which people see as `shown`.
    pub(super) fn member<'p>(&self, shown: &'p str) -> FileLocation<'p> {
        FileLocation { shown, depth: self.depth.saturating_add(1) }
    }
}

/// Error that ends the reading of an archive.
pub(super) enum ArchiveError {
    /// It is damaged, or inflates to more than it may.
    Damaged(io::Error),
    /// An error that ends the command.
    Failed(Error),
}

impl From<io::Error> for ArchiveError {
    fn from(error: io::Error) -> ArchiveError {
        ArchiveError::Damaged(error)
    }
}

impl From<Error> for ArchiveError {
    fn from(error: Error) -> ArchiveError {
        ArchiveError::Failed(error)
    }
}

impl Walk<'_, '_> {
    /// Calls `visit` where the archive that `read` reads is damaged.
    pub(super) fn stopped(
        &mut self,
        shown: &str,
        read: impl FnOnce(&mut Self) -> std::result::Result<(), ArchiveError>,
    ) -> Result<()> {
        match read(self) {
            // The members before the damage were looked at.
            Err(ArchiveError::Damaged(problem)) => {
                let text = format!("`{shown}` is a damaged archive: {problem}");
                (self.visit)(shown, VisitedFile::Wrong(Error::check(text)))
            }
            Err(ArchiveError::Failed(error)) => Err(error),
            Ok(()) => Ok(()),
        }
    }

    pub(super) fn unread(&mut self, shown: &str, why: impl Into<String>) -> Result<()> {
        (self.visit)(shown, VisitedFile::Unread(why.into()))
    }
}

/// Start of a script, which an archive may follow.
pub(super) const SCRIPT: &[u8] = b"#!";

/// Whether what starts so may have images, or be an archive of such files.
pub(super) fn is_wanted(head: &[u8]) -> bool {
    Form::detect(head).is_some()
        || FileKind::detect(head).is_some()
        || head.starts_with(SCRIPT)
        || form::may_be_disk(head)
}

/// Reads the start of `path`, and a larger one of a possible disk image.
pub(super) fn head(path: &Path) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    let file = File::open(path).io_context("open", path)?;
    (&file).take(zip::HEAD).read_to_end(&mut head).io_context("read", path)?;
    if form::may_be_disk(&head) {
        let rest = form::DISK.saturating_sub(zip::HEAD);
        (&file).take(rest).read_to_end(&mut head).io_context("read", path)?;
    }
    Ok(head)
}
