//! Where each image goes, and what files are called.

use std::path::{Path, PathBuf};

use offload_format::Hash128;
use offload_format::pack::{Elsewhere, Image, cached_name};

use crate::change::rewrite::Destination;
use crate::error::{Error, Result};
use crate::read::program::Pile;
use crate::settings::family;

/// Where images are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Where they are.
    Kept,
    /// In the program.
    Embedded,
    /// All in `PROGRAM.offload`.
    One,
    /// Those of a family in `PROGRAM.FAMILY.offload`.
    Families,
}

/// The place of an image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Home {
    Program,
    /// A file beside it, by name.
    File(String),
}

/// The names of files: of the program that was, and of the one that will be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    old: &'a Path,
    new: &'a Destination,
}

impl<'a> Names<'a> {
    pub(crate) fn new(old: &'a Path, new: &'a Destination) -> Names<'a> {
        Names { old, new }
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

    pub(super) fn home(&self, form: Form, pile: &Pile<'_>, image: &Image<'_>) -> Result<Home> {
        let name = match (form, pile.file) {
            (Form::Embedded, _) | (Form::Kept, None) => return Ok(Home::Program),
            (Form::Kept, Some(file)) if !is_cached(pile) => self.renamed(file)?,
            // What a development build has in the compile cache stays there for the old program.
            (Form::Kept | Form::One, _) => format!("{}.offload", self.stem(self.destination())?),
            (Form::Families, _) => {
                format!("{}.{}.offload", self.stem(self.destination())?, family::of(image.target_text))
            }
        };
        Ok(Home::File(name))
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
        let fits = |stem: &&str| Elsewhere::new(stem, Hash128([0; 16])).is_some();
        stem.filter(fits).ok_or_else(|| {
            let text =
                format!("a file cannot be named after `{}`", path.display().to_string().escape_debug());
            Error::usage(text).hint("give the program a name of letters, digits, `-`, `_` and `.`")
        })
    }
}

/// Whether the images are in the compile cache.
fn is_cached(pile: &Pile<'_>) -> bool {
    pile.source.pack.id().is_ok_and(|id| pile.file == Some(cached_name(id).as_str()))
}

fn same_file(one: &Path, other: &Path) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}
