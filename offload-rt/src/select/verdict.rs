//! What was decided about each image, in plain words.

use std::fmt;

use super::choice::Picks;
use super::{Fit, Judged};
use crate::entry::Entry;
use crate::text::escape;

/// What was decided about one image.
#[derive(Clone, Debug)]
pub struct Verdict {
    entry: Entry,
    outcome: Outcome,
}

/// The decision. Its [`Display`](fmt::Display) is a reason for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// This one is used; the text says how well it fits, and for which kernels if others of its kernels come from
    /// another image.
    Picked(String),
    /// The device would take it, but another one is better; the text says why.
    LessPreferred(String),
    /// The device cannot use it; the text says why.
    Refused(String),
}

impl Verdict {
    /// The image.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// What was decided.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }
}

impl fmt::Display for Verdict {
    /// `target: outcome`, or `target [part]: outcome`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.entry.place(), self.outcome)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Picked(fit) => write!(f, "picked: {fit}"),
            Outcome::LessPreferred(reason) => write!(f, "less preferred: {reason}"),
            Outcome::Refused(reason) => write!(f, "refused: {reason}"),
        }
    }
}

pub(super) fn verdicts(judged: &[Judged<'_>], picks: &Picks<'_>) -> Vec<Verdict> {
    let used = picks.images();
    let outcome = |image: usize, (entry, fit): &Judged<'_>| match fit {
        Err(reason) => Outcome::Refused(reason.clone()),
        Ok(fit) if used.contains(&image) => Outcome::Picked(picked(*fit, entry, picks.from(image).collect())),
        Ok(fit) => Outcome::LessPreferred(behind(*fit, image, (judged, picks))),
    };
    let verdict = |(image, judged): (usize, &Judged<'_>)| Verdict {
        entry: judged.0.clone(),
        outcome: outcome(image, judged),
    };
    judged.iter().enumerate().map(verdict).collect()
}

fn picked(fit: Fit, entry: &Entry, kernels: Vec<&str>) -> String {
    if kernels.len() >= entry.kernels().len() {
        return fit.to_string();
    }
    let kernels: Vec<String> = kernels.into_iter().map(escape).collect();
    format!("{fit}, for {}", kernels.join(", "))
}

fn behind(fit: Fit, image: usize, (judged, picks): (&[Judged<'_>], &Picks<'_>)) -> String {
    let instead = picks.instead_of(judged, image);
    let best = instead.and_then(|image| judged.get(image)?.1.as_ref().ok().copied());
    match (best, instead) {
        (Some(best), _) if best != fit => fit.behind(best),
        (_, Some(instead)) if instead > image => {
            "it fits equally well, and its target has fewer kernels".to_string()
        }
        _ => "it fits equally well and comes later".to_string(),
    }
}
