//! `verify`: every image decodes to the bytes that were packed, and every crate with kernels is linked; images of other
//! tool chains are whole; a SYCLBIN is what runtimes take.

mod foreign;
mod syclbin;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use offload_format::pack::Pack;
use serde::Serialize;

use crate::artifact;
use crate::beside;
use crate::carrier::{Carrier, FoundPack};
use crate::cli;
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::graph::{self, RootPackage};
use crate::output::Output;
use crate::syclbins;

#[derive(Debug, Serialize)]
struct Verified<'a> {
    reason: &'static str,
    package: &'a str,
    module: &'a str,
    target: &'a str,
    problem: Option<String>,
}

#[derive(Debug, Serialize)]
struct Problem<'a> {
    reason: &'static str,
    package: &'a str,
    problem: &'a str,
}

#[derive(Debug, Serialize)]
struct Summary {
    reason: &'static str,
    images: u64,
    problems: u64,
}

pub(super) fn run(output: &Output, args: &cli::Verify) -> Result<ExitStatus> {
    let path = artifact::path(output, args.path.as_deref(), &args.cargo)?;
    let mut summary = Summary { reason: "summary", images: 0, problems: 0 };
    let syclbins = syclbins::find(&path)?;
    syclbins.iter().try_for_each(|file| syclbin::verify(output, file, &mut summary))?;
    let foreign = foreign::verify(output, &path, &mut summary)?;
    let carrier = match Carrier::open(&path) {
        Ok(carrier) => carrier,
        // A file with the one needs nothing of the other.
        Err(_) if !syclbins.is_empty() || foreign > 0 => return finish(output, &summary),
        Err(error) => return Err(error),
    };
    verify_images(output, &carrier, &mut summary)?;
    verify_beside(output, &path, (&carrier, &mut summary))?;
    verify_graph(output, (&path, &args.cargo.project), (&carrier, &mut summary))?;
    finish(output, &summary)
}

fn finish(output: &Output, summary: &Summary) -> Result<ExitStatus> {
    let text = format!("{} images verified, {} problems", summary.images, summary.problems);
    output.message(summary, &text)?;
    Ok(if summary.problems == 0 { ExitStatus::Success } else { ExitStatus::CheckFailed })
}

fn verify_images(output: &Output, carrier: &Carrier, summary: &mut Summary) -> Result<()> {
    for problem in &carrier.skipped {
        summary.problems += 1;
        output.message(&Problem { reason: "skipped", package: "", problem }, &format!("error: {problem}"))?;
    }
    for (found, pack) in carrier.packs() {
        verify_pack(output, (carrier, found, &pack), summary)?;
    }
    Ok(())
}

fn verify_pack(
    output: &Output,
    (carrier, found, pack): (&Carrier, &FoundPack, &Pack<'_>),
    summary: &mut Summary,
) -> Result<()> {
    // The carrier has read every record already.
    for image in pack.images().flatten() {
        let problem = carrier.decode(found, pack, &image).err().map(|error| error.to_string());
        summary.images += 1;
        summary.problems += u64::from(problem.is_some());
        let text = match &problem {
            Some(problem) => format!("error: {problem}"),
            None => format!("ok: {} {} {}", image.module, image.target_text, image.hash),
        };
        let (module, target) = (image.module, image.target_text);
        let package = pack.meta("package").unwrap_or_default();
        output.message(&Verified { reason: "verified", package, module, target, problem }, &text)?;
    }
    Ok(())
}

/// The packs that lie in files beside the program; each file is opened once.
fn verify_beside(output: &Output, path: &Path, (carrier, summary): (&Carrier, &mut Summary)) -> Result<()> {
    let mut files: BTreeMap<String, Result<Carrier>> = BTreeMap::new();
    for (_, pack) in carrier.packs() {
        for there in pack.elsewhere().flatten() {
            let open = || Carrier::open(&beside::file(path, &pack, &there));
            let file = files.entry(there.file().to_string()).or_insert_with(open);
            let found = file.as_ref().map(|file| {
                let mut packs = file.packs();
                packs.find(|(_, pack)| pack.id().is_ok_and(|id| id == there.id())).map(|found| (file, found))
            });
            let problem = match found {
                Ok(Some((file, (found, pack)))) => {
                    verify_pack(output, (file, found, &pack), summary)?;
                    continue;
                }
                Ok(None) => format!("`{}` is of another build of the program", there.file()),
                Err(error) => error.to_string(),
            };
            summary.problems += 1;
            let package = pack.meta("package").unwrap_or_default();
            let text = format!("error: {problem}");
            output.message(&Problem { reason: "missing", package, problem: &problem }, &text)?;
        }
    }
    Ok(())
}

fn verify_graph(
    output: &Output,
    (path, project): (&Path, &cli::Project),
    (carrier, summary): (&Carrier, &mut Summary),
) -> Result<()> {
    let root = project.package.as_deref().map_or(RootPackage::OfFile(path), RootPackage::Named);
    let wanted = match graph::packages_with_kernels(project, root) {
        Ok(wanted) => wanted,
        // Without a word about a project, a file stands for itself.
        Err(error) if !project.is_named() && graph::is_usage(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    let linked: BTreeSet<String> =
        carrier.packs().filter_map(|(_, pack)| pack.meta("package").map(str::to_string)).collect();
    for package in wanted.difference(&linked) {
        summary.problems += 1;
        let problem = "it has kernels, but nothing of it is linked";
        let text = format!(
            "error: package {package} has kernels, but nothing of it is linked\nhint: mention it in the program: `use {} as _;`",
            package.replace('-', "_")
        );
        output.message(&Problem { reason: "unlinked", package, problem }, &text)?;
    }
    Ok(())
}
