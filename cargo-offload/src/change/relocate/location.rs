//! Destination file of each image, and its name.

use std::path::{Path, PathBuf};

use offload_format::Hash128;
use offload_format::pack::{Image, Sidecar, cached_name};

use super::sidecar_name;
use crate::change::repack::pack::NewPack;
use crate::error::{Error, Result};
use crate::read::program::FileImages;
use crate::settings::known_targets::family_of;

/// Placement of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// The current location.
    Kept,
    /// In the program.
    Embedded,
    /// All in `PROGRAM.HASH.offload`.
    Sidecar,
    /// Those of a family of targets in `PROGRAM.FAMILY.HASH.offload`.
    Split,
}

/// The place of an image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Location {
    Program,
    /// A file beside it, by what its name starts with.
    Sidecar(String),
}

/// The names of files: of the program that was, and of the one that will be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileNames<'a> {
    pub(crate) old: &'a Path,
    pub(crate) new: &'a Path,
}

impl<'a> FileNames<'a> {
    /// The name of the sidecar with `packs` that starts with `start`.
    pub(super) fn sidecar(&self, start: &str, packs: &[NewPack]) -> Result<String> {
        let ids: Vec<Hash128> = packs.iter().map(|pack| pack.id).collect();
        Ok(sidecar_name::sidecar_name(start, self.stem(self.new)?, &ids))
    }

    /// The path of the file `name` beside the new program.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.new.with_file_name(name)
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
            (Placement::Kept | Placement::Sidecar, _) => self.stem(self.new)?.to_string(),
            (Placement::Split, _) => {
                format!("{}.{}", self.stem(self.new)?, family_of(image.target_text))
            }
        };
        Ok(Location::Sidecar(name))
    }

    /// The start of the new name of a file next to the old program.
    fn renamed(&self, file: &str) -> Result<String> {
        let start = sidecar_name::start(file);
        let rest = start.strip_prefix(self.stem(self.old)?);
        Ok(match rest.filter(|rest| rest.is_empty() || rest.starts_with('.')) {
            Some(rest) => format!("{}{rest}", self.stem(self.new)?),
            None => start.to_string(),
        })
    }

    fn stem<'p>(&self, path: &'p Path) -> Result<&'p str> {
        let stem = path.file_name().and_then(|name| name.to_str());
        stem.filter(|stem| Sidecar::new(stem, Hash128([0; 16])).is_some()).ok_or_else(|| {
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
