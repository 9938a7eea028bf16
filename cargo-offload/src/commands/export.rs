//! `export`: images for other programs, in their containers or as they are.

mod containers;
mod request;
mod sources;
mod syclbin;

use std::path::PathBuf;

use offload_format::ImageKind;
use serde::Serialize;

use self::containers::Container;
use self::request::{Exported, PackedImage, Request, images, named, only};
use self::sources::Sources;
use crate::cargo::artifact;
use crate::cli::{self, ExportFormat};
use crate::error::ExitStatus;
use crate::error::Result;
use crate::files::name::sound;
use crate::files::publish::replace;
use crate::print::output::Output;
use crate::print::text::escaped;
use crate::read::packs::Packs;

#[derive(Debug, Serialize)]
struct Message<'a> {
    reason: &'static str,
    module: &'a str,
    target: &'a str,
    file: String,
    size: u64,
    /// What a runtime may do wrong with the file.
    hazards: Vec<String>,
}

pub(super) fn run(output: &Output, args: &cli::Export) -> Result<ExitStatus> {
    let path = artifact::path(output, args.path.first().map(PathBuf::as_path), &(&args.package).into())?;
    let paths = if args.path.len() > 1 { args.path.clone() } else { vec![path.clone()] };
    let request = &Request { path, args };
    let sources = Sources::open(output, &paths)?;
    let packs = sources.packs();
    refuse_missing(packs, request)?;
    let all = images(packs, request)?;
    let exported = match (request.args.format, Container::of(request.args.format)) {
        (_, Some(container)) => container.export(&all, request)?,
        (ExportFormat::Syclbin, None) => syclbin::export(&all, request)?,
        (_, None) => raw(&all, request)?,
    };
    let (module, target) = (exported.modules.join(", "), exported.targets.join(", "));
    let path =
        request.args.output.clone().unwrap_or_else(|| default_name(&exported.modules, exported.ending));
    args.force.existing().check(&path, &exported.content)?;
    replace(&path, &exported.content)?;
    let size = exported.content.len() as u64;
    let file = path.display().to_string();
    let text =
        format!("wrote {file} ({size} bytes) from {} of module {}", escaped(&target), escaped(&module));
    let (module, target) = (module.as_str(), target.as_str());
    let hazards = exported.hazards;
    let warnings: Vec<String> =
        hazards.iter().map(|hazard| format!("warning: {}", escaped(&hazard.to_string()))).collect();
    output.done(&Message { reason: "exported", module, target, file, size, hazards }, &text)?;
    warnings.iter().try_for_each(|warning| output.remark(warning))?;
    Ok(ExitStatus::Success)
}

/// What is missing must not be missed in what is written.
fn refuse_missing(packs: &Packs, request: &Request<'_>) -> Result<()> {
    let asked_for = |(module, target): &(&str, &str)| {
        (request.args.module.is_empty() || named(&request.args.module, module))
            && (request.args.target.is_empty() || named(&request.args.target, target))
    };
    match packs.missing().find(|missing| missing.images().iter().any(asked_for)) {
        Some(missing) => Err(missing.error),
        None => Ok(()),
    }
}

/// The bytes of the one image that modules and targets leave.
fn raw(all: &[PackedImage<'_>], request: &Request<'_>) -> Result<Exported> {
    let only = only(all, "image", request, |packed| {
        (request.args.module.is_empty() || named(&request.args.module, packed.image.module))
            && (request.args.target.is_empty() || named(&request.args.target, packed.image.target_text))
    })?;
    Ok(Exported {
        modules: vec![only.image.module.to_string()],
        targets: vec![only.image.target_text.to_string()],
        content: only.source.decode(&only.image)?,
        ending: raw_ending(only.image.image_kind),
        hazards: Vec::new(),
    })
}

fn raw_ending(kind: ImageKind) -> &'static str {
    match kind {
        ImageKind::SpirV => "spv",
        ImageKind::OpenClC => "cl",
        ImageKind::HostObject => "so",
        ImageKind::Ptx => "ptx",
        ImageKind::Cubin => "cubin",
        _ => "bin",
    }
}

/// The modules' names, without anything that would lead elsewhere: they come from the file.
fn default_name(modules: &[String], ending: &str) -> PathBuf {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let stem: String = modules.join("-").chars().take(100).map(safe).collect();
    PathBuf::from(format!("{}.{ending}", sound(&stem)))
}
