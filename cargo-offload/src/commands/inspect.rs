//! `inspect`: the images of a file.

mod syclbin;

use offload_format::pack::{Missing, MissingKind};
use serde::Serialize;

use crate::cargo::artifact;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::Result;
use crate::print::output::Output;
use crate::print::table::Table;
use crate::print::text::escaped;
use crate::read::input::Contents;
use crate::read::inputs::{self, Source};
use crate::read::missing;
use crate::read::records::{ImageRecord, KernelRecord, Kernels, Selection, or_dash, text_or_dash};

#[derive(Debug, Serialize)]
struct MissingMessage<'a> {
    reason: &'static str,
    kind: String,
    module: &'a str,
    target: &'a str,
    problem: &'a str,
}

pub(super) fn run(output: &Output, args: &cli::Inspect) -> Result<ExitStatus> {
    let path = artifact::path(output, args.path.as_deref(), &args.cargo)?;
    let selection = Selection::parse(&args.select)?;
    let source = Source { path: &path, search: args.deep.search() };
    let mut shown = 0;
    let status = inputs::each(output, source, &mut |opened| {
        let kernels = if args.kernels { Kernels::Read } else { Kernels::Recorded };
        let images = opened.images(&selection, kernels)?;
        shown += images.len();
        if opened.member.is_some() && images.is_empty() && !selection.is_everything() {
            return Ok(ExitStatus::Success);
        }
        opened.print_name(output)?;
        show(output, args, opened.contents, &images)
    })?;
    match status {
        ExitStatus::Success if shown == 0 && !selection.is_everything() => Err(inputs::none_selected(&path)),
        status => Ok(status),
    }
}

fn show(
    output: &Output,
    args: &cli::Inspect,
    contents: &Contents<'_>,
    images: &[ImageRecord],
) -> Result<ExitStatus> {
    contents.syclbins.iter().try_for_each(|file| syclbin::inspect(output, file))?;
    if !images.is_empty() {
        output.table(images, &image_table(images))?;
    }
    if args.kernels {
        output.space()?;
        output.table::<ImageRecord>(&[], &kernel_table(images))?;
    }
    print_missing(output, contents)?;
    Ok(contents.status())
}

fn print_missing(output: &Output, contents: &Contents<'_>) -> Result<()> {
    // What a pack in a sidecar is without, the one that names it says as well.
    for source in contents.packs.here().packs() {
        for missing in source.pack.missing() {
            let Missing { kind, module, target, reason: problem, .. } = missing?;
            let message =
                MissingMessage { reason: "missing", kind: kind.to_string(), module, target, problem };
            // People see the images, or that the sidecar is missing.
            match kind {
                MissingKind::Sidecar => output.objects(&[message])?,
                _ => {
                    let [module, target, problem] = [module, target, problem].map(escaped);
                    let text = format!("{kind}: module {module} {target}: {problem}");
                    output.message(&message, &text)?;
                }
            }
        }
    }
    missing::print(output, contents)
}

/// Some columns are there only where an image has something in them: most have nothing.
fn image_table(images: &[ImageRecord]) -> Table {
    let all: Vec<_> = images.iter().map(cells).collect();
    let columns: Vec<usize> = (0..all.first().map_or(0, |row| row.len()))
        .filter(|column| {
            let mut cells = all.iter().filter_map(|row| row.get(*column));
            cells.any(|(heading, cell)| !RARE.contains(heading) || cell != "-")
        })
        .collect();
    let mut headings = Vec::new();
    if let Some(row) = all.first() {
        headings.extend(columns.iter().filter_map(|column| row.get(*column)).map(|(heading, _)| *heading));
    }
    let mut table = Table::new(&headings);
    for row in &all {
        let cells = columns.iter().filter_map(|column| row.get(*column));
        table.row(cells.map(|(_, cell)| cell.clone()).collect());
    }
    table
}

const PACKAGE: &str = "package";
const FILE: &str = "file";
const PART: &str = "part";
const NAME: &str = "name";
const NEEDS: &str = "needs";
const CONTAINER: &str = "container";
const HASH: &str = "hash";
const IMPORTS: &str = "imports";
const SPEC: &str = "constants";
const RARE: [&str; 9] = [PACKAGE, FILE, PART, NAME, NEEDS, IMPORTS, SPEC, CONTAINER, HASH];

/// The cells of an image with their headings.
fn cells(image: &ImageRecord) -> [(&'static str, String); 18] {
    let ratio = image.stored_size.saturating_mul(100).checked_div(image.raw_size).unwrap_or(100);
    let hash = image.hash.as_deref().unwrap_or_default();
    [
        (PACKAGE, text_or_dash(&image.package)),
        (FILE, text_or_dash(&image.file)),
        ("module", image.module.clone()),
        ("variant", text_or_dash(&image.variant)),
        ("target", text_or_dash(&image.target)),
        (PART, text_or_dash(&image.part)),
        (NAME, text_or_dash(&image.name)),
        (NEEDS, text_or_dash(&image.aspects.join(","))),
        (IMPORTS, text_or_dash(&image.imports.join(","))),
        (SPEC, text_or_dash(&image.spec.join(","))),
        (CONTAINER, text_or_dash(&image.containers.join(", "))),
        ("kind", text_or_dash(&image.image_kind)),
        ("codec", image.codec.clone()),
        ("stored", image.stored_size.to_string()),
        ("raw", image.raw_size.to_string()),
        ("ratio", format!("{ratio}%")),
        ("kernels", or_dash(image.kernels.as_ref().map(Vec::len))),
        (HASH, text_or_dash(&hash.chars().take(16).collect::<String>())),
    ]
}

fn kernel_table(images: &[ImageRecord]) -> Table {
    let mut table = Table::new(&[
        "kernel",
        "module",
        "target",
        "registers",
        "spilled",
        "local",
        "private",
        "sub-group",
        "work-group",
        "arguments",
    ]);
    for image in images {
        for kernel in image.kernels.iter().flatten() {
            table.row(kernel_row(image, kernel));
        }
    }
    table
}

fn kernel_row(image: &ImageRecord, kernel: &KernelRecord) -> Vec<String> {
    vec![
        kernel.name.clone(),
        image.module_name(),
        image.target.clone(),
        or_dash(kernel.registers),
        or_dash(kernel.spilled),
        or_dash(kernel.local_memory),
        or_dash(kernel.private_memory),
        or_dash(kernel.sub_group_size),
        kernel.work_group(),
        kernel.args.len().to_string(),
    ]
}
