//! `verify`: checks that every image decodes, that every crate with kernels is linked, that other toolchains' images
//! are intact, and that runtimes accept a SYCLBIN.

mod foreign;
#[cfg(feature = "devices")]
mod gate;
mod message;
mod syclbin;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use self::message::{Problem, Summary, Verified};
use offload_format::Target;
use offload_format::pack::Image;
use offload_images::machine;

use crate::cargo::artifact;
use crate::cargo::graph::{self, RootPackage};
use crate::cli;
#[cfg(not(feature = "devices"))]
use crate::error::Error;
use crate::error::ExitStatus;
use crate::error::{IoContext, Result};
use crate::print::output::Output;
use crate::print::text::{counted, escaped};
use crate::read::inputs::{self, Source};
use crate::read::missing::MissingSidecar;
use crate::read::pack_file::{LocatedPack, macho, pe, references};
use crate::read::packs::Packs;
use crate::read::records;
use crate::settings::offload_toml::{ConfigFile, Required};

pub(super) fn run(output: &Output, args: &cli::Verify) -> Result<ExitStatus> {
    match args.path.as_slice() {
        #[cfg(feature = "devices")]
        paths if args.gate.has_requirements() => gate::run(output, args, paths),
        [] => {
            let path = artifact::path(output, None, &args.cargo)?;
            let verified = verify(output, args, std::slice::from_ref(&path))?;
            match required(args)? {
                Some(required) => Ok(verified.worse(judge(output, args, BuiltProgram { path, required })?)),
                None => Ok(verified),
            }
        }
        paths => verify(output, args, paths),
    }
}

/// A built program, and the requirements in `offload.toml`.
struct BuiltProgram {
    path: PathBuf,
    required: Required,
}

/// The lists in the `offload.toml` that a build here takes; nothing if it requires nothing.
fn required(args: &cli::Verify) -> Result<Option<Required>> {
    let project = &args.cargo.package.project;
    let beside = project.manifest_path.as_deref().and_then(Path::parent).map(|dir| dir.join("offload.toml"));
    let Some(path) = ConfigFile::find(beside.filter(|path| path.is_file()).as_deref()) else {
        return Ok(None);
    };
    Ok(Some(ConfigFile::open(Some(&path))?.required()?).filter(|required| !required.is_empty()))
}

#[cfg(feature = "devices")]
fn judge(output: &Output, args: &cli::Verify, built: BuiltProgram) -> Result<ExitStatus> {
    gate::run_configured(output, args, &built.required, &built.path)
}

/// Without this error, a requirement that was not checked would pass for a met one.
#[cfg(not(feature = "devices"))]
fn judge(_: &Output, _: &cli::Verify, BuiltProgram { path, required }: BuiltProgram) -> Result<ExitStatus> {
    let words: Vec<&str> =
        required.all.iter().chain(required.of_modules.values().flatten()).map(String::as_str).collect();
    let text = format!(
        "this build cannot check whether `{}` supports {}",
        path.display(),
        escaped(&words.join(", "))
    );
    Err(Error::usage(text).hint("install cargo-offload with the feature `devices`"))
}

/// Decodes everything.
fn verify(output: &Output, args: &cli::Verify, paths: &[PathBuf]) -> Result<ExitStatus> {
    let mut summary = Summary { reason: "summary", images: 0, problems: 0 };
    let usage = syclbin::usage(output, args)?;
    let mut status = ExitStatus::Success;
    for path in paths {
        let source = Source { path, search: args.deep.search() };
        let of_path = inputs::each(output, source, &mut |opened| {
            match paths {
                [_] => opened.print_name(output)?,
                _ => opened.print_any_name(output, path)?,
            }
            let contents = opened.contents;
            contents
                .syclbins
                .iter()
                .try_for_each(|file| syclbin::verify(output, file, &usage, &mut summary))?;
            foreign::verify(output, contents, &mut summary)?;
            // A file with images of other tool chains needs none of this project's.
            if contents.packs.here().is_empty() {
                return Ok(ExitStatus::Success);
            }
            verify_images(output, &contents.packs, &mut summary)?;
            if opened.member.is_none() {
                let linked = LinkedProgram { path, packs: &contents.packs };
                verify_links(output, args, linked, &mut summary)?;
            }
            Ok(ExitStatus::Success)
        })?;
        status = status.worse(of_path);
    }
    Ok(status.worse(finish(output, &summary)?))
}

