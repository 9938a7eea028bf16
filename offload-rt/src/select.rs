//! Selection of the best image for each kernel of a module: a pure function of records and a device description.

mod amd;
mod candidate;
mod reason;
mod rules;
mod selection;
mod variant;

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use offload_format::Variant;

use self::candidate::Picks;
pub use self::candidate::{Candidate, Outcome};
use self::reason::Discarded;
use self::rules::{Fit, Requirements};
pub use self::selection::Selection;
use self::selection::SelectionQuery;
use self::variant::{problem, refused};
use crate::description::DeviceDescription;
use crate::entry::Entry;
use crate::error::{Case, Error, Remedy};
use crate::index::Index;
use crate::module_images::{Group, Holder, ModuleImages, NamedKernel};
use crate::refusal::{Refusal, RefusedImage};
use crate::specialization::Specialization;
use crate::text::escape;

/// A module, and which variant of it.
#[derive(Clone, Copy)]
pub(crate) struct VariantQuery<'w> {
    pub(crate) module: &'w str,
    /// Names and values that choose a variant, in any order; none for a module without variants.
    pub(crate) values: &'w [(&'w str, &'w str)],
    /// The values of specialisation constants.
    pub(crate) spec: Option<&'w Specialization>,
}

/// Selects the best image for each kernel of a module. The candidates are listed on demand.
pub(crate) fn select(
    index: &Arc<Index>,
    query: VariantQuery<'_>,
    device: &DeviceDescription,
) -> Result<Selection, Error> {
    let images = module_images(index, query.module)?;
    let group = group(&images, query)?;
    let picks = Fits::new(group, Requirements { device, spec: query.spec }).picks();
    let spec = query.spec.map(|spec| Arc::new(spec.clone()));
    let query = SelectionQuery { group: group.clone(), device: device.clone(), spec, index: index.clone() };
    Selection::new(query, picks).map_err(|query| no_fit(&query))
}

/// The same choice among other images.
#[cfg(debug_assertions)]
pub(crate) fn again(selection: &Selection, index: &Arc<Index>) -> Result<Selection, Error> {
    let first = selection.entry();
    let device = selection.device();
    let variant = first.parsed_variant().cloned().unwrap_or_default();
    let values: Vec<(&str, &str)> = variant.iter().collect();
    let spec = selection.wanted_spec();
    select(index, VariantQuery { module: first.module(), values: &values, spec }, device)
}

impl DeviceDescription {
    /// Whether the device takes `image`, whatever else there is for it.
    ///
    /// # Errors
    /// Why not.
    ///
    /// ```
    /// use offload_format::codec::{self, Codec};
    /// use offload_format::pack::{NewImage, PackBuilder};
    /// use offload_rt::{CudaDescription, DeviceDescription, Refusal, Registry};
    ///
    /// let frame = codec::encode(b"", Codec::Raw, 0)?;
    /// let mut builder = PackBuilder::new("my-crate", "0.1.0");
    /// builder.image(NewImage::new("blas", "cubin:sm_90".parse()?), frame.info())?;
    /// let registry = Registry::from_pack(builder.finish()?.with_frames([&frame])?);
    ///
    /// let [image] = registry.entries() else { panic!() };
    /// assert_eq!(DeviceDescription::from(CudaDescription::new("H200", [9, 0])).takes(image), Ok(()));
    /// let refusal = DeviceDescription::from(CudaDescription::new("A100", [8, 0])).takes(image).unwrap_err();
    /// assert!(matches!(refusal, Refusal::Architecture(_)));
    /// assert!(refusal.to_string().contains("of another major version"), "{refusal}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn takes(&self, image: &Entry) -> Result<(), Refusal> {
        rules::evaluate::<Refusal>(image, Requirements { device: self, spec: None }).map(drop)
    }
}

