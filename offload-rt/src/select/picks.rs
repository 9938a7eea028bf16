//! Which image is taken for each kernel: a comparison of numbers.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::reason::Unread;
use super::rules::{self, Fit};
use crate::description::DeviceDescription;
use crate::module_images::{Group, Holder, NamedKernel};

/// The images that are used, as their numbers in the group.
#[derive(Clone, Debug)]
pub(super) struct Picks {
    /// For each of [`Group::kernels`] the image that it is taken from, if the device can launch it from one.
    pub(super) kernels: Vec<Option<usize>>,
    /// The image for kernels that no record names.
    pub(super) unnamed: Option<usize>,
}

/// How well the images of a group fit, and what the device can launch.
struct Fits<'g> {
    group: &'g Group,
    images: Vec<Option<Fit>>,
    max_work_group: u64,
}

impl Picks {
    /// For each kernel the best fitting image that has it. Where several fit equally well, that of the target which
    /// is so for the most kernels, so that a module comes from few targets; then the first.
    pub(super) fn of(group: &Group, device: &DeviceDescription) -> Picks {
        let fits = Fits::of(group, device);
        let best: Vec<Best> = group.kernels.iter().map(|kernel| fits.best(kernel)).collect();
        let kernels = match best.iter().any(|best| best.is_shared) {
            // Usual: nothing to decide.
            false => best.iter().map(|best| best.first).collect(),
            true => fits.by_votes(&best),
        };
        let unnamed = match group.kernels.is_empty() {
            true => fits.best_of_all(),
            false => group.silent.iter().copied().find(|image| kernels.contains(&Some(*image))),
        };
        Picks { kernels, unnamed }
    }

    /// Every picked image once, in the order of the registry.
    pub(super) fn images(&self) -> Vec<usize> {
        let mut images: Vec<usize> = self.kernels.iter().flatten().copied().chain(self.unnamed).collect();
        images.sort_unstable();
        images.dedup();
        images
    }
}

/// The best image for a kernel.
struct Best {
    fit: Option<Fit>,
    first: Option<usize>,
    /// Another one fits as well.
    is_shared: bool,
}

impl<'g> Fits<'g> {
    fn of(group: &'g Group, device: &DeviceDescription) -> Fits<'g> {
        let images = group.entries.iter().map(|entry| rules::judge::<Unread>(entry, device).ok()).collect();
        Fits { group, images, max_work_group: device.max_work_group().unwrap_or(u64::MAX) }
    }

    /// How well the image fits for a kernel.
    fn fit(&self, holder: &Holder) -> Option<Fit> {
        if holder.work_items > self.max_work_group {
            return None;
        }
        self.images.get(holder.image).copied().flatten()
    }

    fn best(&self, kernel: &NamedKernel) -> Best {
        let mut best = Best { fit: None, first: None, is_shared: false };
        for holder in &kernel.holders {
            let fit = self.fit(holder);
            if fit.is_none() || fit < best.fit {
                continue;
            }
            match fit == best.fit {
                true => {
                    best.is_shared = true;
                    best.first = best.first.min(Some(holder.image));
                }
                false => best = Best { fit, first: Some(holder.image), is_shared: false },
            }
        }
        best
    }

    /// The images that fit a kernel as well as the best.
    fn equals<'k>(&'k self, kernel: &'k NamedKernel, best: &'k Best) -> impl Iterator<Item = usize> + 'k {
        let equal = move |holder: &&Holder| best.fit.is_some() && self.fit(holder) == best.fit;
        kernel.holders.iter().filter(equal).map(|holder| holder.image)
    }

    fn by_votes(&self, best: &[Best]) -> Vec<Option<usize>> {
        let target = |image: usize| self.group.entries.get(image).map(|entry| entry.target_text());
        let mut votes: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        for (kernel, best) in self.group.kernels.iter().zip(best) {
            let mut targets: Vec<Option<&str>> = self.equals(kernel, best).map(target).collect();
            targets.sort_unstable();
            targets.dedup();
            for target in targets {
                let count = votes.entry(target).or_default();
                *count = count.saturating_add(1);
            }
        }
        let rank = |image: &usize| (Reverse(votes.get(&target(*image)).copied()), *image);
        let kernels = self.group.kernels.iter().zip(best);
        kernels.map(|(kernel, best)| self.equals(kernel, best).min_by_key(rank)).collect()
    }

    fn best_of_all(&self) -> Option<usize> {
        let most = self.images.iter().flatten().max()?;
        self.images.iter().position(|fit| fit.as_ref() == Some(most))
    }
}