/// A program and its packs.
struct LinkedProgram<'l> {
    path: &'l Path,
    packs: &'l Packs,
}

/// Whether every crate with kernels is in the program.
fn verify_links(
    output: &Output,
    args: &cli::Verify,
    linked: LinkedProgram<'_>,
    summary: &mut Summary,
) -> Result<()> {
    let unlinked = unlinked(linked.path, &args.cargo.package.project, linked.packs)?;
    summary.problems += unlinked.len() as u64;
    print_unlinked(output, &unlinked)
}

fn finish(output: &Output, summary: &Summary) -> Result<ExitStatus> {
    let images = counted(summary.images, "image");
    let problems = counted(summary.problems, "problem");
    let text = format!("{images} verified, {problems}");
    output.done(summary, &text)?;
    Ok(if summary.problems == 0 { ExitStatus::Success } else { ExitStatus::CheckFailed })
}

fn verify_images(output: &Output, packs: &Packs, summary: &mut Summary) -> Result<()> {
    let here = packs.here();
    let mut references = references::problems(here.file()).io_context("read", here.path())?;
    references.extend(pe::problems(here.file()).io_context("read", here.path())?);
    references.extend(macho::problems(here.file()).io_context("read", here.path())?);
    for problem in here.unreadable.iter().chain(&references) {
        summary.problems += 1;
        output
            .message(&Problem { reason: "unreadable", package: "", problem }, &format!("error: {problem}"))?;
    }
    packs.all().try_for_each(|reached| verify_pack(output, &reached.source, summary))?;
    for missing in packs.missing() {
        summary.problems += 1;
        let text = format!("error: {}", missing.sentence());
        output.message(&MissingSidecar::from_pack(&missing), &text)?;
    }
    Ok(())
}

fn verify_pack(output: &Output, source: &LocatedPack<'_>, summary: &mut Summary) -> Result<()> {
    let pack = &source.pack;
    // Every record was read when the file was opened. Those of a block come together: it is decoded once.
    let mut images: Vec<Image<'_>> = pack.images().flatten().collect();
    images.sort_by_key(|image| image.block);
    for image in images {
        let problem = check(source, &image).err();
        summary.images += 1;
        summary.problems += u64::from(problem.is_some());
        let text = match &problem {
            Some(problem) => format!("error: {problem}"),
            None => format!("ok: {} {} {}", escaped(image.module), escaped(image.target_text), image.hash),
        };
        let module = image.module;
        let target = image.target_text;
        let package = pack.meta("package").unwrap_or_default();
        let checksum = Some(records::HASH.to_string());
        let message = Verified { reason: "verified", package, module, target, checksum, problem };
        if message.problem.is_none() {
            output.done(&message, &text)?
        } else {
            output.message(&message, &text)?
        }
    }
    Ok(())
}

/// Decodes an image and compares it with its target; an error says what is wrong with it.
fn check(source: &LocatedPack<'_>, image: &Image<'_>) -> std::result::Result<(), String> {
    let bytes = source.decode(image).map_err(|error| error.to_string())?;
    match image.target_text.parse::<Target>() {
        Ok(target) => machine::check(&target, &bytes)
            .map_err(|mismatch| format!("{} {target}: {mismatch}", escaped(image.module))),
        // A later release wrote it.
        Err(_) => Ok(()),
    }
}

/// Packages of the program's graph that have kernels, of which nothing is linked.
fn unlinked(path: &Path, project: &cli::Project, packs: &Packs) -> Result<Vec<String>> {
    if !graph::is_there(project) {
        return Ok(Vec::new());
    }
    let root = project.package.as_deref().map_or(RootPackage::OfFile(path), RootPackage::Named);
    let with_kernels = match graph::packages_with_kernels(project, root) {
        Ok(with_kernels) => with_kernels,
        // Without a word about a project, a file stands for itself.
        Err(error) if !project.is_named() && graph::is_usage(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let linked: BTreeSet<String> =
        packs.here().packs().filter_map(|source| source.pack.meta("package").map(str::to_string)).collect();
    Ok(with_kernels.difference(&linked).cloned().collect())
}

fn print_unlinked(output: &Output, packages: &[String]) -> Result<()> {
    packages.iter().try_for_each(|package| {
        let problem = "its kernels are not linked into the program";
        let text = format!(
            "error: the kernels of package {package} are not linked into the program\nhint: reference the crate in the program: `use {} as _;`",
            package.replace('-', "_")
        );
        output.message(&Problem { reason: "unlinked", package, problem }, &text)
    })
}
