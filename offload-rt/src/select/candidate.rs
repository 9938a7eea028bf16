//! The candidates of a selection with their outcomes, which are made on demand.

use std::fmt;

use super::rules::{self, Fit, Requirements};
use crate::entry::Entry;
use crate::module_images::{Group, NamedKernel};
use crate::refusal::Refusal;
use crate::text::escape;

/// A candidate of a selection: an image of the module, and whether it was picked.
#[derive(Clone, Debug)]
pub struct Candidate {
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
    /// The device does not take it.
    Refused(Refusal),
}

impl Candidate {
    /// The image.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The outcome.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }
}

impl fmt::Display for Candidate {
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
            Outcome::Refused(refusal) => write!(f, "refused: {refusal}"),
        }
    }
}

/// The images that are used, as their numbers in the group.
#[derive(Clone, Debug)]
pub(super) struct Picks {
    /// For each of [`Group::kernels`] the image that it is taken from, if the device can launch it from one.
    pub(super) kernels: Vec<Option<usize>>,
    /// The image for kernels that no record names.
    pub(super) unnamed: Option<usize>,
}

impl Picks {
    /// Every picked image once, in the order of the registry.
    pub(super) fn images(&self) -> Vec<usize> {
        let mut images: Vec<usize> = self.kernels.iter().flatten().copied().chain(self.unnamed).collect();
        images.sort_unstable();
        images.dedup();
        images
    }
}

/// A choice that was made, to be put into words.
pub(super) struct Choice<'c> {
    pub(super) group: &'c Group,
    pub(super) requirements: Requirements<'c>,
    pub(super) picks: &'c Picks,
}

impl Choice<'_> {
    /// About every image, in the registry's order.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let mut fits = Vec::with_capacity(self.group.entries.len());
        for entry in &self.group.entries {
            fits.push(rules::evaluate::<Refusal>(entry, self.requirements));
        }
        let used = self.picks.images();
        let mut candidates = Vec::with_capacity(fits.len());
        for (image, (entry, fit)) in self.group.entries.iter().zip(&fits).enumerate() {
            let outcome = match fit {
                Err(refusal) => Outcome::Refused(refusal.clone()),
                Ok(fit) if used.contains(&image) => Outcome::Picked(self.picked(*fit, image)),
                Ok(fit) => Outcome::LessPreferred(self.behind(*fit, image, &fits)),
            };
            candidates.push(Candidate { entry: entry.clone(), outcome });
        }
        candidates
    }

    fn picked(&self, fit: Fit, image: usize) -> String {
        let all = self.group.entries.get(image).map_or(0, |entry| entry.kernels().len());
        let from_it: Vec<&NamedKernel> =
            self.in_order().filter(|kernel| kernel.image == Some(image)).map(|kernel| kernel.named).collect();
        if from_it.len() >= all {
            return fit.to_string();
        }
        let names: Vec<String> = from_it.into_iter().map(|kernel| escape(&kernel.name)).collect();
        format!("{fit}, for {}", names.join(", "))
    }

    /// Why an image that fits is not used.
    fn behind(&self, fit: Fit, image: usize, fits: &[Result<Fit, Refusal>]) -> String {
        let instead = self.instead_of(image);
        let best = instead.and_then(|image| fits.get(image)?.as_ref().ok().copied());
        match (best, instead) {
            (Some(best), _) if best != fit => fit.behind(best),
            (_, Some(instead)) if instead > image => {
                "it fits equally well, and its target has fewer kernels".to_string()
            }
            _ => "it fits equally well and comes later".to_string(),
        }
    }

    /// The image that is used in place of `image`, for the first kernel that it has.
    fn instead_of(&self, image: usize) -> Option<usize> {
        for kernel in self.in_order() {
            let mut holders = kernel.named.holders.iter();
            if kernel.image.is_some() && holders.any(|holder| self.group.images(holder).contains(&image)) {
                return kernel.image;
            }
        }
        self.picks.unnamed
    }

    /// The kernels in the registry's order.
    fn in_order(&self) -> impl Iterator<Item = Picked<'_>> {
        let picked = self.group.kernels.iter().zip(&self.picks.kernels);
        let mut all: Vec<Picked<'_>> = picked.map(|(named, image)| Picked { named, image: *image }).collect();
        all.sort_unstable_by_key(|kernel| kernel.named.order);
        all.into_iter()
    }
}

/// A kernel, and the image that it is taken from.
struct Picked<'c> {
    named: &'c NamedKernel,
    image: Option<usize>,
}
