//! The result of a choice: which images serve which kernels, and what was decided about each image, in plain words.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use offload_format::pack::KernelInfo;

use super::rules::{self, Fit};
use crate::description::DeviceDescription;
use crate::entry::Entry;
use crate::error::{Case, Error};
use crate::index::Index;
use crate::text::escape;

/// What a choice was asked for; it stands in errors.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) name: String,
    /// `module` or `module/variant`.
    pub(super) module: String,
    pub(super) device: String,
    /// What it was asked of.
    pub(super) index: Arc<Index>,
}

impl Asked {
    /// What the build has left out of the module, which only errors tell.
    pub(super) fn missing(&self) -> Vec<String> {
        self.index.missing_of(&self.name)
    }
}

/// The chosen images and the reasons. A module that is not split has one image for all kernels.
#[derive(Clone, Debug)]
pub struct Selection {
    asked: Asked,
    first: Entry,
    entries: Vec<Entry>,
    kernels: Vec<KernelInfo>,
    /// Sorted by kernel.
    chosen: Vec<Chosen>,
    /// The image for kernels that no record names.
    unnamed: Option<usize>,
    verdicts: Vec<Verdict>,
    /// Of images that fit, the kernels that the device cannot launch.
    unfit: Vec<UnfitKernel>,
}

/// A kernel that the device cannot launch.
#[derive(Clone, Debug)]
struct UnfitKernel {
    kernel: String,
    /// The image, and why.
    reason: String,
}

/// Where the image of a kernel is in `entries`.
#[derive(Clone, Debug)]
struct Chosen {
    kernel: String,
    entry: usize,
}

impl Selection {
    /// The best of the images that were judged, or `asked` again if none fits.
    pub(super) fn new(asked: Asked, judged: &[Judged<'_>]) -> Result<Selection, Asked> {
        let picks = &Picks::of(judged);
        let images = picks.images();
        let entry = |image: &usize| judged.get(*image).map(|judged| judged.entry.clone());
        let entries: Vec<Entry> = images.iter().filter_map(entry).collect();
        let Some(first) = entries.first().cloned() else { return Err(asked) };
        let place = |image: usize| images.binary_search(&image).ok();
        let choose =
            |pick: &Pick<'_>| Some(Chosen { kernel: pick.kernel.to_string(), entry: place(pick.image)? });
        let mut chosen: Vec<Chosen> = picks.kernels.iter().filter_map(choose).collect();
        chosen.sort_unstable_by(|a, b| a.kernel.cmp(&b.kernel));
        let record = |pick: &Pick<'_>| {
            judged.get(pick.image)?.entry.kernels().iter().find(|kernel| kernel.name == pick.kernel).cloned()
        };
        Ok(Selection {
            asked,
            first,
            chosen,
            kernels: picks.kernels.iter().filter_map(record).collect(),
            unnamed: picks.unnamed.and_then(place),
            verdicts: verdicts(judged, picks),
            unfit: judged.iter().flat_map(unfit_kernels).collect(),
            entries,
        })
    }

    /// The chosen image; of a split module the first of [`Selection::entries`].
    pub fn entry(&self) -> &Entry {
        &self.first
    }

    /// Every chosen image once, in the registry's order. Each is the best for at least one kernel.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The image that `kernel` comes from.
    ///
    /// # Errors
    /// The module has no such kernel, or none of the images that have it fits the device; the message says for each
    /// why.
    pub fn entry_for(&self, kernel: &str) -> Result<&Entry, Error> {
        let found = self.index_for(kernel).and_then(|index| self.entries.get(index));
        found.ok_or_else(|| self.without(kernel))
    }

    /// The kernels that have an image for the device, as far as the pack knows them.
    pub fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    /// Every image of the module (of the variant that was chosen), in the registry's order.
    pub fn verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }

    /// Which of [`Selection::entries`] the kernel comes from.
    pub(crate) fn index_for(&self, kernel: &str) -> Option<usize> {
        let found = self.chosen.binary_search_by(|chosen| chosen.kernel.as_str().cmp(kernel));
        found.ok().and_then(|place| Some(self.chosen.get(place)?.entry)).or(self.unnamed)
    }

    /// Why `kernel` has no image.
    pub(crate) fn without(&self, kernel: &str) -> Error {
        let having = self.verdicts.iter().filter(|verdict| holds(verdict.entry(), kernel));
        let mut refused: Vec<String> = having
            .filter_map(|verdict| match verdict.outcome() {
                Outcome::Refused(reason) => Some(format!("{}: {reason}", verdict.entry().place())),
                _ => None,
            })
            .collect();
        let unfit = self.unfit.iter().filter(|unfit| unfit.kernel == kernel);
        refused.extend(unfit.map(|unfit| unfit.reason.clone()));
        let present = self.chosen.iter().map(|chosen| escape(&chosen.kernel)).collect();
        let missing = self.asked.missing();
        let Asked { module, device, .. } = self.asked.clone();
        let kernel = kernel.to_string();
        match refused.is_empty() {
            true => Case::UnknownKernel { kernel, module, present }.into(),
            false => Case::NoFitForKernel { kernel, module, device, refused, missing, present }.into(),
        }
    }
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