/// The best of `candidates` for `device`; the first of equal ones.
///
/// # Errors
/// Why each is refused.
pub(crate) fn best<'e>(
    candidates: &[&'e Entry],
    device: &DeviceDescription,
) -> Result<&'e Entry, Vec<RefusedImage>> {
    let mut best = None;
    let mut refused = Vec::new();
    for entry in candidates {
        match rules::evaluate::<Refusal>(entry, Requirements { device, spec: None }) {
            Ok(fit) if best.is_none_or(|(known, _)| fit > known) => best = Some((fit, *entry)),
            Ok(_) => {}
            Err(refusal) => refused.push(entry.refused(refusal)),
        }
    }
    best.map(|(_, entry)| entry).ok_or(refused)
}

/// The variants of `module`, sorted; none if it has no variants, or is not there.
pub(crate) fn variants(index: &Index, module: &str) -> Vec<Variant> {
    index.module(module).variants.clone()
}

/// The images of `module`, which one package has.
fn module_images(index: &Index, module: &str) -> Result<Arc<ModuleImages>, Error> {
    let found = index.module(module);
    if found.entries.is_empty() {
        let present: BTreeSet<&str> = index.lists().entries.iter().map(Entry::module).collect();
        let present = present.into_iter().map(|name| format!("`{}`", escape(name))).collect();
        let missing = index.missing_of(module);
        let absence = index.absence(module);
        return Err(Case::UnknownModule { module: module.to_string(), present, missing, absence }.into());
    }
    if found.packages.len() > 1 {
        let packages = found.packages.iter().map(|package| escape(package)).collect();
        return Err(Case::Ambiguous { module: module.to_string(), packages }.into());
    }
    Ok(found)
}

/// The images of the variant that is queried.
fn group<'i>(images: &'i ModuleImages, query: VariantQuery<'_>) -> Result<&'i Arc<Group>, Error> {
    let VariantQuery { module, values, spec } = query;
    let variants = &images.variants;
    let filled = spec.map(|spec| spec.variant(values, variants));
    let values = filled.as_deref().unwrap_or(values);
    if values.is_empty() {
        let found = images.group(None);
        return found.ok_or_else(|| refused(module, "has variants, and none is chosen", variants));
    }
    let wanted = Variant::new(values.iter().copied())
        .map_err(|error| refused(module, &format!("cannot be chosen from: {error}"), variants))?;
    images.group(Some(&wanted)).ok_or_else(|| refused(module, &problem(&wanted, variants), variants))
}

/// The fits of the images of a group, and the launch limit of the device.
struct Fits<'g> {
    group: &'g Group,
    images: Vec<Option<Fit>>,
    /// Of each of [`Group::alike`].
    alike: Vec<Best>,
    max_work_group: u64,
}

/// The best of some images.
#[derive(Clone, Copy)]
struct Best {
    fit: Option<Fit>,
    first: Option<usize>,
    /// Another one fits as well.
    is_shared: bool,
}

impl Best {
    const NONE: Best = Best { fit: None, first: None, is_shared: false };

    /// The better one. Equal ones are shared.
    fn or(self, other: Best) -> Best {
        match (self.fit.cmp(&other.fit), self.fit) {
            (Ordering::Greater, _) | (Ordering::Equal, None) => self,
            (Ordering::Less, _) => other,
            (Ordering::Equal, fit) => Best { fit, first: self.first.min(other.first), is_shared: true },
        }
    }
}

