//! Checks of other toolchains' containers: every image decodes, matches the checksums of its container, and is for the
//! machine that the container names.

use offload_containers::Checksum;
use offload_containers::carrier::FileKind;
use offload_containers::contents::Image;
use offload_images::{describe, machine};
use serde::Serialize;

use super::message::{Problem, Summary, Verified};
use crate::error::Result;
use crate::print::output::Output;
use crate::print::text::{counted, escaped};
use crate::read::input::{Container, Contents};
use crate::read::records::{Origin, each_decoded};

#[derive(Debug, Serialize)]
struct Message<'a> {
    reason: &'static str,
    name: &'a str,
    kind: String,
    images: u64,
    kernels: u64,
    problems: u64,
}

/// Totals of the images of a container.
#[derive(Debug, Default)]
struct Sums {
    images: u64,
    kernels: u64,
    problems: u64,
}

/// Verifies what of other tool chains is `contents`, but for SYCLBIN files.
pub(super) fn verify(output: &Output, contents: &Contents<'_>, summary: &mut Summary) -> Result<()> {
    for problem in &contents.damaged {
        summary.problems += 1;
        output
            .message(&Problem { reason: "unreadable", package: "", problem }, &format!("error: {problem}"))?;
    }
    for (number, container) in contents.containers.iter().enumerate() {
        if container.found.kind != Some(FileKind::Syclbin) {
            let sums = verify_container(output, contents, number)?;
            summary.images += sums.images;
            summary.problems += sums.problems;
        }
    }
    Ok(())
}

fn verify_container(output: &Output, contents: &Contents<'_>, number: usize) -> Result<Sums> {
    let mut sums = Sums::default();
    let Some(container) = contents.containers.get(number) else { return Ok(sums) };
    let origins: Vec<Origin> =
        (0..container.images.len()).map(|index| Origin::Container(number, index)).collect();
    let mut images = container.images.iter();
    each_decoded(contents, &origins, &mut |_, bytes| {
        let Some(image) = images.next() else { return Ok(()) };
        let judged = bytes.map_err(|error| error.to_string()).and_then(|bytes| judge(image, &bytes));
        let target = image.target_text();
        let shown = escaped(&target);
        let checksum = image.checksum().map(|checksum| checksum.to_string());
        let compared = match image.checksum() {
            Some(Checksum::Md5) => ", MD5 compared",
            Some(_) => ", checksum compared",
            None => "",
        };
        let (problem, text) = match judged {
            Ok(kernels) => {
                sums.kernels += kernels.unwrap_or(0);
                let kernels = kernels.map_or("kernels unknown".to_string(), |count| counted(count, "kernel"));
                (None, format!("ok: {} {shown} {kernels}{compared}", container.name))
            }
            Err(problem) => (Some(problem.clone()), format!("error: {} {shown}: {problem}", container.name)),
        };
        sums.images += 1;
        sums.problems += u64::from(problem.is_some());
        let package = "";
        let module = container.name.as_str();
        let message = Verified { reason: "verified", package, module, target: &target, checksum, problem };
        output.message(&message, &text)
    })?;
    print(output, container, &sums)?;
    Ok(sums)
}

fn print(output: &Output, container: &Container<'_>, sums: &Sums) -> Result<()> {
    let Sums { images, kernels, problems } = *sums;
    let name = container.name.as_str();
    let kind = container.found.kind.map(|kind| kind.to_string());
    let kind = kind.unwrap_or_else(|| "device images".to_string());
    let [with, of, and] =
        [(images, "image"), (kernels, "kernel"), (problems, "problem")].map(|(n, what)| counted(n, what));
    let text = format!("{name}: {kind}: {with} with {of}, {and}");
    output.message(&Message { reason: "container", name, kind, images, kernels, problems }, &text)
}

/// Checks an image, and returns its number of kernels if its format records them.
fn judge(image: &Image<'_>, bytes: &[u8]) -> std::result::Result<Option<u64>, String> {
    let described = describe::any(bytes).map_err(|error| error.to_string())?;
    if let Some(target) = &image.target {
        machine::check_foreign(target, bytes).map_err(|mismatch| mismatch.to_string())?;
    }
    Ok(described.map(|description| description.kernels.len() as u64))
}
