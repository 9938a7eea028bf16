//! The choice of an image for each kernel of a module: a function of data alone.

mod amd;
mod picks;
mod reason;
mod rules;
mod selection;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use offload_format::Variant;

use self::selection::Asked;
pub use self::selection::Selection;
pub use self::verdict::{Outcome, Verdict};
use crate::description::DeviceDescription;
use crate::entry::Entry;
use crate::error::{Case, Error, Remedy};
use crate::index::Index;
use crate::module_images::{Group, ModuleImages};
use crate::text::escape;

/// A module, and which variant of it.
#[derive(Clone, Copy)]
pub(crate) struct VariantQuery<'w> {
    pub(crate) module: &'w str,
    /// Names and values that choose a variant, in any order; none for a module without variants.
    pub(crate) values: &'w [(&'w str, &'w str)],
}

/// The best image for each kernel of a module. What was decided about each of its images is put into words when
/// somebody asks.
pub(crate) fn select(
    index: &Arc<Index>,
    query: VariantQuery<'_>,
    device: &DeviceDescription,
) -> Result<Selection, Error> {
    let images = of_module(index, query.module)?;
    let group = group(&images, query)?;
    let asked = Asked { group: group.clone(), device: device.clone(), index: index.clone() };
    Selection::new(asked).map_err(|asked| no_fit(&asked))
}

/// The best of `candidates` for `device`; the first of equal ones.
///
/// # Errors
/// Why each is refused.
pub(crate) fn best<'e>(
    candidates: &[&'e Entry],
    device: &DeviceDescription,
) -> Result<&'e Entry, Vec<String>> {
    let (mut best, mut refused) = (None, Vec::new());
    for entry in candidates {
        match rules::judge::<String>(entry, device) {
            Ok(fit) if best.is_none_or(|(known, _)| fit > known) => best = Some((fit, *entry)),
            Ok(_) => {}
            Err(reason) => refused.push(format!("{}: {reason}", entry.place())),
        }
    }
    best.map(|(_, entry)| entry).ok_or(refused)
}

fn no_fit(asked: &Asked) -> Error {
    let judged =
        asked.group.entries.iter().map(|entry| (entry, rules::judge::<String>(entry, &asked.device)));
    let refusals = judged.filter_map(|(entry, judged)| Some(format!("{}: {}", entry.place(), judged.err()?)));
    let (refused, missing) = (refusals.collect(), asked.missing());
    let remedy = match asked.index.has_missing_files(asked.name()) {
        true => Remedy::Files,
        false => remedy(&asked.group, &asked.device),
    };
    let (module, device) = (asked.module(), asked.device.to_string());
    Case::NoFit { module, device, refused, missing, remedy }.into()
}

/// What helps where none of the images fits.
fn remedy(group: &Group, device: &DeviceDescription) -> Remedy {
    let target = device.suitable_target();
    let is_there = |feature: &&str| group.entries.iter().any(|entry| rules::is_for_driver(entry, feature));
    if let Some(feature) = device.other_driver().filter(is_there) {
        return Remedy::Driver { feature, target };
    }
    match target {
        Some(target) if group.entries.iter().any(|entry| entry.target_text() == target) => Remedy::Kernels,
        Some(target) => Remedy::Target(target),
        None => Remedy::None,
    }
}

/// The images that are chosen from: those of the module, in the variant that is wanted.
fn group<'i>(images: &'i ModuleImages, query: VariantQuery<'_>) -> Result<&'i Arc<Group>, Error> {
    let VariantQuery { module, values } = query;
    if values.is_empty() {
        let found = images.group(None);
        return found.ok_or_else(|| refused(module, "has variants, and none is chosen", &images.variants));
    }
    let wanted = wanted_variant(module, values, &images.variants)?;
    images
        .group(Some(&wanted))
        .ok_or_else(|| refused(module, &problem(&wanted, &images.variants), &images.variants))
}

/// The variants of `module`, sorted; none if it has no variants, or is not there.
pub(crate) fn variants(index: &Index, module: &str) -> Vec<Variant> {
    index.module(module).variants.clone()
}

fn of_module(index: &Index, module: &str) -> Result<Arc<ModuleImages>, Error> {
    let found = index.module(module);
    if found.entries.is_empty() {
        let present: BTreeSet<&str> = index.lists().entries.iter().map(Entry::module).collect();
        let present = present.into_iter().map(|name| format!("`{}`", escape(name))).collect();
        let missing = index.missing_of(module);
        return Err(Case::UnknownModule { module: module.to_string(), present, missing }.into());
    }
    if found.packages.len() > 1 {
        let packages = found.packages.iter().map(|package| escape(package)).collect();
        return Err(Case::Ambiguous { module: module.to_string(), packages }.into());
    }
    Ok(found)
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
