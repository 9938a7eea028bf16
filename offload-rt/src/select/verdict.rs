//! What was decided about each image, in plain words.

use std::fmt;

use super::{Judged, rules::Fit};
use crate::entry::Entry;
use crate::text::escape;

/// The chosen image and the reasons.
#[derive(Clone, Debug)]
pub struct Selection {
    entry: Entry,
    verdicts: Vec<Verdict>,
}

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
    /// This one is used; the text says how well it fits.
    Picked(String),
    /// The device would take it, but another one is better; the text says why.
    LessPreferred(String),
    /// The device cannot use it; the text says why.
    Refused(String),
}

impl Selection {
    pub(super) fn new(entry: Entry, verdicts: Vec<Verdict>) -> Selection {
        Selection { entry, verdicts }
    }

    /// The chosen image.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Every image of the module, in the registry's order.
    pub fn verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }
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
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", escape(self.entry.target_text()), self.outcome)
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

pub(super) fn verdicts(judged: &[Judged<'_>], (picked, best): (&Entry, Fit)) -> Vec<Verdict> {
    let outcome = |entry: &Entry, fit: &Result<Fit, String>| match fit {
        Err(reason) => Outcome::Refused(reason.clone()),
        Ok(fit) if entry.is(picked) => Outcome::Picked(fit.to_string()),
        Ok(fit) => Outcome::LessPreferred(fit.behind(best)),
    };
    judged
        .iter()
        .map(|(entry, fit)| Verdict { entry: (*entry).clone(), outcome: outcome(entry, fit) })
        .collect()
}
