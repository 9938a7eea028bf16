//! Input files of an export: packs as they are, and other toolchains' images by a pack made of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use offload_format::Target;

use crate::change::raw_images::{RawImages, RawPack};
use crate::error::{Error, Result};
use crate::print::output::Output;
use crate::read::input::{Contents, Input};
use crate::read::packs::Packs;
use crate::read::records::{self, ImageRecord, Origin};

/// Packs that can be exported from.
#[derive(Debug)]
pub(super) enum Sources {
    Own(Packs),
    Made(RawPack),
}

/// The module of all images of several files.
const JOINED: &str = "images";

impl Sources {
    /// Opens `paths`. The images of several files are those of one module.
    ///
    /// # Errors
    /// One of them has no images, or one cannot be read.
    pub(super) fn open(output: &Output, paths: &[PathBuf]) -> Result<Sources> {
        let mut made = RawImages::new()?;
        for path in paths {
            let input = Input::open(path, output.limits())?;
            let contents = input.contents()?;
            if paths.len() == 1 && !contents.packs.here().is_empty() {
                return Packs::open(path, output.limits()).map(Sources::Own);
            }
            let module = if paths.len() > 1 { Some(JOINED) } else { None };
            add(&mut made, &contents, module)?;
        }
        match made.pack()? {
            Some(pack) => Ok(Sources::Made(pack)),
            None => Err(nothing(paths.first().map_or(Path::new(""), PathBuf::as_path))),
        }
    }

    pub(super) fn packs(&self) -> &Packs {
        match self {
            Sources::Own(packs) => packs,
            Sources::Made(pack) => pack.program.packs(),
        }
    }
}

/// Decodes the images that have a target, for `module` or for what they lie in.
fn add(made: &mut RawImages, contents: &Contents<'_>, module: Option<&str>) -> Result<()> {
    let images = records::all(contents)?;
    let by_origin: BTreeMap<Origin, &ImageRecord> =
        images.iter().map(|record| (record.origin, record)).collect();
    let origins: Vec<Origin> = by_origin.keys().copied().collect();
    records::each_image(contents, &origins, &mut |origin, image| {
        let Some(record) = by_origin.get(&origin) else { return Ok(()) };
        let Ok(target) = record.target.parse::<Target>() else { return Ok(()) };
        let decoded = made.keep(image.frame_hash(), &image.decode()?)?;
        made.add_to(module.unwrap_or(&record.module), target, decoded)
    })
}

fn nothing(path: &Path) -> Error {
    let text = format!("no image of `{}` has a known target", path.display());
    Error::check(text).hint("`cargo offload extract` writes images of any target")
}