fn verdicts(judged: &[Judged<'_>], picks: &Picks<'_>) -> Vec<Verdict> {
    let used = picks.images();
    let outcome = |image: usize, this: &Judged<'_>| match &this.fit {
        Err(reason) => Outcome::Refused(reason.clone()),
        Ok(fit) if used.contains(&image) => {
            Outcome::Picked(picked(*fit, this.entry, picks.from(image).collect()))
        }
        Ok(fit) => {
            let instead = picks.instead_of(judged, image);
            let best = instead.and_then(|image| judged.get(image)?.fit.as_ref().ok().copied());
            Outcome::LessPreferred(match (best, instead) {
                (Some(best), _) if best != *fit => fit.behind(best),
                (_, Some(instead)) if instead > image => {
                    "it fits equally well, and its target has fewer kernels".to_string()
                }
                _ => "it fits equally well and comes later".to_string(),
            })
        }
    };
    let verdict = |(image, this): (usize, &Judged<'_>)| Verdict {
        entry: this.entry.clone(),
        outcome: outcome(image, this),
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

/// An image with how well it fits, or why it does not.
pub(super) struct Judged<'r> {
    pub(super) entry: &'r Entry,
    pub(super) fit: Result<Fit, String>,
    /// Kernels of an image that fits, which the device cannot launch.
    unfit: Vec<Unfit<'r>>,
}

/// A kernel that a device cannot launch, and why.
struct Unfit<'r> {
    kernel: &'r str,
    reason: String,
}

impl<'r> Judged<'r> {
    pub(super) fn new(entry: &'r Entry, device: &DeviceDescription) -> Judged<'r> {
        let unfit = |kernel: &'r KernelInfo| {
            Some(Unfit { kernel: &kernel.name, reason: rules::refuse_kernel(kernel, device)? })
        };
        let unfit: Vec<Unfit<'_>> = entry.kernels().iter().filter_map(unfit).collect();
        let fit = rules::judge(entry, device);
        // An image of which no kernel can be launched is of no use.
        let fit = match unfit.first() {
            Some(first) if unfit.len() == entry.kernels().len() => fit.and(Err(first.reason.clone())),
            _ => fit,
        };
        Judged { entry, fit, unfit }
    }

    fn can_launch(&self, kernel: &str) -> bool {
        self.unfit.iter().all(|unfit| unfit.kernel != kernel)
    }
}

/// A kernel and the image that it is taken from, as its place in the list of those that were judged.
#[derive(Debug)]
struct Pick<'r> {
    kernel: &'r str,
    image: usize,
}

/// The images that are used, as places in the list of those that were judged.
#[derive(Debug)]
struct Picks<'r> {
    /// Every kernel of which a fitting image exists, in the order of the registry.
    kernels: Vec<Pick<'r>>,
    /// The image for kernels that no record names.
    unnamed: Option<usize>,
}

impl<'r> Picks<'r> {
    /// For each kernel the best fitting image that has it. Where several fit equally well, that of the target which
    /// is so for the most kernels, so that a module comes from few targets; then the first.
    fn of(judged: &[Judged<'r>]) -> Picks<'r> {
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
    fn images(&self) -> Vec<usize> {
        let mut images: Vec<usize> = self.kernels.iter().map(|pick| pick.image).chain(self.unnamed).collect();
        images.sort_unstable();
        images.dedup();
        images
    }

    /// The kernels that come from `image`.
    fn from(&self, image: usize) -> impl Iterator<Item = &'r str> {
        self.kernels.iter().filter(move |pick| pick.image == image).map(|pick| pick.kernel)
    }

    /// What is used in place of `image`, for the first kernel that it has.
    fn instead_of(&self, judged: &[Judged<'r>], image: usize) -> Option<usize> {
        let entry = judged.get(image)?.entry;
        let taken = self.kernels.iter().find(|pick| holds(entry, pick.kernel));
        taken.map(|pick| pick.image).or(self.unnamed)
    }
}

/// Whether `entry` has the kernel, as far as its pack knows: without records it may have any.
fn holds(entry: &Entry, kernel: &str) -> bool {
    entry.kernels().is_empty() || entry.kernels().iter().any(|known| known.name == kernel)
}

fn unfit_kernels(judged: &Judged<'_>) -> impl Iterator<Item = UnfitKernel> {
    let fits = judged.fit.is_ok();
    judged.unfit.iter().filter(move |_| fits).map(|unfit| UnfitKernel {
        kernel: unfit.kernel.to_string(),
        reason: format!("{}: {}", judged.entry.place(), unfit.reason),
    })
}

fn is_silent(judged: &[Judged<'_>], image: usize) -> bool {
    judged.get(image).is_some_and(|judged| judged.entry.kernels().is_empty())
}

/// Every kernel that a record names, in the order of the registry, with the images that have it.
fn holders<'r>(judged: &[Judged<'r>]) -> Vec<(&'r str, Vec<usize>)> {
    let (mut order, mut images) = (Vec::new(), BTreeMap::<&str, Vec<usize>>::new());
    for (image, judged) in judged.iter().enumerate() {
        for kernel in judged.entry.kernels().iter().filter(|kernel| judged.can_launch(&kernel.name)) {
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
