//! Where each image goes, and what files are called.

use std::path::{Path, PathBuf};

use offload_format::Hash128;
use offload_format::pack::{Image, Sidecar, cached_name};

use crate::change::rewrite::destination::Destination;
use crate::error::{Error, Result};
use crate::read::program::FileImages;
use crate::settings::known_targets::family_of;

/// Where images are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Where they are.
    Kept,
    /// In the program.
    Embedded,
    /// All in `PROGRAM.offload`.
    Sidecar,
    /// Those of a family of targets in `PROGRAM.FAMILY.offload`.
    Split,
}

/// The place of an image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Location {
    Program,
    /// A file beside it, by name.
    Sidecar(String),
}

/// The names of files: of the program that was, and of the one that will be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileNames<'a> {
    old: &'a Path,
    new: &'a Destination,
}

impl<'a> FileNames<'a> {
    pub(crate) fn new(old: &'a Path, new: &'a Destination) -> FileNames<'a> {
        FileNames { old, new }
    }

    pub(super) fn destination(&self) -> &'a Path {
        self.new.path()
    }

    /// The path of the file `name` beside the new program.
    ///
    /// # Errors
    /// The old program needs the file that lies there.
    pub(super) fn path(&self, name: &str) -> Result<PathBuf> {
        let path = self.destination().with_file_name(name);
        let (old, new) = (self.old.canonicalize().ok(), self.destination().canonicalize().ok());
        if old != new && same_file(&path, &self.old.with_file_name(name)) {
            let text = format!("`{}` belongs to `{}`", path.display(), self.old.display());
            return Err(Error::usage(text).hint("write into another directory, or use `--in-place`"));
        }
        Ok(path)
    }

    pub(super) fn location(
        &self,
        placement: Placement,
        file: &FileImages<'_>,
        image: &Image<'_>,
    ) -> Result<Location> {
        let name = match (placement, file.name) {
            (Placement::Embedded, _) | (Placement::Kept, None) => return Ok(Location::Program),
            (Placement::Kept, Some(name)) if !is_cached(file) => self.renamed(name)?,
            // What a development build has in the compile cache stays there for the old program.
            (Placement::Kept | Placement::Sidecar, _) => {
                format!("{}.offload", self.stem(self.destination())?)
            }
            (Placement::Split, _) => {
                format!("{}.{}.offload", self.stem(self.destination())?, family_of(image.target_text))
            }
        };
        Ok(Location::Sidecar(name))
    }

    /// The name of a file that lay beside the old program.
    fn renamed(&self, file: &str) -> Result<String> {
        let rest = file.strip_prefix(self.stem(self.old)?).filter(|rest| rest.starts_with('.'));
        Ok(match rest {
            Some(rest) => format!("{}{rest}", self.stem(self.destination())?),
            None => file.to_string(),
        })
    }

    fn stem<'p>(&self, path: &'p Path) -> Result<&'p str> {
        let stem = path.file_name().and_then(|name| name.to_str());
        let fits = |stem: &&str| Sidecar::new(stem, Hash128([0; 16])).is_some();
        stem.filter(fits).ok_or_else(|| {
            let text =
                format!("a file cannot be named after `{}`", path.display().to_string().escape_debug());
            Error::usage(text).hint("give the program a name of letters, digits, `-`, `_` and `.`")
        })
    }
}

/// Whether the images are in the compile cache.
fn is_cached(file: &FileImages<'_>) -> bool {
    file.pack.source.pack.id().is_ok_and(|id| file.name == Some(cached_name(id).as_str()))
}

fn same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}
