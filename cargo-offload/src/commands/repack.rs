//! `repack`: the images of a linked program beside it or back in it, compressed otherwise, shared by its crates.

use std::path::Path;

use offload_format::packer::Settings;
use serde::Serialize;

use crate::cargo::artifact;
use crate::change::relocate::{Form, Names, Sharing, Wish, moved};
use crate::change::repack::Storage;
use crate::change::rewrite::Destination;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::print::output::Output;
use crate::read::program::{Crate, Opened};
use crate::settings::compression;

#[derive(Debug, Serialize)]
struct Written<'a> {
    reason: &'static str,
    path: &'a Path,
    size: u64,
}

#[derive(Debug, Serialize)]
struct Summary<'a> {
    reason: &'static str,
    path: &'a Path,
    size_before: u64,
    size_after: u64,
}

pub(super) fn run(output: &Output, args: &cli::Repack) -> Result<ExitStatus> {
    let wish = wish(args)?;
    let path = artifact::path(output, args.path.as_deref(), &args.cargo)?;
    let destination = Destination::new(&path, &args.destination)?;
    let opened = Opened::open(&path)?;
    let crates = opened.crates()?;
    refuse_idle(&opened, &crates, wish)?;
    let moved = moved(crates, &Names::new(&path, &destination), wish)?;
    let published = moved.publish(&opened, &destination)?;
    for (path, size) in &published.files {
        let text = format!("`{}` has {size} bytes", path.display());
        output.message(&Written { reason: "written", path, size: *size }, &text)?;
    }
    published.tell_removed(output)?;
    let (path, size_before, size_after) = (destination.path(), opened.program().size()?, published.program);
    let text = format!("`{}` has {size_after} of {size_before} bytes", path.display());
    output.message(&Summary { reason: "repacked", path, size_before, size_after }, &text)?;
    Ok(ExitStatus::Success)
}

fn wish(args: &cli::Repack) -> Result<Wish> {
    let form = match args.form {
        cli::Form { sidecar: true, .. } => Form::One,
        cli::Form { split: true, .. } => Form::Families,
        cli::Form { embed: true, .. } => Form::Embedded,
        _ => Form::Kept,
    };
    let sharing = match (args.merge, args.unmerge) {
        (true, _) => Sharing::Merged,
        (_, true) => Sharing::Apart,
        _ => Sharing::Kept,
    };
    let settings: Option<Settings> = args.compression.as_deref().map(compression::settings).transpose()?;
    let storage = match (settings, sharing) {
        (Some(settings), _) => Storage::Anew(settings),
        (None, Sharing::Merged) => Storage::Planned,
        _ => Storage::Kept,
    };
    Ok(Wish { form, sharing, storage })
}

/// What would change nothing was not meant.
fn refuse_idle(opened: &Opened, crates: &[Crate<'_>], wish: Wish) -> Result<()> {
    let path = opened.program().path().display();
    let mut piles = crates.iter().flat_map(|one| &one.piles).peekable();
    if piles.peek().is_none() {
        return Err(Error::usage(format!("`{path}` has no images")));
    }
    if opened.program().is_packs() && wish.form != Form::Kept {
        return Err(Error::usage(format!("`{path}` is a file of packs")).hint("name the program beside it"));
    }
    let only_form = wish.sharing == Sharing::Kept && wish.storage == Storage::Kept;
    if only_form && wish.form == Form::Embedded && piles.all(|pile| pile.file.is_none()) {
        return Err(Error::usage(format!("the images of `{path}` are in it already")));
    }
    if wish.sharing == Sharing::Merged && crates.iter().filter(|one| !one.piles.is_empty()).count() < 2 {
        return Err(Error::usage(format!("`{path}` has images of one crate alone"))
            .hint("the images of one crate share already"));
    }
    Ok(())
}
