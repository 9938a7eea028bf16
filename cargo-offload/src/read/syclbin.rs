//! SYCLBIN files among the containers of a file.

use std::path::Path;

use offload_containers::carrier::{FileKind, ImageRange, RangeOrigin};
use offload_containers::syclbin;
use offload_format::Limits;

use crate::error::{Error, Result};

/// A SYCLBIN and where it is.
#[derive(Debug)]
pub(crate) struct Syclbin<'a> {
    /// The file, or a section of it.
    pub(crate) place: String,
    bytes: &'a [u8],
}

impl<'a> Syclbin<'a> {
    /// Wraps a container of `path` that is a SYCLBIN.
    pub(crate) fn new(found: &ImageRange<'a>, path: &Path) -> Option<Syclbin<'a>> {
        let wanted = found.kind == Some(FileKind::Syclbin);
        wanted.then(|| Syclbin { place: place(found, path), bytes: found.bytes })
    }

    /// Reads what it holds.
    ///
    /// # Errors
    /// It is malformed.
    pub(crate) fn parse(&self) -> Result<syclbin::File<'a>> {
        let parsed = syclbin::parse(self.bytes, &Limits::default());
        parsed.map_err(|error| Error::check(format!("the SYCLBIN in {}: {error}", self.place)))
    }
}

fn place(found: &ImageRange<'_>, path: &Path) -> String {
    let file = format!("`{}`", path.display());
    match (found.origin, found.member) {
        (RangeOrigin::Whole, None) => file,
        (RangeOrigin::Section(name), None) => {
            format!("section `{}` of {file}", String::from_utf8_lossy(name).escape_debug())
        }
        _ => format!("{file} at {:#x}", found.offset),
    }
}
