//! SYCLBIN hazards: content that a SYCL runtime rejects, silently skips, or crashes on.

use std::collections::BTreeMap;
use std::path::Path;

use offload_containers::syclbin::{Consequence, Hazard, Release, Usage, hazards_of};
use serde::Serialize;

use super::message::Summary;
use crate::cli::{self, SyclRelease};
use crate::error::{Error, Result};
use crate::print::output::Output;
use crate::read::input::Input;
use crate::read::syclbin::Syclbin;

#[derive(Debug, Serialize)]
struct Message<'a> {
    reason: &'static str,
    place: &'a str,
    /// The index of the module that has it; none for the file.
    module: Option<usize>,
    consequence: &'static str,
    problem: String,
}

/// The intended use of SYCLBIN files, from the options.
pub(super) fn usage(output: &Output, args: &cli::Verify) -> Result<Usage> {
    let mut usage = Usage::default();
    if let Some(release) = args.runtime {
        usage = usage.for_release(match release {
            SyclRelease::Oneapi2025_3 => Release::Oneapi2025_3,
            SyclRelease::Oneapi2026_2 => Release::Oneapi2026_2,
        });
    }
    let mut exporters: BTreeMap<String, &Path> = BTreeMap::new();
    for path in &args.linked_with {
        for symbol in exports(output, path)? {
            if let Some(other) = exporters.insert(symbol.clone(), path).filter(|other| *other != path) {
                return Err(both_export(&symbol, [other, path]));
            }
        }
    }
    if !args.linked_with.is_empty() {
        usage = usage.linked_with(exporters.into_keys());
    }
    Ok(usage)
}

/// No runtime links such files.
fn both_export(symbol: &str, files: [&Path; 2]) -> Error {
    let [one, other] = files.map(Path::display);
    let symbol = symbol.escape_debug();
    Error::check(format!("`{one}` and `{other}` both export symbol `{symbol}`: they cannot be linked"))
}

/// The symbols that the SYCLBIN files in `path` export.
fn exports(output: &Output, path: &Path) -> Result<Vec<String>> {
    let input = Input::open(path, output.limits())?;
    let contents = input.contents()?;
    if contents.syclbins.is_empty() {
        let text = format!("`{}` has no SYCLBIN to link with", path.display());
        return Err(Error::usage(text).hint("`cargo offload inspect` lists the contents of a file"));
    }
    let mut symbols = Vec::new();
    for file in &contents.syclbins {
        for module in &file.parse()?.modules {
            symbols.extend(module.exported().map(str::to_string));
        }
    }
    Ok(symbols)
}

/// Prints every hazard; all are problems but those that only some releases or devices have.
pub(super) fn verify(
    output: &Output,
    found: &Syclbin<'_>,
    usage: &Usage,
    summary: &mut Summary,
) -> Result<()> {
    let file = found.parse()?;
    let images = file.modules.iter().map(|module| module.ir.len().saturating_add(module.native.len()));
    summary.images += images.sum::<usize>() as u64;
    for hazard in hazards_of(&file, usage) {
        let severe = hazard.problem.consequence() != Consequence::Restricts;
        summary.problems += u64::from(severe);
        print(output, &found.place, &hazard)?;
    }
    Ok(())
}

fn print(output: &Output, place: &str, hazard: &Hazard) -> Result<()> {
    let (word, consequence) = words(hazard.problem.consequence());
    let text = format!("{word}: {place}: {hazard} ({consequence})");
    let problem = hazard.problem.to_string();
    let message = Message { reason: "hazard", place, module: hazard.module, consequence, problem };
    output.message(&message, &text)
}

fn words(consequence: Consequence) -> (&'static str, &'static str) {
    match consequence {
        Consequence::Restricts => ("warning", "restricts"),
        Consequence::Ignores => ("error", "ignores"),
        Consequence::Surprises => ("error", "surprises"),
        Consequence::Crashes => ("error", "crashes"),
        _ => ("error", "fails"),
    }
}
