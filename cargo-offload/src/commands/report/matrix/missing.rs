//! Images that a compiler failed to build, and the reasons.

use std::collections::BTreeMap;

use offload_format::pack::MissingKind;
use serde::Serialize;

use crate::cli::ReportFormat;
use crate::commands::report::markdown;
use crate::error::Result;
use crate::print::output::Output;
use crate::print::table::Table;
use crate::print::text::escaped;
use crate::read::input::Contents;

/// An image that a build lacks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct MissingImage {
    /// Empty for all modules.
    module: String,
    /// Empty for all targets.
    target: String,
    problem: String,
}

/// Images that builds lack, with the labels of the builds.
#[derive(Debug, Default)]
pub(super) struct MissingByBuild(BTreeMap<MissingImage, Vec<String>>);

#[derive(Debug, Serialize)]
struct Message<'a> {
    reason: &'static str,
    builds: &'a [String],
    #[serde(flatten)]
    image: &'a MissingImage,
}

impl MissingImage {
    pub(super) fn for_all_images(problem: String) -> MissingImage {
        MissingImage { module: String::new(), target: String::new(), problem }
    }
}

impl MissingByBuild {
    pub(super) fn add(&mut self, build: &str, image: MissingImage) {
        self.0.entry(image).or_default().push(build.to_string());
    }

    /// A row for each; people see the first line of the reason.
    pub(super) fn print(&self, output: &Output, format: ReportFormat, of: usize) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        output.space()?;
        let rows: Vec<Vec<String>> = self.0.iter().map(|(image, builds)| image.cells(builds, of)).collect();
        let messages = self.0.iter().map(|(image, builds)| Message { reason: "missing", builds, image });
        let messages: Vec<Message<'_>> = messages.collect();
        match format {
            ReportFormat::Table => {
                let mut table = Table::new(&HEADINGS);
                rows.into_iter().for_each(|row| table.row(row));
                output.table(&messages, &table)
            }
            ReportFormat::Markdown => {
                output.objects(&messages)?;
                output.remark(&markdown::table(&HEADINGS, rows))
            }
        }
    }

    /// The same in words.
    pub(super) fn sentences(&self) -> Vec<String> {
        self.0
            .iter()
            .map(|(image, builds)| {
                let [module, target, why] = image.words();
                escaped(&format!(
                    "not built by {}: module {module}, target {target}: {why}",
                    builds.join(", ")
                ))
            })
            .collect()
    }
}

const HEADINGS: [&str; 4] = ["not built by", "module", "target", "why"];

impl MissingImage {
    /// The cells under the last three of [`HEADINGS`].
    fn words(&self) -> [String; 3] {
        [or_all(&self.module), or_all(&self.target), self.why()]
    }

    /// The first line of the problem; below one that only says what did not work, the second as well.
    fn why(&self) -> String {
        let lines = if self.problem.starts_with("cannot compile ") { 2 } else { 1 };
        self.problem.lines().take(lines).collect::<Vec<_>>().join(": ")
    }

    fn cells(&self, builds: &[String], of: usize) -> Vec<String> {
        let builds = if builds.len() == of { "any".to_string() } else { builds.join(", ") };
        std::iter::once(builds).chain(self.words()).collect()
    }
}

/// The skipped targets that packs record.
pub(super) fn from_contents(contents: &Contents<'_>) -> Result<Vec<MissingImage>> {
    let mut missing = Vec::new();
    for pack in contents.packs.all().map(|reached| reached.source.pack) {
        for missing_target in pack.missing() {
            let missing_target = missing_target?;
            if missing_target.kind == MissingKind::Target {
                let [module, target, problem] =
                    [missing_target.module, missing_target.target, missing_target.reason].map(str::to_string);
                missing.push(MissingImage { module, target, problem });
            }
        }
    }
    Ok(missing)
}

/// The reason of cargo's failure: the message of a build script, or else everything from the first error on.
pub(super) fn reason(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let script = lines.iter().position(|line| line.trim() == "--- stderr");
    let text: Vec<&str> = match script {
        // Cargo indents what scripts say; what it says itself afterwards is not indented.
        Some(at) => {
            let log = lines.iter().skip(at.saturating_add(1));
            log.take_while(|line| line.is_empty() || line.starts_with("  ")).map(|line| line.trim()).collect()
        }
        None => lines.iter().skip_while(|line| !line.starts_with("error")).copied().collect(),
    };
    let text = text.join("\n");
    let text = text.trim();
    text.strip_prefix("error: ").unwrap_or(text).to_string()
}

fn or_all(text: &str) -> String {
    if text.is_empty() { "all".to_string() } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_script_s_own_words_are_the_reason() {
        let log = "   Compiling app v0.1.0\nerror: failed to run custom build command for `app v0.1.0`\n\nCaused by:\n  process didn't exit successfully: `x` (exit status: 1)\n  --- stderr\n\n  error: clang was not found\n  looked for: clang\n  hint: install it\n\nwarning: build failed, waiting for other jobs to finish...\n";
        assert_eq!(reason(log), "clang was not found\nlooked for: clang\nhint: install it");
        assert_eq!(reason("warning: a\nerror: no such command\n"), "no such command");
        assert_eq!(reason(""), "");
    }

    fn why(problem: &str) -> String {
        MissingImage::for_all_images(problem.to_string()).why()
    }

    #[test]
    fn a_heading_is_no_reason() {
        assert_eq!(why("clang was not found\nlooked for: clang"), "clang was not found");
        assert_eq!(
            why("cannot compile kernel module `a` for `host`\na.cl:1:1: error: b\nc"),
            "cannot compile kernel module `a` for `host`: a.cl:1:1: error: b"
        );
    }
}
