//! Of a SYCLBIN: what a SYCL runtime would refuse, pass over without a word, or die of.

use offload_containers::syclbin::{Consequence, Hazard, hazards};
use serde::Serialize;

use super::message::Summary;
use crate::error::Result;
use crate::print::output::Output;
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

/// Prints every hazard; all are problems but those that only some releases or devices have.
pub(super) fn verify(output: &Output, found: &Syclbin<'_>, summary: &mut Summary) -> Result<()> {
    let file = found.parse()?;
    let images = file.modules.iter().map(|module| module.ir.len().saturating_add(module.native.len()));
    summary.images += images.sum::<usize>() as u64;
    for hazard in hazards(&file) {
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
