//! Which image each kernel is taken from.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::rules::Fit;
use crate::entry::Entry;

/// An image with how well it fits, or why it does not.
pub(super) struct Judged<'r> {
    pub(super) entry: &'r Entry,
    pub(super) fit: Result<Fit, String>,
}

/// A kernel and the image that it is taken from, as its place in the list of those that were judged.
#[derive(Debug)]
pub(super) struct Pick<'r> {
    pub(super) kernel: &'r str,
    pub(super) image: usize,
}

/// The images that are used, as places in the list of those that were judged.
#[derive(Debug)]
pub(super) struct Picks<'r> {
    /// Every kernel of which a fitting image exists, in the order of the registry.
    pub(super) kernels: Vec<Pick<'r>>,
    /// The image for kernels that no record names.
    pub(super) unnamed: Option<usize>,
}

impl<'r> Picks<'r> {
    /// For each kernel the best fitting image that has it. Where several fit equally well, that of the target which
    /// is so for the most kernels, so that a module comes from few targets; then the first.
    pub(super) fn of(judged: &[Judged<'r>]) -> Picks<'r> {
        let holders = holders(judged);
        let best = holders.iter().map(|(name, images)| (*name, best(judged, images)));
        let best: Vec<(&'r str, Vec<usize>)> = best.filter(|(_, images)| !images.is_empty()).collect();
        let votes = votes(judged, &best);
        let votes_of = |image: usize| votes.get(judged.get(image)?.entry.target_text());
        let choose =
            |images: &[usize]| images.iter().copied().min_by_key(|image| (Reverse(votes_of(*image)), *image));
        let pick = |(kernel, images): &(&'r str, Vec<usize>)| Some(Pick { kernel, image: choose(images)? });
        let kernels: Vec<Pick<'r>> = best.iter().filter_map(pick).collect();
        let unnamed = match holders.is_empty() {
            true => best_of_all(judged),
            false => kernels.iter().map(|pick| pick.image).filter(|image| is_silent(judged, *image)).min(),
        };
        Picks { kernels, unnamed }
    }

    /// Every picked image once, in the order of the registry.
    pub(super) fn images(&self) -> Vec<usize> {
        let mut images: Vec<usize> = self.kernels.iter().map(|pick| pick.image).chain(self.unnamed).collect();
        images.sort_unstable();
        images.dedup();
        images
    }

    /// The kernels that come from `image`.
    pub(super) fn from(&self, image: usize) -> impl Iterator<Item = &'r str> {
        self.kernels.iter().filter(move |pick| pick.image == image).map(|pick| pick.kernel)
    }

    /// What is used in place of `image`, for the first kernel that it has.
    pub(super) fn instead_of(&self, judged: &[Judged<'r>], image: usize) -> Option<usize> {
        let entry = judged.get(image)?.entry;
        let taken = self.kernels.iter().find(|pick| holds(entry, pick.kernel));
        taken.map(|pick| pick.image).or(self.unnamed)
    }
}

/// Whether `entry` has the kernel, as far as its pack knows: without records it may have any.
pub(super) fn holds(entry: &Entry, kernel: &str) -> bool {
    entry.kernels().is_empty() || entry.kernels().iter().any(|known| known.name == kernel)
}

fn is_silent(judged: &[Judged<'_>], image: usize) -> bool {
    judged.get(image).is_some_and(|judged| judged.entry.kernels().is_empty())
}

/// Every kernel that a record names, in the order of the registry, with the images that have it.
fn holders<'r>(judged: &[Judged<'r>]) -> Vec<(&'r str, Vec<usize>)> {
    let (mut order, mut images) = (Vec::new(), BTreeMap::<&str, Vec<usize>>::new());
    for (image, judged) in judged.iter().enumerate() {
        for kernel in judged.entry.kernels() {
            let holders = images.entry(&kernel.name).or_insert_with(|| {
                order.push(kernel.name.as_str());
                Vec::new()
            });
            holders.push(image);
        }
    }
    let silent: Vec<usize> = (0..judged.len()).filter(|image| is_silent(judged, *image)).collect();
    let mut all =
        |name: &str| images.remove(name).unwrap_or_default().into_iter().chain(silent.clone()).collect();
    order.into_iter().map(|name| (name, all(name))).collect()
}

/// Those of `images` that fit as well as the best of them does.
fn best(judged: &[Judged<'_>], images: &[usize]) -> Vec<usize> {
    let fit = |image: usize| -> Option<Fit> { judged.get(image)?.fit.as_ref().ok().copied() };
    let most = images.iter().filter_map(|image| fit(*image)).max();
    images.iter().copied().filter(|image| most.is_some() && fit(*image) == most).collect()
}

fn best_of_all(judged: &[Judged<'_>]) -> Option<usize> {
    best(judged, &(0..judged.len()).collect::<Vec<_>>()).first().copied()
}

/// For how many kernels each target has one of the best images.
fn votes<'r>(judged: &[Judged<'r>], best: &[(&str, Vec<usize>)]) -> BTreeMap<&'r str, usize> {
    let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, images) in best {
        let targets: BTreeSet<&str> =
            images.iter().filter_map(|image| Some(judged.get(*image)?.entry.target_text())).collect();
        for target in targets {
            let count = votes.entry(target).or_default();
            *count = count.saturating_add(1);
        }
    }
    votes
}
