//! What was asked for, and which images of a file that is.

use std::path::PathBuf;

use offload_format::pack::Image;

use crate::cli;
use crate::error::{Error, Result};
use crate::read::pack_file::LocatedPack;
use crate::read::packs::{Packs, Reached};

/// What was asked for, of which file.
pub(super) struct Request<'a> {
    pub(super) path: PathBuf,
    pub(super) args: &'a cli::Export,
}

/// What is to be written.
pub(super) struct Exported {
    pub(super) modules: Vec<String>,
    pub(super) targets: Vec<String>,
    pub(super) content: Vec<u8>,
    pub(super) ending: &'static str,
    pub(super) hazards: Vec<String>,
}

/// An image and the pack that it lies in.
pub(super) struct PackedImage<'a> {
    pub(super) source: LocatedPack<'a>,
    pub(super) image: Image<'a>,
}

/// All images.
pub(super) fn images(packs: &Packs) -> Result<Vec<PackedImage<'_>>> {
    let mut all = Vec::new();
    for Reached { source, .. } in packs.all() {
        for image in source.pack.images() {
            let image = image?;
            all.push(PackedImage { source, image });
        }
    }
    Ok(all)
}

/// Whether `name` is among `names`.
pub(super) fn named(names: &[String], name: &str) -> bool {
    names.iter().any(|other| other == name)
}

/// The one image that `fits`; an error that lists what there is otherwise.
pub(super) fn only<'a, 'b>(
    all: &'b [PackedImage<'a>],
    what: &str,
    request: &Request<'_>,
    fits: impl Fn(&PackedImage<'_>) -> bool,
) -> Result<&'b PackedImage<'a>> {
    let fitting: Vec<_> = all.iter().filter(|packed| fits(packed)).collect();
    let listed = |packed: &mut dyn Iterator<Item = &PackedImage<'_>>| {
        let name = |packed: &PackedImage<'_>| format!("{} {}", packed.image.module, packed.image.target_text);
        packed.map(name).collect::<Vec<_>>().join(", ")
    };
    match fitting.as_slice() {
        [only] => Ok(only),
        [] => {
            let error = Error::usage(format!("there is no such {what} in `{}`", request.path.display()));
            Err(error.hint(format!("it has {}", listed(&mut all.iter()))))
        }
        several => {
            let names = listed(&mut several.iter().copied());
            let error = Error::usage(format!("several {what}s fit"));
            Err(error.hint(format!("choose with --module and --target among {names}")))
        }
    }
}
