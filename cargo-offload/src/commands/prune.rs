//! `prune`: removal of the images for some targets from a program.

use std::collections::BTreeSet;
use std::path::Path;

use offload_format::pack::{Image, MissingKind};
use serde::Serialize;

use crate::cargo::artifact;
use crate::change::relocate::location::{FileNames, Placement};
use crate::change::relocate::publish::Removed;
use crate::change::relocate::{Layout, Sharing, relocate};
use crate::change::repack::pack::Storage;
use crate::change::rewrite::destination::Destination;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::print::output::Output;
use crate::print::text::{counted, escaped};
use crate::read::metadata::MissingRecord;
use crate::read::program::{CrateImages, Program};
use crate::settings::target_filter::TargetFilter;

/// Reason that the program reports at run time for a removed target.
const REASON: &str = "`cargo offload prune` has removed it from the program";

#[derive(Debug, Serialize)]
struct RemovedImage {
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
    file: &'a Path,
    images_kept: u64,
    images_dropped: u64,
    size_before: u64,
    size_after: u64,
}

/// Choice of the images to keep.
#[derive(Debug)]
enum Choice {
    Keep(Vec<TargetFilter>),
    Drop(Vec<TargetFilter>),
}

pub(super) fn run(output: &Output, args: &cli::Prune) -> Result<ExitStatus> {
    let choice = Choice::new(args)?;
    let path = artifact::path(output, args.path.as_deref(), &args.cargo)?;
    let destination = Destination::new(output, &path, &args.destination)?;
    let left = Removed::left_at(&destination)?;
    left.print(output)?;
    let program = Program::open(&path, output.limits())?;
    let mut crates = program.crates()?;
    if !left.is_empty() && choice.is_done(&crates) {
        return print_summary(output, &[], &unchanged(&program, &crates, &destination)?);
    }
    choice.check(&program, &crates)?;
    let dropped = drop_images(&mut crates, &choice)?;
    let kept = count(&crates);
    let layout = Layout { placement: Placement::Kept, sharing: Sharing::Kept, storage: Storage::Kept };
    let names = FileNames { old: &path, new: destination.path() };
    let published = relocate(crates, &names, layout)?.publish(&program, &destination)?;
    let files = published.sidecars.iter().map(|file| file.size).sum::<u64>();
    let summary = Summary {
        reason: "pruned",
        file: destination.path(),
        images_kept: kept,
        images_dropped: dropped.len() as u64,
        size_before: program.size()?,
        size_after: published.program.size.saturating_add(files),
    };
    published.print_removed(output)?;
    print_summary(output, &dropped, &summary)
}

/// An interrupted command has done it all.
fn unchanged<'a>(
    program: &Program,
    crates: &[CrateImages<'_>],
    destination: &'a Destination,
) -> Result<Summary<'a>> {
    let size = program.size()?;
    let file = destination.path();
    Ok(Summary {
        reason: "pruned",
        file,
        images_kept: count(crates),
        images_dropped: 0,
        size_before: size,
        size_after: size,
    })
}

fn count(crates: &[CrateImages<'_>]) -> u64 {
    crates.iter().flat_map(|one| &one.files).map(|file| file.pack.images.len() as u64).sum()
}

fn print_summary(output: &Output, dropped: &[RemovedImage], summary: &Summary<'_>) -> Result<ExitStatus> {
    for image in dropped {
        let module = escaped(&image.module);
        let target = escaped(&image.target);
        let text = format!("removed {module} {target}: {} bytes", image.stored_size);
        output.done(image, &text)?;
    }
    let bytes = if summary.size_after != summary.size_before {
        format!("{} of {} bytes", summary.size_after, summary.size_before)
    } else if summary.images_dropped > 0 {
        // A program shrinks by whole pages.
        let stored = dropped.iter().map(|image| image.stored_size).fold(0, u64::saturating_add);
        format!(
            "{} bytes, unchanged: the {stored} bytes of removed images span no whole page",
            summary.size_after
        )
    } else {
        format!("{} bytes, unchanged", summary.size_after)
    };
    let text = format!(
        "`{}` has {} of {} and {bytes}",
        summary.file.display(),
        summary.images_kept,
        counted(summary.images_kept.saturating_add(summary.images_dropped), "image"),
    );
    output.done(summary, &text)?;
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

    /// Whether all that is to go was pruned before.
    fn is_done(&self, crates: &[CrateImages<'_>]) -> bool {
        let images = crates.iter().flat_map(|one| &one.files).flat_map(|file| &file.pack.images);
        let present: BTreeSet<&str> = images.map(|image| image.target_text).collect();
        let missing = crates.iter().flat_map(|one| &one.metadata.missing);
        let pruned = missing.filter(|missing| missing.kind == MissingKind::Pruned);
        let pruned: BTreeSet<&str> = pruned.map(|missing| missing.target.as_str()).collect();
        present.iter().all(|target| self.keeps(target))
            && self.filters().iter().all(|filter| present.union(&pruned).any(|target| filter.matches(target)))
    }

    /// # Errors
    /// The request makes no sense for this file.
    fn check(&self, program: &Program, crates: &[CrateImages<'_>]) -> Result<()> {
        let shown = program.file().path().display();
        let images = crates.iter().flat_map(|one| &one.files).flat_map(|file| &file.pack.images);
        let present: BTreeSet<&str> = images.map(|image| image.target_text).collect();
        let list = escaped(&present.iter().copied().collect::<Vec<_>>().join(", "));
        for filter in self.filters() {
            if !present.iter().any(|target| filter.matches(target)) {
                let text = format!("`{shown}` has no image for `{}`", filter.given().escape_default());
                return Err(Error::usage(text).hint(format!("it has {list}")));
            }
        }
        let kept = present.iter().filter(|target| self.keeps(target)).count();
        if kept == 0 || kept == present.len() {
            let what = if kept == 0 { "this would remove every image" } else { "this would remove no image" };
            return Err(Error::usage(format!("`{shown}`: {what}")).hint(format!("it has {list}")));
        }
        Ok(())
    }
}

/// Takes out what goes, and has the packs say so.
fn drop_images(crates: &mut [CrateImages<'_>], choice: &Choice) -> Result<Vec<RemovedImage>> {
    let mut dropped = Vec::new();
    for one in crates {
        // Variants and parts of a module for one target are recorded once.
        let mut removed: BTreeSet<[String; 3]> = BTreeSet::new();
        for file in &mut one.files {
            let gone = file.pack.images.extract_if(.., |image| !choice.keeps(image.target_text));
            for image in gone {
                let stored_size = file.pack.source.pack.stored(&image)?.size;
                removed.insert([image.module, image.target_text, REASON].map(str::to_string));
                dropped.push(RemovedImage {
                    stored_size,
                    ..RemovedImage::from_image(&one.metadata.package, &image)
                });
            }
        }
        one.metadata.missing.extend(removed.into_iter().map(|[module, target, reason]| MissingRecord {
            kind: MissingKind::Pruned,
            module,
            target,
            reason,
        }));
        one.files.retain(|file| !file.pack.images.is_empty());
    }
    Ok(dropped)
}

impl RemovedImage {
    /// An image of `package`, as its pack records it.
    fn from_image(package: &str, image: &Image<'_>) -> RemovedImage {
        RemovedImage {
            reason: "dropped",
            package: package.to_string(),
            module: image.module.to_string(),
            variant: image.variant.to_string(),
            part: image.part.to_string(),
            target: image.target_text.to_string(),
            stored_size: image.stored_size,
            raw_size: image.raw_size,
        }
    }
}
