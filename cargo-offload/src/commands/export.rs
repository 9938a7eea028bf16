//! `export`: images for other programs, in their containers or as they are.

mod containers;
mod syclbin;

use std::path::PathBuf;

use offload_format::ImageKind;
use offload_format::pack::Image;
use serde::Serialize;

use self::containers::Container;
use crate::cargo::artifact;
use crate::cli::{self, ExportFormat};
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::files::publish::publish;
use crate::print::output::Output;
use crate::read::pack_file::LocatedPack;
use crate::read::packs::{Packs, Reached};

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

/// What was asked for, of which file.
struct Request<'a> {
    path: PathBuf,
    args: &'a cli::Export,
}

/// What is to be written.
struct Exported {
    modules: Vec<String>,
    targets: Vec<String>,
    content: Vec<u8>,
    ending: &'static str,
    hazards: Vec<String>,
}

pub(super) fn run(output: &Output, args: &cli::Export) -> Result<ExitStatus> {
    let path = artifact::path(output, args.path.as_deref(), &(&args.package).into())?;
    let request = &Request { path, args };
    let packs = Packs::open(&request.path)?;
    refuse_missing(&packs, request)?;
    let all: Vec<Candidate<'_>> = candidates(&packs)?;
    let exported = match (request.args.format, Container::of(request.args.format)) {
        (_, Some(container)) => container.export(&all, request)?,
        (ExportFormat::Syclbin, None) => syclbin::export(&all, request)?,
        (_, None) => raw(&all, request)?,
    };
    let (module, target) = (exported.modules.join(", "), exported.targets.join(", "));
    let path =
        request.args.output.clone().unwrap_or_else(|| default_name(&exported.modules, exported.ending));
    args.force.existing().check(&path, &exported.content)?;
    publish(&path, &exported.content)?;
    let size = exported.content.len() as u64;
    let file = path.display().to_string();
    let mut text = format!("wrote {file} ({size} bytes) from {target} of module {module}");
    for hazard in &exported.hazards {
        text.push_str(&format!("\nwarning: {hazard}"));
    }
    let (module, target) = (module.as_str(), target.as_str());
    let hazards = exported.hazards;
    output.message(&Message { reason: "exported", module, target, file, size, hazards }, &text)?;
    Ok(ExitStatus::Success)
}

/// What is missing must not be missed in what is written.
fn refuse_missing(packs: &Packs, request: &Request<'_>) -> Result<()> {
    let wanted = |(module, target): &(&str, &str)| {
        (request.args.module.is_empty() || named(&request.args.module, module))
            && (request.args.target.is_empty() || named(&request.args.target, target))
    };
    match packs.missing().find(|missing| missing.images().iter().any(wanted)) {
        Some(missing) => Err(missing.error),
        None => Ok(()),
    }
}

/// An image and the pack that it lies in.
struct Candidate<'a> {
    source: LocatedPack<'a>,
    image: Image<'a>,
}

fn candidates(packs: &Packs) -> Result<Vec<Candidate<'_>>> {
    let mut all = Vec::new();
    for Reached { source, .. } in packs.all() {
        for image in source.pack.images() {
            let image = image.map_err(|error| Error::check(error.to_string()))?;
            all.push(Candidate { source, image });
        }
    }
    Ok(all)
}

/// The bytes of the one image that modules and targets leave.
fn raw(all: &[Candidate<'_>], request: &Request<'_>) -> Result<Exported> {
    let only = only(all, "image", request, |candidate| {
        (request.args.module.is_empty() || named(&request.args.module, candidate.image.module))
            && (request.args.target.is_empty() || named(&request.args.target, candidate.image.target_text))
    })?;
    Ok(Exported {
        modules: vec![only.image.module.to_string()],
        targets: vec![only.image.target_text.to_string()],
        content: only.source.decode(&only.image)?,
        ending: raw_ending(only.image.image_kind),
        hazards: Vec::new(),
    })
}

fn named(names: &[String], name: &str) -> bool {
    names.iter().any(|other| other == name)
}

/// The one image that `fits`; an error that lists what there is otherwise.
fn only<'a, 'b>(
    all: &'b [Candidate<'a>],
    what: &str,
    request: &Request<'_>,
    fits: impl Fn(&Candidate<'_>) -> bool,
) -> Result<&'b Candidate<'a>> {
    let fitting: Vec<_> = all.iter().filter(|candidate| fits(candidate)).collect();
    let listed = |candidates: &mut dyn Iterator<Item = &Candidate<'_>>| {
        let name =
            |candidate: &Candidate<'_>| format!("{} {}", candidate.image.module, candidate.image.target_text);
        candidates.map(name).collect::<Vec<_>>().join(", ")
    };
    match fitting.as_slice() {
        [only] => Ok(only),
        [] => {
            let error = Error::usage(format!("there is no such {what} in `{}`", request.path.display()));
            Err(error.hint(format!("it has {}", listed(&mut all.iter()))))
        }
        several => {
            let names = listed(&mut several.iter().copied());
            let error = Error::usage(format!("several {what}s fit"));
            Err(error.hint(format!("choose with --module and --target among {names}")))
        }
    }
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
    PathBuf::from(format!("{}.{ending}", modules.join("-").chars().take(100).map(safe).collect::<String>()))
}
