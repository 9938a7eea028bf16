//! A walk through files: what it knows, and whom it calls.

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
use crate::error::{Error, Result};

/// What is called with the name of each file.
pub(crate) type VisitFile<'v> = dyn FnMut(&str, Visited<'_>) -> Result<()> + 'v;

/// A file that may carry images.
pub(crate) enum Visited<'f> {
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
pub(super) struct Place<'p> {
    pub(super) shown: &'p str,
    pub(super) depth: u32,
}

impl Place<'_> {
    /// That of a member, which people see as `shown`.
    pub(super) fn member<'p>(&self, shown: &'p str) -> Place<'p> {
        Place { shown, depth: self.depth.saturating_add(1) }
    }
}

/// Why an archive was not read to its end.
pub(super) enum Stopped {
    /// It is damaged, or inflates to more than it may.
    Damaged(io::Error),
    /// What ends the command.
    Failed(Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Stopped {
        Stopped::Damaged(error)
    }
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Stopped {
        Stopped::Failed(error)
    }
}

impl Walk<'_, '_> {
    /// Calls `visit` where the archive that `read` reads is damaged.
    pub(super) fn stopped(
        &mut self,
        shown: &str,
        read: impl FnOnce(&mut Self) -> std::result::Result<(), Stopped>,
    ) -> Result<()> {
        match read(self) {
            // The members before the damage were looked at.
            Err(Stopped::Damaged(problem)) => {
                let text = format!("`{shown}` is a damaged archive: {problem}");
                (self.visit)(shown, Visited::Wrong(Error::check(text)))
            }
            Err(Stopped::Failed(error)) => Err(error),
            Ok(()) => Ok(()),
        }
    }

    pub(super) fn unread(&mut self, shown: &str, why: impl Into<String>) -> Result<()> {
        (self.visit)(shown, Visited::Unread(why.into()))
    }
}

/// How a script starts, which may have an archive behind it.
pub(super) const SCRIPT: &[u8] = b"#!";

/// Whether what starts so may have images, or be an archive of such files.
pub(super) fn is_wanted(head: &[u8]) -> bool {
    Form::detect(head).is_some()
        || FileKind::detect(head).is_some()
        || head.starts_with(SCRIPT)
        || form::may_be_disk(head)
}

/// How `path` starts: of what may be a disk image more than of others.
pub(super) fn head(path: &Path) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    let file = File::open(path).map_err(|error| Error::io("open", path, &error))?;
    let failed = |error: io::Error| Error::io("read", path, &error);
    (&file).take(zip::HEAD).read_to_end(&mut head).map_err(failed)?;
    if form::may_be_disk(&head) {
        let rest = form::DISK.saturating_sub(zip::HEAD);
        (&file).take(rest).read_to_end(&mut head).map_err(failed)?;
    }
    Ok(head)
}
