//! Code for a later link: LLVM bitcode and NVIDIA's LTO-IR. No driver loads it, so it meets no requirement and has
//! none.

use std::collections::{BTreeMap, BTreeSet};

use offload_containers::carrier::FileKind;
use serde::Serialize;

use crate::error::Result;
use crate::print::output::Output;
use crate::print::text::escaped;
use crate::read::input::Contents;

#[derive(Serialize)]
struct ForLink<'a> {
    reason: &'static str,
    file: &'a str,
    format: String,
    /// For what, as far as the file says it.
    targets: Vec<String>,
}

/// The targets of such code in a file, by its format.
#[derive(Default)]
pub(super) struct Formats(BTreeMap<FileKind, BTreeSet<String>>);

impl Formats {
    /// Adds those of a part of the file.
    pub(super) fn add(&mut self, contents: &Contents<'_>) {
        for image in contents.containers.iter().flat_map(|container| &container.images) {
            if let Some(format @ (FileKind::LlvmBitcode | FileKind::LtoIr)) = image.format {
                self.0.entry(format).or_default().insert(image.target_text());
            }
        }
    }

    /// The number of formats.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Prints a note for each.
    pub(super) fn print(&self, output: &Output, file: &str) -> Result<()> {
        for (format, targets) in &self.0 {
            let targets: Vec<String> = targets.iter().filter(|target| !target.is_empty()).cloned().collect();
            let named =
                if targets.is_empty() { String::new() } else { format!(" for {}", targets.join(", ")) };
            let text = format!(
                "note: {}: {format}{} is compiled at link time, and is not checked",
                escaped(file),
                escaped(&named)
            );
            output.done(&ForLink { reason: "for-link", file, format: format.to_string(), targets }, &text)?;
        }
        Ok(())
    }
}
