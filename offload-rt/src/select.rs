//! The choice of an image for each kernel of a module: a function of data alone.

mod amd;
mod rules;
mod selection;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use offload_format::Variant;

use self::selection::{Asked, Judged};
pub use self::selection::{Outcome, Selection, Verdict};
use crate::description::DeviceDescription;
use crate::entry::Entry;
use crate::error::{Case, Error, Remedy};
use crate::index::Index;
use crate::text::escape;

/// A module, and which variant of it.
#[derive(Clone, Copy)]
pub(crate) struct VariantQuery<'w> {
    pub(crate) module: &'w str,
    /// Names and values that choose a variant, in any order; none for a module without variants.
    pub(crate) values: &'w [(&'w str, &'w str)],
}

/// The best image for each kernel of a module, with what was decided about each of its images.
pub(crate) fn select(
    index: &Arc<Index>,
    query: VariantQuery<'_>,
    device: &DeviceDescription,
) -> Result<Selection, Error> {
    let images = images(index, query)?;
    let judge = |entry| Judged::new(entry, device);
    let judged: Vec<Judged<'_>> = images.iter().map(judge).collect();
    let asked = Asked {
        name: query.module.to_string(),
        module: name(query.module, &judged),
        device: device.to_string(),
        index: index.clone(),
    };
    Selection::new(asked, &judged).map_err(|asked| no_fit(asked, &judged, device))
}

fn name(module: &str, judged: &[Judged<'_>]) -> String {
    let variant = judged.first().map(|judged| judged.entry.variant()).unwrap_or_default();
    if variant.is_empty() { module.to_string() } else { format!("{module}/{variant}") }
}

fn no_fit(asked: Asked, judged: &[Judged<'_>], device: &DeviceDescription) -> Error {
    let refusals = judged.iter().filter_map(|judged| Some((judged.entry, judged.fit.as_ref().err()?)));
    let refused = refusals.map(|(entry, reason)| format!("{}: {reason}", entry.place())).collect();
    let missing = asked.missing();
    let remedy = match asked.index.has_missing_files(&asked.name) {
        true => Remedy::Files,
        false => remedy(judged, device),
    };
    let Asked { module, device, .. } = asked;
    Case::NoFit { module, device, refused, missing, remedy }.into()
}

/// What helps where none of the images fits.
fn remedy(judged: &[Judged<'_>], device: &DeviceDescription) -> Remedy {
    let target = device.suitable_target();
    let is_there = |feature: &&str| judged.iter().any(|judged| rules::is_for_driver(judged.entry, feature));
    if let Some(feature) = device.other_driver().filter(is_there) {
        return Remedy::Driver { feature, target };
    }
    match target {
        Some(target) if judged.iter().any(|judged| judged.entry.target_text() == target) => Remedy::Kernels,
        Some(target) => Remedy::Target(target),
        None => Remedy::None,
    }
}

/// The images that are chosen from: those of the module, in the variant that is wanted.
fn images(index: &Index, VariantQuery { module, values }: VariantQuery<'_>) -> Result<Vec<Entry>, Error> {
    let all = of_module(index, module)?;
    let present = distinct(&all);
    if values.is_empty() {
        // A text that is no variant is of a later release; its image is refused with that reason.
        let found: Vec<Entry> = all.into_iter().filter(|entry| variant_of(entry).is_none()).collect();
        return match found.is_empty() {
            true => Err(refused(module, "has variants, and none is chosen", &present)),
            false => Ok(found),
        };
    }
    let wanted = wanted_variant(module, values, &present)?;
    Ok(all.into_iter().filter(|entry| variant_of(entry).as_ref() == Some(&wanted)).collect())
}

/// The variants of `module`, sorted; none if it has no variants, or is not there.
pub(crate) fn variants(index: &Index, module: &str) -> Vec<Variant> {
    distinct(&index.module(module))
}

fn of_module(index: &Index, module: &str) -> Result<Vec<Entry>, Error> {
    let found = index.module(module).to_vec();
    if found.is_empty() {
        let present: BTreeSet<&str> = index.lists().entries.iter().map(Entry::module).collect();
        let present = present.into_iter().map(|name| format!("`{}`", escape(name))).collect();
        let missing = index.missing_of(module);
        return Err(Case::UnknownModule { module: module.to_string(), present, missing }.into());
    }
    let packages: BTreeSet<&str> = found.iter().map(|entry| entry.package()).collect();
    if packages.len() > 1 {
        let packages = packages.into_iter().map(escape).collect();
        return Err(Case::Ambiguous { module: module.to_string(), packages }.into());
    }
    Ok(found)
}

/// The variant that an image is of, if it is of one that this release understands.
fn variant_of(entry: &Entry) -> Option<Variant> {
    entry.variant().parse().ok().filter(|variant: &Variant| !variant.is_empty())
}

/// The variants of `entries`, each once, sorted.
fn distinct(entries: &[Entry]) -> Vec<Variant> {
    let mut variants: Vec<Variant> = entries.iter().filter_map(variant_of).collect();
    variants.sort_unstable();
    variants.dedup();
    variants
}

/// The variant with `values`, which has to be one of `present`.
fn wanted_variant(module: &str, values: &[(&str, &str)], present: &[Variant]) -> Result<Variant, Error> {
    let wanted = Variant::new(values.iter().copied())
        .map_err(|error| refused(module, &format!("cannot be chosen from: {error}"), present))?;
    if present.contains(&wanted) {
        return Ok(wanted);
    }
    Err(refused(module, &problem(&wanted, present), present))
}

/// What is wrong with `wanted`, which is not in `present`.
fn problem(wanted: &Variant, present: &[Variant]) -> String {
    let known = table(present);
    if known.is_empty() {
        return format!("has no variants, `{}` is asked for", escape(&wanted.to_string()));
    }
    for (name, value) in wanted.iter() {
        match known.get(name) {
            None => return format!("has no variants by `{}`", escape(name)),
            Some(values) if !values.contains(value) => {
                return format!("has no variant with `{}={}`", escape(name), escape(value));
            }
            Some(_) => {}
        }
    }
    match known.keys().find(|name| wanted.get(name).is_none()) {
        Some(name) => format!("has variants by `{}`, and no value is given for it", escape(name)),
        None => format!("has no variant `{}`", escape(&wanted.to_string())),
    }
}

/// The values that there are of each name.
fn table(present: &[Variant]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut table: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in present.iter().flat_map(Variant::iter) {
        table.entry(name).or_default().insert(value);
    }
    table
}

fn refused(module: &str, problem: &str, present: &[Variant]) -> Error {
    let table = table(present);
    // With every combination there, names and values say all.
    let complete = table.values().try_fold(1usize, |product, values| product.checked_mul(values.len()));
    let present = match complete == Some(present.len()) {
        true => table.iter().map(|(name, values)| format!("{} = {}", escape(name), either(values))).collect(),
        false => present.iter().map(|variant| escape(&variant.to_string())).collect(),
    };
    Case::Variant { module: module.to_string(), problem: problem.to_string(), present }.into()
}

fn either(values: &BTreeSet<&str>) -> String {
    let mut values: Vec<&str> = values.iter().copied().collect();
    // 64 before 128.
    values.sort_unstable_by_key(|value| (value.len(), *value));
    values.into_iter().map(escape).collect::<Vec<_>>().join(" or ")
}
