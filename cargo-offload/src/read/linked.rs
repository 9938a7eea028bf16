//! What is asked of a linked program whose packs are about to be replaced.

use offload_format::pack::{Image, Pack};

use crate::error::{Error, Result};
use crate::read::pack_file::elf::{self, Place};
use crate::read::pack_file::{Carrier, Source};

/// # Errors
/// A pack of the file cannot be read.
pub(crate) fn check_whole(file: &Carrier) -> Result<()> {
    match file.skipped.first() {
        Some(skipped) => Err(Error::check(format!("`{}`: {skipped}", file.path().display()))),
        None => Ok(()),
    }
}

/// The packs that the program's descriptors lead to; packs that none leads to cannot be replaced.
pub(crate) fn places(program: &Carrier) -> Result<Vec<(Source<'_>, Place)>> {
    let found = elf::places(program.file());
    let path = program.path().display();
    if found.later {
        return Err(Error::check(format!("`{path}` has a pack of a later release"))
            .hint("install the release of cargo-offload that the program was built with"));
    }
    if found.places.is_empty() {
        return Err(Error::check(format!("`{path}` is no ELF program or library with images")));
    }
    let lost = || Error::check(format!("a descriptor of `{path}` leads to no pack"));
    let of_place = |place: Place| {
        let source = program.packs().find(|source| source.found.offset() == place.pack_offset);
        source.map(|source| (source, place)).ok_or_else(lost)
    };
    found.places.into_iter().map(of_place).collect()
}

/// The images of a pack.
pub(crate) fn images<'a>(pack: &Pack<'a>) -> Result<Vec<Image<'a>>> {
    pack.images().collect::<std::result::Result<_, _>>().map_err(|error| Error::check(error.to_string()))
}