impl<'g> Fits<'g> {
    fn new(group: &'g Group, requirements: Requirements<'_>) -> Fits<'g> {
        let mut images = Vec::with_capacity(group.entries.len());
        for entry in &group.entries {
            images.push(rules::evaluate::<Discarded>(entry, requirements).ok());
        }
        let mut alike = Vec::with_capacity(group.alike.len());
        for numbers in &group.alike {
            let mut best = Best::NONE;
            for image in numbers {
                let fit = images.get(*image).copied().flatten();
                if fit.is_some() {
                    best = best.or(Best { fit, first: Some(*image), is_shared: false });
                }
            }
            alike.push(best);
        }
        let max_work_group = requirements.device.max_work_group().unwrap_or(u64::MAX);
        Fits { group, images, alike, max_work_group }
    }

    /// For each kernel the best fitting image that has it. Where several fit equally well, that of the target which
    /// is so for the most kernels, so that a module comes from few targets; then the first.
    fn picks(&self) -> Picks {
        let best: Vec<Best> = self.group.kernels.iter().map(|kernel| self.best(kernel)).collect();
        let kernels = if best.iter().any(|best| best.is_shared) {
            self.by_votes(&best)
        } else {
            best.iter().map(|best| best.first).collect()
        };
        let unnamed = if self.group.kernels.is_empty() {
            self.best_of_all()
        } else {
            self.group.silent.iter().copied().find(|image| kernels.contains(&Some(*image)))
        };
        Picks { kernels, unnamed }
    }

    /// Whether the device can launch the kernel from these images.
    fn takes(&self, holder: &Holder) -> bool {
        holder.work_items <= self.max_work_group
    }

    fn best(&self, kernel: &NamedKernel) -> Best {
        let holders = kernel.holders.iter().filter(|holder| self.takes(holder));
        holders.filter_map(|holder| self.alike.get(holder.images).copied()).fold(Best::NONE, Best::or)
    }

    /// The images that fit a kernel as well as the best.
    fn equals<'k>(&'k self, kernel: &'k NamedKernel, best: &'k Best) -> impl Iterator<Item = usize> + 'k {
        let holders = kernel.holders.iter().filter(|holder| self.takes(holder));
        let images = holders.flat_map(|holder| self.group.images(holder)).copied();
        images.filter(|image| best.fit.is_some() && self.images.get(*image) == Some(&best.fit))
    }

    fn target(&self, image: usize) -> Option<&str> {
        self.group.entries.get(image).map(Entry::target_text)
    }

    fn by_votes(&self, best: &[Best]) -> Vec<Option<usize>> {
        let mut votes: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        for (kernel, best) in self.group.kernels.iter().zip(best) {
            let mut targets: Vec<Option<&str>> =
                self.equals(kernel, best).map(|image| self.target(image)).collect();
            targets.sort_unstable();
            targets.dedup();
            for target in targets {
                let count = votes.entry(target).or_default();
                *count = count.saturating_add(1);
            }
        }
        let mut picked = Vec::with_capacity(self.group.kernels.len());
        for (kernel, best) in self.group.kernels.iter().zip(best) {
            let equals = self.equals(kernel, best);
            picked
                .push(equals.min_by_key(|image| (Reverse(votes.get(&self.target(*image)).copied()), *image)));
        }
        picked
    }

    fn best_of_all(&self) -> Option<usize> {
        let most = self.images.iter().flatten().max()?;
        self.images.iter().position(|fit| fit.as_ref() == Some(most))
    }
}

fn no_fit(query: &SelectionQuery) -> Error {
    let mut refused = Vec::new();
    for entry in &query.group.entries {
        if let Err(refusal) = rules::evaluate::<Refusal>(entry, query.requirements()) {
            refused.push(entry.refused(refusal));
        }
    }
    let missing = query.missing();
    let remedy = if query.index.has_missing_files(query.name()) {
        Remedy::Files
    } else if is_for_values(query) {
        Remedy::Values
    } else {
        remedy(&query.group, &query.device)
    };
    let module = query.module();
    let device = query.device.to_string();
    Case::NoFit { module, device, refused, missing, remedy }.into()
}

/// Whether an image would fit if no specialisation constant had a value.
fn is_for_values(query: &SelectionQuery) -> bool {
    let requirements = Requirements { spec: None, ..query.requirements() };
    query.spec.is_some()
        && query.group.entries.iter().any(|entry| rules::evaluate::<Discarded>(entry, requirements).is_ok())
}

/// The remedy if none of the images fits.
fn remedy(group: &Group, device: &DeviceDescription) -> Remedy {
    let target = device.suitable_target();
    if let Some(feature) = device.other_driver()
        && group.entries.iter().any(|entry| rules::is_for_driver(entry, feature))
    {
        return Remedy::Driver { feature, target };
    }
    match target {
        Some(target) if group.entries.iter().any(|entry| entry.target_text() == target) => Remedy::Kernels,
        Some(target) => Remedy::Target(target),
        None => Remedy::None,
    }
}
