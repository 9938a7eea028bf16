//! `prune`: the same program with the images of fewer targets.

use std::collections::BTreeSet;
use std::path::Path;

use offload_format::pack::{Image, NoticeKind};
use serde::Serialize;

use crate::carrier::elf::Place;
use crate::cli;
use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::output::{Output, escaped};
use crate::program::{self, Program};
use crate::rewrite::{self, Destination, NewPack};
use crate::target_filter::TargetFilter;
use crate::thin::{self, About, Source};

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
    stored_size: u64,
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
    let program = Program::open(&args.path)?;
    let (dropped, kept) = dropped(&program, &choice)?;
    let packs = new_packs(&program, &choice)?;
    let sizes = rewrite::rewrite(program.file(), packs)?.publish(&destination)?;
    let summary = Summary {
        reason: "pruned",
        path: destination.path(),
        images_kept: kept as u64,
        images_dropped: dropped.len() as u64,
        size_before: sizes.before,
        size_after: sizes.after,
    };
    tell(output, &dropped, &summary)
}

fn tell(output: &Output, dropped: &[Dropped], summary: &Summary<'_>) -> Result<ExitStatus> {
    for image in dropped {
        let text = format!("dropped {} {}: {} bytes", image.module, image.target, image.stored_size);
        output.message(image, &text)?;
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
        Ok(match args.keep.as_slice() {
            [] => Choice::Drop(parse(&args.drop)?),
            keep => Choice::Keep(parse(keep)?),
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

/// What goes, and how many images stay, after it is clear that the request makes sense for this file.
fn dropped(program: &Program, choice: &Choice) -> Result<(Vec<Dropped>, usize)> {
    program.refuse_elsewhere()?;
    let images = program.images()?;
    let shown = program.path().display();
    let present: BTreeSet<&str> = images.iter().map(|(_, image, _)| image.target_text).collect();
    let list = escaped(&present.iter().copied().collect::<Vec<_>>().join(", "));
    for filter in choice.filters() {
        if !present.iter().any(|target| filter.matches(target)) {
            let text = format!("`{shown}` has no image for `{}`", filter.given().escape_default());
            return Err(Error::usage(text).hint(format!("it has {list}")));
        }
    }
    let kept = images.iter().filter(|(_, image, _)| choice.keeps(image.target_text)).count();
    if kept == 0 || kept == images.len() {
        let what = if kept == 0 { "no image of it would be left" } else { "every image of it would stay" };
        return Err(Error::usage(format!("`{shown}`: {what}")).hint(format!("it has {list}")));
    }
    let gone = images.into_iter().filter(|(_, image, _)| !choice.keeps(image.target_text));
    Ok((gone.map(message).collect(), kept))
}

fn message((package, image, stored_size): (String, Image<'_>, u64)) -> Dropped {
    Dropped {
        reason: "dropped",
        package,
        module: image.module.to_string(),
        variant: image.variant.to_string(),
        part: image.part.to_string(),
        target: image.target_text.to_string(),
        stored_size,
        raw_size: image.raw_size,
    }
}

/// The program's packs without what goes; all of them, because they move closer together.
fn new_packs(program: &Program, choice: &Choice) -> Result<Vec<NewPack>> {
    let places = program.places()?.into_iter();
    places.map(|(found, pack, place)| new_pack(program.source(found, &pack), place, choice)).collect()
}

fn new_pack(source: Source<'_>, place: Place, choice: &Choice) -> Result<NewPack> {
    let images = program::images(source.pack)?;
    let (kept, gone): (Vec<_>, Vec<_>) =
        images.into_iter().partition(|image| choice.keeps(image.target_text));
    let mut about = About::of(source.pack)?;
    let text = |image: &Image<'_>| [image.module, image.target_text, REASON].map(str::to_string);
    // Variants and parts of a module for one target are told once.
    let removed: BTreeSet<[String; 3]> = gone.iter().map(text).collect();
    about.missing.extend(removed.into_iter().map(|texts| (NoticeKind::Pruned, texts)));
    let bytes = thin::rebuild(&about, &[(source, kept)])?;
    Ok(NewPack { flags: place.descriptor.flags, place, bytes })
}
