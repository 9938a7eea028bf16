//! Moving images out: the program keeps a pack that says where they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use offload_format::pack::{Elsewhere, Image, NoticeKind};
use offload_format::section::DESCRIPTOR_ELSEWHERE;

use super::Repacked;
use crate::carrier::elf::Place;
use crate::error::{Error, Result};
use crate::family;
use crate::program::{self, Program};
use crate::rewrite::{Destination, NewPack};
use crate::thin::{self, About, NewBytes, Source};

/// Into which files.
#[derive(Clone, Copy, Debug)]
pub(super) enum Files<'a> {
    /// All into `PROGRAM.offload`.
    One(&'a Destination),
    /// Those of a family into `PROGRAM.FAMILY.offload`.
    Families(&'a Destination),
}

pub(super) fn repack(program: &Program, files: Files<'_>) -> Result<Repacked> {
    program.refuse_elsewhere()?;
    let mut written: BTreeMap<String, Vec<NewBytes>> = BTreeMap::new();
    let mut packs = Vec::new();
    for (found, pack, place) in program.places()? {
        packs.push(move_out(program.source(found, &pack), (place, files), &mut written)?);
    }
    if written.is_empty() {
        return Err(Error::usage(format!("`{}` has no images", program.path().display())));
    }
    let files =
        written.into_iter().map(|(name, packs)| (files.destination().path().with_file_name(name), packs));
    Ok(Repacked { packs, files: files.collect() })
}

/// Adds the images of a pack to the files, and makes the pack that stays.
fn move_out(
    source: Source<'_>,
    (place, files): (Place, Files<'_>),
    written: &mut BTreeMap<String, Vec<NewBytes>>,
) -> Result<NewPack> {
    let images = program::images(source.pack)?;
    let mut about = About::of(source.pack)?;
    if images.is_empty() {
        // It says why there is nothing, and can go on saying so.
        let flags = place.descriptor.flags;
        return Ok(NewPack { place, bytes: thin::copy(&source)?, flags });
    }
    let mut by_file: BTreeMap<String, Vec<Image<'_>>> = BTreeMap::new();
    for image in images {
        by_file.entry(files.name(&image)?).or_default().push(image);
    }
    for (name, images) in by_file {
        let told: BTreeSet<[String; 3]> =
            images.iter().map(|image| [image.module, image.target_text, &name].map(str::to_string)).collect();
        about.missing.extend(told.into_iter().map(|texts| (NoticeKind::Elsewhere, texts)));
        let bytes = match files {
            Files::One(_) => thin::copy(&source)?,
            Files::Families(_) => thin::rebuild(&About::of_package(source.pack), &[(source, images)])?,
        };
        about.elsewhere.extend(Elsewhere::new(&name, bytes.id));
        written.entry(name).or_default().push(bytes);
    }
    let bytes = thin::rebuild(&about, &[])?;
    Ok(NewPack { flags: place.descriptor.flags | DESCRIPTOR_ELSEWHERE, place, bytes })
}

impl<'a> Files<'a> {
    fn destination(self) -> &'a Destination {
        let (Files::One(destination) | Files::Families(destination)) = self;
        destination
    }

    /// The file for an image.
    fn name(self, image: &Image<'_>) -> Result<String> {
        let path: PathBuf = self.destination().path().into();
        let stem = path.file_name().and_then(|name| name.to_str());
        let name = stem.map(|stem| match self {
            Files::One(_) => format!("{stem}.offload"),
            Files::Families(_) => format!("{stem}.{}.offload", family::of(image.target_text)),
        });
        let fits = |name: &String| Elsewhere::new(name, image.hash).is_some();
        name.filter(fits).ok_or_else(|| {
            let text =
                format!("a file cannot be named after `{}`", path.display().to_string().escape_debug());
            Error::usage(text).hint("give the program a name of letters, digits, `-`, `_` and `.`")
        })
    }
}
