//! `export`: images in the containers of other toolchains, or as single files.

mod containers;
mod request;
mod sources;
mod syclbin;

use std::path::PathBuf;

use offload_format::ImageKind;
use serde::Serialize;

use self::containers::Container;
use self::request::{ExportedFile, PackedImage, Request, images, named, only};
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
    /// Hazards of the file in a runtime.
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
    let exported = match (request.args.format, Container::for_format(request.args.format)) {
        (_, Some(container)) => container.export(&all, request)?,
        (ExportFormat::Syclbin, None) => syclbin::export(&all, request)?,
        (_, None) => raw(&all, request)?,
    };
    let module = exported.modules.join(", ");
    let target = exported.targets.join(", ");
    let path =
        request.args.output.clone().unwrap_or_else(|| default_name(&exported.modules, exported.ending));
    args.force.existing().check(&path, &exported.content)?;
    replace(&path, &exported.content)?;
    let size = exported.content.len() as u64;
    let file = path.display().to_string();
    let text =
        format!("wrote {file} ({size} bytes) from {} of module {}", escaped(&target), escaped(&module));
    let module = module.as_str();
    let target = target.as_str();
    let hazards = exported.hazards;
    let warnings: Vec<String> =
        hazards.iter().map(|hazard| format!("warning: {}", escaped(&hazard.to_string()))).collect();
    output.done(&Message { reason: "exported", module, target, file, size, hazards }, &text)?;
    warnings.iter().try_for_each(|warning| output.remark(warning))?;
    Ok(ExitStatus::Success)
}

/// Fails if a selected image is in a missing sidecar, so that the output is never incomplete.
fn refuse_missing(packs: &Packs, request: &Request<'_>) -> Result<()> {
    for missing in packs.missing() {
        if missing.images().iter().any(|(module, target)| is_selected(request, module, target)) {
            return Err(missing.error);
        }
    }
    Ok(())
}

fn is_selected(request: &Request<'_>, module: &str, target: &str) -> bool {
    (request.args.module.is_empty() || named(&request.args.module, module))
        && (request.args.target.is_empty() || named(&request.args.target, target))
}

/// The bytes of the one image that modules and targets leave.
fn raw(all: &[PackedImage<'_>], request: &Request<'_>) -> Result<ExportedFile> {
    let only = only(all, "image", request, |packed| {
        is_selected(request, packed.image.module, packed.image.target_text)
    })?;
    let content = only.source.decode(&only.image)?;
    Ok(ExportedFile {
        modules: vec![only.image.module.to_string()],
        targets: vec![only.image.target_text.to_string()],
        ending: raw_ending(only.image.image_kind, &content),
        content,
        hazards: Vec::new(),
    })
}

fn raw_ending(kind: ImageKind, content: &[u8]) -> &'static str {
    match kind {
        ImageKind::SpirV => "spv",
        ImageKind::OpenClC => "cl",
        ImageKind::HostObject if content.starts_with(b"MZ") => "dll",
        ImageKind::HostObject if content.starts_with(&0xfeed_facf_u32.to_le_bytes()) => "dylib",
        ImageKind::HostObject => "so",
        ImageKind::Ptx => "ptx",
        ImageKind::Cubin => "cubin",
        _ => "bin",
    }
}

/// The modules' names, without anything that would lead elsewhere: they come from the file.
fn default_name(modules: &[String], ending: &str) -> PathBuf {
    let stem: String = modules
        .join("-")
        .chars()
        .take(100)
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
        .collect();
    PathBuf::from(format!("{}.{ending}", sound(&stem)))
}
