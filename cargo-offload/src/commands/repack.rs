//! `repack`: sidecars, compression and merging of the images of a linked program.

use std::path::Path;

use offload_packer::Settings;
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
use crate::files::publish::Published;
use crate::print::output::Output;
use crate::print::steps::Steps;
use crate::read::program::{CrateImages, Program};
use crate::settings::compression;

#[derive(Debug, Serialize)]
struct Written<'a> {
    reason: &'static str,
    file: &'a Path,
    size: u64,
}

#[derive(Debug, Serialize)]
struct Summary<'a> {
    reason: &'static str,
    file: &'a Path,
    size_before: u64,
    size_after: u64,
}

pub(super) fn run(output: &Output, args: &cli::Repack) -> Result<ExitStatus> {
    let layout = layout(args)?;
    let path = artifact::path(output, args.path.as_deref(), &args.cargo)?;
    let destination = Destination::new(output, &path, &args.destination)?;
    let left = Removed::left_at(&destination)?;
    left.print(output)?;
    let program = Program::open(&path, output.limits())?;
    let crates = program.crates()?;
    let size_before = program.file().size()?;
    if !left.is_empty() && is_embedded(&crates, layout) {
        // An interrupted command has done the rest.
        return print_summary(output, &destination, [size_before; 2]);
    }
    refuse_idle(&program, &crates, layout)?;
    let names = FileNames { old: &path, new: destination.path() };
    // LZMA takes its time.
    let packing = matches!(layout.storage, Storage::Fresh(_) | Storage::Planned);
    let packing = packing.then(|| Steps::single(output, "compressing images"));
    let published = relocate(crates, &names, layout)?.publish(&program, &destination)?;
    drop(packing);
    for Published { path, size } in &published.sidecars {
        let text = format!("wrote `{}` ({size} bytes)", path.display());
        output.done(&Written { reason: "written", file: path, size: *size }, &text)?;
    }
    published.print_removed(output)?;
    print_summary(output, &destination, [size_before, published.program.size])
}

fn print_summary(
    output: &Output,
    destination: &Destination,
    [size_before, size_after]: [u64; 2],
) -> Result<ExitStatus> {
    let file = destination.path();
    let text = format!("repacked `{}`: {size_before} -> {size_after} bytes", file.display());
    output.done(&Summary { reason: "repacked", file, size_before, size_after }, &text)?;
    Ok(ExitStatus::Success)
}

fn layout(args: &cli::Repack) -> Result<Layout> {
    let placement = match args.form {
        cli::Form { sidecar: true, .. } => Placement::Sidecar,
        cli::Form { split: true, .. } => Placement::Split,
        cli::Form { embed: true, .. } => Placement::Embedded,
        _ => Placement::Kept,
    };
    let sharing = match (args.merge, args.unmerge) {
        (true, _) => Sharing::Merged,
        (_, true) => Sharing::Apart,
        _ => Sharing::Kept,
    };
    let settings: Option<Settings> = args.compression.as_deref().map(compression::settings).transpose()?;
    let storage = match (settings, sharing) {
        (Some(settings), _) => Storage::Fresh(settings),
        (None, Sharing::Merged) => Storage::Planned,
        _ => Storage::Kept,
    };
    Ok(Layout { placement, sharing, storage })
}

/// Whether the images are to be in the program and nothing else, and are there.
fn is_embedded(crates: &[CrateImages<'_>], layout: Layout) -> bool {
    let only_form = layout.sharing == Sharing::Kept && layout.storage == Storage::Kept;
    let mut files = crates.iter().flat_map(|one| &one.files);
    only_form && layout.placement == Placement::Embedded && files.all(|file| file.name.is_none())
}

/// Rejects options that would change nothing.
fn refuse_idle(program: &Program, crates: &[CrateImages<'_>], layout: Layout) -> Result<()> {
    let path = program.file().path().display();
    if crates.iter().all(|one| one.files.is_empty()) {
        return Err(Error::usage(format!("`{path}` has no images")));
    }
    if program.file().is_packs() && layout.placement != Placement::Kept {
        return Err(Error::usage(format!("`{path}` is a file of packs")).hint("name the program beside it"));
    }
    if is_embedded(crates, layout) {
        return Err(Error::usage(format!("the images of `{path}` are already embedded")));
    }
    if layout.sharing == Sharing::Merged && crates.iter().filter(|one| !one.files.is_empty()).count() < 2 {
        return Err(Error::usage(format!("`{path}` has images of a single crate"))
            .hint("`--merge` combines the packs of several crates"));
    }
    Ok(())
}
