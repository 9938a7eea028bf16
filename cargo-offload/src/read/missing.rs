//! Messages for the unreadable images of a file whose other images are shown.

use serde::Serialize;

use crate::error::Result;
use crate::print::output::Output;
use crate::read::input::Contents;
use crate::read::packs::MissingPack;

/// A pack that should lie in a sidecar.
#[derive(Debug, Serialize)]
pub(crate) struct MissingSidecar<'a> {
    reason: &'static str,
    package: &'a str,
    file: &'a str,
    problem: &'a str,
    /// Images in the missing file.
    images: Vec<SidecarImage<'a>>,
}

#[derive(Debug, Serialize)]
struct SidecarImage<'a> {
    module: &'a str,
    target: &'a str,
}

#[derive(Debug, Serialize)]
struct UnreadableMessage<'a> {
    reason: &'static str,
    problem: &'a str,
}

/// Says what is missing and what is damaged.
pub(crate) fn print(output: &Output, contents: &Contents<'_>) -> Result<()> {
    for missing in contents.packs.missing() {
        output.message(&MissingSidecar::from_pack(&missing), &format!("missing: {}", missing.sentence()))?;
    }
    for problem in contents.unreadable() {
        unreadable(output, &problem)?;
    }
    Ok(())
}

/// Says what could not be read or shown.
pub(crate) fn unreadable(output: &Output, problem: &str) -> Result<()> {
    output.message(&UnreadableMessage { reason: "unreadable", problem }, &format!("unreadable: {problem}"))
}

impl<'a> MissingSidecar<'a> {
    pub(crate) fn from_pack(missing: &'a MissingPack<'_>) -> MissingSidecar<'a> {
        let images = missing.images().into_iter();
        MissingSidecar {
            reason: "missing-sidecar",
            package: missing.by.meta("package").unwrap_or_default(),
            file: &missing.file,
            problem: missing.error.message(),
            images: images.map(|(module, target)| SidecarImage { module, target }).collect(),
        }
    }
}
