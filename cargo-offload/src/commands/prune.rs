//! `prune`: the same program with the images of fewer targets.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::rc::Rc;

use offload_format::pack::{Image, NoticeKind};
use serde::Serialize;

use crate::carrier::elf::Place;
use crate::carrier::{Carrier, elf};
use crate::cli;
use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::output::{Output, escaped};
use crate::rewrite::{self, Destination, NewPack};
use crate::target_filter::TargetFilter;
use crate::thin::{self, Source};

/// What the program says at run time about a target that is gone.
const REASON: &str = "`cargo offload prune` has removed it from the program";

#[derive(Debug, Serialize)]
struct Dropped {
    reason: &'static str,
    package: String,
    module: String,
    variant: String,
    part: String,
    target: String,
    raw_size: u64,
}

#[derive(Debug, Serialize)]
struct Summary<'a> {
    reason: &'static str,
    path: &'a Path,
    images_kept: u64,
    images_dropped: u64,
    size_before: u64,
    size_after: u64,
}

/// Which images stay.
#[derive(Debug)]
enum Choice {
    Keep(Vec<TargetFilter>),
    Drop(Vec<TargetFilter>),
}

pub(super) fn run(output: &Output, args: &cli::Prune) -> Result<ExitStatus> {
    let choice = Choice::new(args)?;
    let destination = Destination::new(&args.path, &args.destination)?;
    let carrier = Carrier::open(&args.path)?;
    let dropped = dropped(&args.path, &carrier, &choice)?;
    let file = File::open(&args.path).map_err(|error| Error::io("open", &args.path, &error))?;
    let file = Rc::new(file);
    let packs = new_packs((&args.path, &file), &carrier, &choice)?;
    let kept = images(&carrier)?.len() as u64;
    let program = rewrite::rewrite((&args.path, &file), packs)?;
    let sizes = program.publish(&destination)?;
    let summary = Summary {
        reason: "pruned",
        path: destination.path(),
        images_kept: kept.saturating_sub(dropped.len() as u64),
        images_dropped: dropped.len() as u64,
        size_before: sizes.before,
        size_after: sizes.after,
    };
    tell(output, &dropped, &summary)
}

fn tell(output: &Output, dropped: &[Dropped], summary: &Summary<'_>) -> Result<ExitStatus> {
    for image in dropped {
        output.message(
            image,
            &format!("dropped {} {}: {} bytes", image.module, image.target, image.raw_size),
        )?;
    }
    let text = format!(
        "`{}` has {} of {} images and {} of {} bytes",
        summary.path.display(),
        summary.images_kept,
        summary.images_kept.saturating_add(summary.images_dropped),
        summary.size_after,
        summary.size_before
    );
    output.message(summary, &text)?;
    Ok(ExitStatus::Success)
}

impl Choice {
    fn new(args: &cli::Prune) -> Result<Choice> {
        let parse =
            |words: &[String]| words.iter().map(|word| TargetFilter::parse(word)).collect::<Result<Vec<_>>>();
        Ok(if args.keep.is_empty() {
            Choice::Drop(parse(&args.drop)?)
        } else {
            Choice::Keep(parse(&args.keep)?)
        })
    }

    fn filters(&self) -> &[TargetFilter] {
        let (Choice::Keep(filters) | Choice::Drop(filters)) = self;
        filters
    }

    fn keeps(&self, target: &str) -> bool {
        let named = self.filters().iter().any(|filter| filter.matches(target));
        named == matches!(self, Choice::Keep(_))
    }
}

fn images(carrier: &Carrier) -> Result<Vec<(String, Image<'_>)>> {
    let mut all = Vec::new();
    for (_, pack) in carrier.packs() {
        let package = pack.meta("package").unwrap_or_default();
        for image in pack.images() {
            all.push((package.to_string(), image.map_err(broken)?));
        }
    }
    Ok(all)
}

/// What goes, after it is clear that the request makes sense for this file.
fn dropped(path: &Path, carrier: &Carrier, choice: &Choice) -> Result<Vec<Dropped>> {
    if let Some(skipped) = carrier.skipped.first() {
        return Err(Error::check(format!("`{}`: {skipped}", path.display())));
    }
    let images = images(carrier)?;
    let present: BTreeSet<&str> = images.iter().map(|(_, image)| image.target_text).collect();
    let list = escaped(&present.iter().copied().collect::<Vec<_>>().join(", "));
    for filter in choice.filters() {
        if !present.iter().any(|target| filter.matches(target)) {
            let text = format!("`{}` has no image for `{}`", path.display(), filter.given().escape_default());
            return Err(Error::usage(text).hint(format!("it has {list}")));
        }
    }
    let kept = images.iter().filter(|(_, image)| choice.keeps(image.target_text)).count();
    if kept == 0 || kept == images.len() {
        let what = if kept == 0 { "no image of it would be left" } else { "every image of it would stay" };
        return Err(Error::usage(format!("`{}`: {what}", path.display())).hint(format!("it has {list}")));
    }
    let gone = images.into_iter().filter(|(_, image)| !choice.keeps(image.target_text));
    Ok(gone.map(|(package, image)| message(package, &image)).collect())
}

fn message(package: String, image: &Image<'_>) -> Dropped {
    Dropped {
        reason: "dropped",
        package,
        module: image.module.to_string(),
        variant: image.variant.to_string(),
        part: image.part.to_string(),
        target: image.target_text.to_string(),
        raw_size: image.raw_size,
    }
}

/// The program's packs without what goes; all of them, because they move closer together.
fn new_packs((path, file): (&Path, &Rc<File>), carrier: &Carrier, choice: &Choice) -> Result<Vec<NewPack>> {
    let places = elf::places(file);
    if places.later {
        return Err(Error::check(format!("`{}` has a pack of a later release", path.display()))
            .hint("install the release of cargo-offload that the program was built with"));
    }
    let mut packs = Vec::new();
    for place in places.places {
        let (found, pack) = carrier
            .packs()
            .find(|(found, _)| found.offset() == place.pack_offset)
            .ok_or_else(|| Error::check(format!("a descriptor of `{}` leads to no pack", path.display())))?;
        packs.push(new_pack(&Source { path, file, carrier, found, pack: &pack }, place, choice)?);
    }
    Ok(packs)
}

fn new_pack(source: &Source<'_>, place: Place, choice: &Choice) -> Result<NewPack> {
    let images = source.pack.images().collect::<std::result::Result<Vec<_>, _>>().map_err(broken)?;
    let (kept, gone): (Vec<_>, Vec<_>) =
        images.into_iter().partition(|image| choice.keeps(image.target_text));
    let mut missing: Vec<thin::Missing> = gone
        .iter()
        .map(|image| (NoticeKind::Pruned, [image.module, image.target_text, REASON].map(str::to_string)))
        .collect();
    // Variants and parts of a module for one target are told once.
    missing.dedup();
    let thin = thin::rebuild(source, &kept, &missing)?;
    Ok(NewPack { flags: place.descriptor.flags, place, pieces: thin.pieces, id: thin.id.0 })
}

fn broken(error: offload_format::Error) -> Error {
    Error::check(error.to_string())
}
