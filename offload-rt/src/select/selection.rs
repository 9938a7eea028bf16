//! The result of a selection: the picked images and their kernels.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use offload_format::pack::KernelInfo;

use super::candidate::{Candidate, Choice, Outcome, Picks};
use super::rules::{self, Requirements};
use crate::description::DeviceDescription;
use crate::entry::Entry;
use crate::error::{Case, Error};
use crate::index::Index;
use crate::module_images::Group;
use crate::refusal::{Refusal, RefusedImage};
use crate::specialization::Specialization;
use crate::text::escape;

/// The query of a selection, with its candidates.
#[derive(Clone, Debug)]
pub(super) struct SelectionQuery {
    pub(super) group: Arc<Group>,
    pub(super) device: DeviceDescription,
    pub(super) spec: Option<Arc<Specialization>>,
    pub(super) index: Arc<Index>,
}

impl SelectionQuery {
    pub(super) fn requirements(&self) -> Requirements<'_> {
        Requirements { device: &self.device, spec: self.spec.as_deref() }
    }

    /// The module's name.
    pub(super) fn name(&self) -> &str {
        self.group.entries.first().map_or("", Entry::module)
    }

    /// `module` or `module/variant`.
    pub(super) fn module(&self) -> String {
        let variant = self.group.shown_variant();
        if variant.is_empty() { self.name().to_string() } else { format!("{}/{variant}", self.name()) }
    }

    /// The images of the module that the build left out, for errors.
    pub(super) fn missing(&self) -> Vec<String> {
        self.index.missing_of(self.name())
    }
}

/// The chosen images and the reasons. A module that is not split has one image for all kernels.
#[derive(Clone, Debug)]
pub struct Selection {
    query: SelectionQuery,
    picks: Picks,
    first: Entry,
    /// Numbers of the chosen images in the group, and the images.
    images: Vec<usize>,
    entries: Vec<Entry>,
    /// Read on demand.
    kernels: OnceLock<Vec<KernelInfo>>,
    candidates: OnceLock<Vec<Candidate>>,
}

impl Selection {
    /// The selection of `picks`; `query` if they are empty.
    pub(super) fn new(query: SelectionQuery, picks: Picks) -> Result<Selection, SelectionQuery> {
        let images = picks.images();
        let mut entries = Vec::with_capacity(images.len());
        for image in &images {
            entries.extend(query.group.entries.get(*image).cloned());
        }
        let Some(first) = entries.first().cloned() else { return Err(query) };
        let kernels = OnceLock::new();
        let candidates = OnceLock::new();
        Ok(Selection { query, picks, first, images, entries, kernels, candidates })
    }

    /// The images that it was chosen from.
    pub(crate) fn index(&self) -> &Arc<Index> {
        &self.query.index
    }

    /// The values of specialisation constants.
    pub(crate) fn spec(&self) -> Arc<Specialization> {
        self.query.spec.clone().unwrap_or_default()
    }

    /// The device that it was made for.
    #[cfg(debug_assertions)]
    pub(crate) fn device(&self) -> &DeviceDescription {
        &self.query.device
    }

    /// The values of specialisation constants in the query, if it has some.
    #[cfg(debug_assertions)]
    pub(crate) fn wanted_spec(&self) -> Option<&Specialization> {
        self.query.spec.as_deref()
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
        self.kernels.get_or_init(|| self.records())
    }

    /// Every image of the module (of the variant that was chosen), in the registry's order. The first call makes the texts.
    pub fn candidates(&self) -> &[Candidate] {
        self.candidates.get_or_init(|| self.choice().candidates())
    }

    /// The index in [`Selection::entries`] of the kernel's image.
    pub(crate) fn index_for(&self, kernel: &str) -> Option<usize> {
        let picked = self.query.group.kernel(kernel).and_then(|at| self.picks.kernels.get(at).copied()?);
        self.images.binary_search(&picked.or(self.picks.unnamed)?).ok()
    }

    /// Why `kernel` has no image.
    pub(crate) fn without(&self, kernel: &str) -> Error {
        let mut refused: Vec<RefusedImage> =
            self.candidates().iter().filter_map(|candidate| self.refusal(candidate, kernel)).collect();
        let lacking = self.lacking(kernel);
        // Without a reason it may be a kernel of no image at all.
        if !refused.is_empty() || lacking.iter().any(has_reason) {
            refused.splice(0..0, lacking);
        }
        let kernels = self.query.group.kernels.iter().zip(&self.picks.kernels);
        let present = kernels.filter(|(_, image)| image.is_some()).map(|(kernel, _)| escape(&kernel.name));
        let present = present.collect();
        let missing = self.query.missing();
        let kernel = kernel.to_string();
        let module = self.query.module();
        if refused.is_empty() {
            return Case::UnknownKernel { kernel, module, present }.into();
        }
        let device = self.query.device.to_string();
        Case::NoFitForKernel { kernel, module, device, refused, missing, present }.into()
    }

    /// The chosen images, which are without `kernel`, one of each target. Another part of a split module may have it.
    fn lacking(&self, kernel: &str) -> Vec<RefusedImage> {
        let mut refused = Vec::new();
        let mut targets = BTreeSet::new();
        for image in self.entries.iter().filter(|image| !image.kernels().is_empty()) {
            let mut of_target =
                self.query.group.entries.iter().filter(|it| it.target_text() == image.target_text());
            let has_it = of_target.any(|it| it.kernels().iter().any(|known| known.name == kernel));
            if has_it || !targets.insert(image.target_text()) {
                continue;
            }
            let reason = self.query.index.left_out(self.query.name(), image.target_text(), kernel);
            refused.push(image.refused(Refusal::LackingKernel { kernel: kernel.to_string(), reason }));
        }
        refused
    }

    /// Why `kernel` is not taken from an image that has it.
    fn refusal(&self, candidate: &Candidate, kernel: &str) -> Option<RefusedImage> {
        let known = candidate.entry().kernels().iter().find(|known| known.name == kernel);
        let refusal = match (candidate.outcome(), known) {
            (Outcome::Refused(refusal), known)
                if known.is_some() || candidate.entry().kernels().is_empty() =>
            {
                refusal.clone()
            }
            (_, Some(known)) => rules::refuse_kernel(known, &self.query.device)?,
            _ => return None,
        };
        Some(candidate.entry().refused(refusal))
    }

    fn choice(&self) -> Choice<'_> {
        Choice { group: &self.query.group, requirements: self.query.requirements(), picks: &self.picks }
    }

    /// In the registry's order.
    fn records(&self) -> Vec<KernelInfo> {
        let group = &self.query.group;
        let mut found: Vec<(usize, &KernelInfo)> = Vec::new();
        for (kernel, image) in group.kernels.iter().zip(&self.picks.kernels) {
            let entry = image.and_then(|image| group.entries.get(image));
            let records = entry.into_iter().flat_map(Entry::kernels);
            found.extend(
                records.filter(|record| record.name == kernel.name).take(1).map(|it| (kernel.order, it)),
            );
        }
        found.sort_unstable_by_key(|(order, _)| *order);
        found.into_iter().map(|(_, record)| record.clone()).collect()
    }
}

fn has_reason(refused: &RefusedImage) -> bool {
    matches!(refused.refusal(), Refusal::LackingKernel { reason: Some(_), .. })
}
