//! Images that modes are measured on: packs by crate, and all images of other toolchains together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use offload_format::Limits;

use crate::change::raw_images::{RawImages, RawPack};
use crate::commands::size::shares;
use crate::error::{Error, ExitStatus, Result};
use crate::print::text::escaped;
use crate::read::files::{self, VisitedFile};
use crate::read::input::{Contents, Input, Search};
use crate::read::program::{CrateImages, Program};
use crate::read::records::{self, ImageRecord, Origin};

/// A file's images.
#[derive(Debug, Default)]
pub(super) struct FileImages {
    /// The file itself, if it has packs.
    program: Option<Program>,
    /// Those in containers of other tool chains, or in an archive.
    foreign: Option<RawPack>,
    pub(super) today: StoredImages,
    /// Errors of unreadable images, which are skipped.
    pub(super) problems: Vec<String>,
}

/// Storage of the images in the file.
#[derive(Debug, Default)]
pub(super) struct StoredImages {
    /// Bytes of them in the file, without the headers of what they lie in.
    pub(super) stored_size: u64,
    /// Containers of the images, such as `CUDA fatbin (zstd)`.
    pub(super) containers: BTreeSet<String>,
}

/// Limits and extent of the search for images.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchScope<'a> {
    pub(super) limits: &'a Limits,
    pub(super) search: Search,
}

impl FileImages {
    /// The images of `path`: a program, a library, a container, or an archive of such files.
    ///
    /// # Errors
    /// It has none.
    pub(super) fn open(path: &Path, reach: SearchScope<'_>) -> Result<FileImages> {
        let mut images = FileImages::default();
        let mut raw = RawImages::new()?;
        if files::is_archive(path)? {
            images.add_members(path, reach, &mut raw)?
        } else {
            images.add_file(path, reach, &mut raw)?
        }
        images.foreign = raw.pack()?;
        if images.program.is_none() && images.foreign.is_none() {
            return Err(images.nothing(path));
        }
        Ok(images)
    }

    pub(super) fn crates(&self) -> Result<Vec<CrateImages<'_>>> {
        let foreign = self.foreign.as_ref().map(|pack| &pack.program);
        let mut crates = Vec::new();
        for program in self.program.iter().chain(foreign) {
            crates.extend(program.crates()?);
        }
        Ok(crates)
    }

    fn nothing(&self, path: &Path) -> Error {
        let text = format!("`{}` has no device images", path.display());
        match self.problems.first() {
            Some(problem) => Error::check(format!("no image of `{}` can be read: {problem}", path.display())),
            None => Error::check(text).hint("no file in the archive has device images"),
        }
    }

    fn add_file(&mut self, path: &Path, reach: SearchScope<'_>, raw: &mut RawImages) -> Result<()> {
        let input = Input::open(path, reach.limits)?.searched(reach.search);
        let contents = input.contents()?;
        self.add_today(&records::all(&contents)?);
        if !contents.packs.here().is_empty() {
            self.program = Some(Program::open(path, reach.limits)?);
        }
        self.problems.extend(contents.damaged.iter().cloned());
        self.add_images(&contents, raw, |record| matches!(record.origin, Origin::Container(..)))
    }

    /// All images of all members are packed together: the members of one build are unknown.
    fn add_members(&mut self, path: &Path, reach: SearchScope<'_>, raw: &mut RawImages) -> Result<()> {
        files::each(path, reach.limits, &mut |name, visited| match visited {
            VisitedFile::File(file) => self.add_member(name, file, reach, raw),
            VisitedFile::Unread(why) => {
                let (archive, member) = name.rsplit_once(": ").unwrap_or(("", name));
                self.problems.push(format!("`{}` in `{archive}`: {why}", escaped(member)));
                Ok(())
            }
            VisitedFile::Wrong(error) => {
                self.problems.push(error.to_string());
                Ok(())
            }
        })
    }

    fn add_member(
        &mut self,
        name: &str,
        file: &Path,
        reach: SearchScope<'_>,
        raw: &mut RawImages,
    ) -> Result<()> {
        let input = Input::open(file, reach.limits)?.searched(reach.search);
        match input.contents() {
            Ok(contents) => {
                self.problems.extend(contents.problems().map(|problem| format!("`{name}`: {problem}")));
                self.add_today(&records::all(&contents)?);
                self.add_images(&contents, raw, |_| true)
            }
            // Most libraries in an archive have no images.
            Err(error) if error.status() == ExitStatus::CheckFailed => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn add_today(&mut self, images: &[ImageRecord]) {
        for (image, share) in images.iter().zip(shares(images)) {
            self.today.stored_size = self.today.stored_size.saturating_add(share.stored);
            self.today.containers.insert(container(image));
        }
    }

    fn add_images(
        &mut self,
        contents: &Contents<'_>,
        raw: &mut RawImages,
        wanted: fn(&ImageRecord) -> bool,
    ) -> Result<()> {
        let images = records::all(contents)?.into_iter().filter(wanted);
        let by_origin: BTreeMap<Origin, ImageRecord> = images.map(|image| (image.origin, image)).collect();
        let origins: Vec<Origin> = by_origin.keys().copied().collect();
        records::each_image(contents, &origins, &mut |origin, image| {
            let Some(record) = by_origin.get(&origin) else { return Ok(()) };
            let frame = image.frame_hash();
            if let Some(known) = frame.and_then(|frame| raw.decoded(frame)) {
                return raw.add(record, known);
            }
            match image.decode() {
                Ok(bytes) => {
                    let kept = raw.keep(frame, &bytes)?;
                    raw.add(record, kept)
                }
                Err(error) => {
                    self.problems.push(error.to_string());
                    Ok(())
                }
            }
        })
    }
}

/// The container of an image and its compression.
fn container(image: &ImageRecord) -> String {
    let outer = match (image.origin, image.containers.last()) {
        (Origin::Pack(..), _) => "pack",
        (Origin::Container(..), Some(container)) => container,
        (Origin::Container(..), None) => "files of their own",
    };
    match image.codec.as_str() {
        "raw" => outer.to_string(),
        codec => format!("{outer} ({codec})"),
    }
}
