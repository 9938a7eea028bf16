//! The result of a choice: which images serve which kernels.

use std::collections::BTreeMap;

use offload_format::pack::KernelInfo;

use super::choice::{Picks, holds};
use super::{Asked, Judged, Outcome, Verdict, verdicts};
use crate::entry::Entry;
use crate::error::{Error, Kind};
use crate::text::escape;

/// The chosen images and the reasons. A module that is not split has one image for all kernels.
#[derive(Clone, Debug)]
pub struct Selection {
    asked: Asked,
    first: Entry,
    entries: Vec<Entry>,
    kernels: Vec<KernelInfo>,
    /// Where the image of each kernel is in `entries`.
    chosen: BTreeMap<String, usize>,
    /// The image for kernels that no record names.
    unnamed: Option<usize>,
    verdicts: Vec<Verdict>,
}

impl Selection {
    /// The selection that `picks` are, or `asked` again if there are none.
    pub(super) fn new(asked: Asked, judged: &[Judged<'_>], picks: &Picks<'_>) -> Result<Selection, Asked> {
        let images = picks.images();
        let entry = |image: &usize| judged.get(*image).map(|(entry, _)| (*entry).clone());
        let entries: Vec<Entry> = images.iter().filter_map(entry).collect();
        let Some(first) = entries.first().cloned() else { return Err(asked) };
        let place = |image: usize| images.binary_search(&image).ok();
        let chosen =
            picks.kernels.iter().filter_map(|(name, image)| Some((name.to_string(), place(*image)?)));
        let record = |(name, image): &(&str, usize)| {
            judged.get(*image)?.0.kernels().iter().find(|kernel| kernel.name == *name).cloned()
        };
        Ok(Selection {
            asked,
            first,
            chosen: chosen.collect(),
            kernels: picks.kernels.iter().filter_map(record).collect(),
            unnamed: picks.unnamed.and_then(place),
            verdicts: verdicts(judged, picks),
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
        self.chosen.get(kernel).copied().or(self.unnamed)
    }

    /// Why `kernel` has no image.
    pub(crate) fn without(&self, kernel: &str) -> Error {
        let having = self.verdicts.iter().filter(|verdict| holds(verdict.entry(), kernel));
        let refused: Vec<String> = having
            .filter_map(|verdict| match verdict.outcome() {
                Outcome::Refused(reason) => Some(format!("{}: {reason}", verdict.entry().place())),
                _ => None,
            })
            .collect();
        let present = self.chosen.keys().map(|name| escape(name)).collect();
        let missing = self.asked.missing();
        let Asked { module, device, .. } = self.asked.clone();
        let kernel = kernel.to_string();
        match refused.is_empty() {
            true => Kind::UnknownKernel { kernel, module, present }.into(),
            false => Kind::NoFitForKernel { kernel, module, device, refused, missing, present }.into(),
        }
    }
}
