//! Report as a self-contained HTML page.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use super::comparison::{self, Line, MeasuredBuild};
use super::row::Row;
use crate::cli;
use crate::commands::size::shares;
use crate::error::{Error, Result};
use crate::files::publish::{replace, replaceable};
use crate::print::date;
use crate::print::output::Output;
use crate::print::text::plain_json;
use crate::read::records::ImageRecord;
use crate::settings::known_targets::{family_of, generation_of};

/// The page around the data; what it shows is made by its script.
const PAGE: &str = include_str!("page.html");
/// Placeholder of the data.
const SLOT: &str = "OFFLOAD_DATA";

/// Content of a page.
#[derive(Debug)]
pub(super) struct Page<'a> {
    /// The file name of the first build, without directories, which depend on the machine.
    pub(super) path: &'a Path,
    /// The first one with images is shown whole; if there are several, all are shown side by side.
    pub(super) builds: &'a [MeasuredBuild],
    /// Images that builds lack, in a sentence each.
    pub(super) missing: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Data<'a> {
    file: String,
    /// With their versions, those whose packs are in it.
    packages: BTreeSet<String>,
    /// Modification date of the file.
    date: Option<String>,
    /// Each with the targets of the images that name it.
    compilers: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// Label of the build of `kernels` and `images`, if there are several.
    build: Option<&'a str>,
    kernels: &'a [Row],
    images: Vec<Area<'a>>,
    beside: Vec<Line<'a>>,
    missing: &'a [String],
}

/// A rectangle of the map.
#[derive(Debug, Serialize)]
struct Area<'a> {
    module: String,
    target: &'a str,
    part: &'a str,
    /// Target family.
    family: &'static str,
    /// Device generation.
    generation: String,
    /// Number of kernels, and of those that spill.
    kernels: u64,
    spilling: u64,
    stored: u64,
    raw: u64,
}

/// A page is written again and again; another file is kept.
pub(super) fn check(file: &Path) -> Result<()> {
    replaceable(file, b"<!DOCTYPE html>", "page")
}

impl Page<'_> {
    /// Writes the page if one is asked for.
    pub(super) fn write(&self, output: &Output, args: &cli::Report) -> Result<()> {
        let Some(file) = &args.html else { return Ok(()) };
        replace(file, self.text()?.as_bytes())?;
        output.wrote(file)
    }

    /// The page as a file.
    fn text(&self) -> Result<String> {
        let several = self.builds.len() > 1;
        let whole = self.builds.iter().find(|build| !build.images.is_empty()).or(self.builds.first());
        let images = whole.map(|build| build.images.as_slice()).unwrap_or_default();
        let data = Data {
            packages: packages(images),
            date: date::modification_date(self.path),
            compilers: compilers(images),
            file: self.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            build: whole.filter(|_| several).map(|build| build.label.as_str()),
            kernels: whole.map(|build| build.rows.as_slice()).unwrap_or_default(),
            images: areas(images),
            beside: if several { comparison::lines(self.builds) } else { Vec::new() },
            missing: &self.missing,
        };
        let json = serde_json::to_string(&data)
            .map_err(|error| Error::usage(format!("cannot render the page: {error}")))?;
        Ok(PAGE.replace(SLOT, &inert(&plain_json(&json))))
    }
}

fn packages(images: &[ImageRecord]) -> BTreeSet<String> {
    let named = images.iter().filter(|image| !image.package.is_empty());
    named.map(|image| format!("{} {}", image.package, image.version)).collect()
}

fn compilers(images: &[ImageRecord]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut compilers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for image in images {
        for compiler in &image.compilers {
            compilers.entry(compiler).or_default().insert(&image.target);
        }
    }
    compilers
}

fn areas<'a>(images: &'a [ImageRecord]) -> Vec<Area<'a>> {
    images
        .iter()
        .zip(shares(images))
        .map(|(image, share)| Area {
            module: image.module_name(),
            target: &image.target,
            part: if image.part.is_empty() { &image.name } else { &image.part },
            family: family_of(&image.target),
            generation: generation_of(&image.target),
            kernels: image.kernels.iter().flatten().count() as u64,
            spilling: image.kernels.iter().flatten().filter(|kernel| kernel.spilled > Some(0)).count() as u64,
            stored: share.stored,
            raw: image.raw_size,
        })
        .collect()
}

/// JSON that nothing in a page takes for the end of its script or for a comment
/// (<https://html.spec.whatwg.org/multipage/scripting.html#restrictions-for-contents-of-script-elements>).
fn inert(json: &str) -> String {
    json.chars()
        .map(|c| match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => format!("\\u{:04x}", c as u32),
            c => c.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_end_the_script() {
        let json = serde_json::to_string("</script><!-- & \u{2028}").unwrap();
        let inert = inert(&json);
        assert!(!inert.contains(['<', '>', '&', '\u{2028}']), "{inert}");
        assert_eq!(serde_json::from_str::<String>(&inert).unwrap(), "</script><!-- & \u{2028}");
    }

    #[test]
    fn the_page_loads_nothing() {
        assert_eq!(PAGE.matches(SLOT).count(), 1);
        for word in ["http:", "https:", "src=", "@import", "url(", "fetch(", "innerHTML"] {
            assert!(!PAGE.contains(word), "{word}");
        }
    }
}
