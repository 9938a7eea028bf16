//! What could not be read of a file, as every command says that shows the rest.

use serde::Serialize;

use crate::error::Result;
use crate::print::output::{Output, listed};
use crate::read::input::Carried;
use crate::read::packs::Missing;

/// A pack that should lie in another file.
#[derive(Debug, Serialize)]
pub(crate) struct MissingMessage<'a> {
    reason: &'static str,
    package: &'a str,
    file: &'a str,
    problem: &'a str,
    /// What the file would have.
    images: Vec<MissingImage<'a>>,
}

#[derive(Debug, Serialize)]
struct MissingImage<'a> {
    module: &'a str,
    target: &'a str,
}

#[derive(Debug, Serialize)]
struct SkippedMessage<'a> {
    reason: &'static str,
    cause: &'a str,
}

/// Says what is missing and what is damaged.
pub(crate) fn tell(output: &Output, carried: &Carried<'_>) -> Result<()> {
    for missing in carried.packs.missing() {
        output.message(&MissingMessage::of(&missing), &format!("missing: {}", sentence(&missing)))?;
    }
    for cause in carried.unreadable() {
        skipped(output, &cause)?;
    }
    Ok(())
}

/// Says what could not be read or shown.
pub(crate) fn skipped(output: &Output, cause: &str) -> Result<()> {
    output.message(&SkippedMessage { reason: "skipped", cause }, &format!("skipped {cause}"))
}

impl<'a> MissingMessage<'a> {
    pub(crate) fn of(missing: &'a Missing<'_>) -> MissingMessage<'a> {
        let images = missing.images().into_iter();
        MissingMessage {
            reason: "missing",
            package: missing.by.meta("package").unwrap_or_default(),
            file: &missing.file,
            problem: missing.error.message(),
            images: images.map(|(module, target)| MissingImage { module, target }).collect(),
        }
    }
}

/// Why it is not there, what it would have, and what to do.
pub(crate) fn sentence(missing: &Missing<'_>) -> String {
    let images = missing.images().into_iter().map(|(module, target)| format!("{module} {target}"));
    let would = listed(images).map_or_else(String::new, |images| format!("; it would have {images}"));
    let hint = missing.error.hint_text().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
    format!("{}{would}{hint}", missing.error.message())
}
