//! The images that a choice is made from: those of one module, in one variant.

use std::collections::{BTreeMap, BTreeSet};

use offload_format::Variant;

use super::{Values, missing, quoted};
use crate::entry::Entry;
use crate::error::{Error, Kind};
use crate::registry::Registry;
use crate::text::escape;

/// The images of `module` in the variant that `values` name.
pub(super) fn of(registry: &Registry, module: &str, values: &Values<'_>) -> Result<Vec<Entry>, Error> {
    let all = of_module(registry, module)?;
    let present = distinct(&all);
    if values.is_empty() {
        // A text that is no variant is of a later release; its image is refused with that reason.
        let found: Vec<Entry> = all.into_iter().filter(|entry| variant_of(entry).is_none()).collect();
        return match found.is_empty() {
            true => Err(refused(module, "has variants, and none is chosen", &present)),
            false => Ok(found),
        };
    }
    let wanted = wanted(module, values, &present)?;
    Ok(all.into_iter().filter(|entry| variant_of(entry).as_ref() == Some(&wanted)).collect())
}

/// The variants of `module`, sorted; none if it has no variants, or is not there.
pub(crate) fn variants(registry: &Registry, module: &str) -> Vec<Variant> {
    distinct(&registry.module(module)).into_iter().collect()
}

fn of_module(registry: &Registry, module: &str) -> Result<Vec<Entry>, Error> {
    let found = registry.module(module).to_vec();
    if found.is_empty() {
        let present: BTreeSet<&str> = registry.entries().iter().map(Entry::module).collect();
        let (present, missing) = (quoted(present), missing(registry, module));
        return Err(Kind::UnknownModule { module: module.to_string(), present, missing }.into());
    }
    let packages: BTreeSet<&str> = found.iter().map(|entry| entry.package()).collect();
    if packages.len() > 1 {
        let packages = packages.into_iter().map(escape).collect();
        return Err(Kind::Ambiguous { module: module.to_string(), packages }.into());
    }
    Ok(found)
}

/// The variant that an image is of, if it is of one that this release understands.
fn variant_of(entry: &Entry) -> Option<Variant> {
    entry.variant().parse().ok().filter(|variant: &Variant| !variant.is_empty())
}

fn distinct(entries: &[Entry]) -> BTreeSet<Variant> {
    entries.iter().filter_map(variant_of).collect()
}

/// The variant with `values`, which has to be one of `present`.
fn wanted(module: &str, values: &Values<'_>, present: &BTreeSet<Variant>) -> Result<Variant, Error> {
    let wanted = Variant::new(values.iter().copied())
        .map_err(|error| refused(module, &format!("cannot be chosen from: {error}"), present))?;
    if present.contains(&wanted) {
        return Ok(wanted);
    }
    Err(refused(module, &problem(&wanted, present), present))
}

/// What is wrong with `wanted`, which is not in `present`.
fn problem(wanted: &Variant, present: &BTreeSet<Variant>) -> String {
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
fn table(present: &BTreeSet<Variant>) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut table: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in present.iter().flat_map(Variant::iter) {
        table.entry(name).or_default().insert(value);
    }
    table
}

fn refused(module: &str, problem: &str, present: &BTreeSet<Variant>) -> Error {
    let table = table(present);
    // With every combination there, names and values say all.
    let complete = table.values().try_fold(1usize, |product, values| product.checked_mul(values.len()));
    let present = match complete == Some(present.len()) {
        true => table.iter().map(|(name, values)| format!("{} = {}", escape(name), either(values))).collect(),
        false => present.iter().map(|variant| escape(&variant.to_string())).collect(),
    };
    Kind::Variant { module: module.to_string(), problem: problem.to_string(), present }.into()
}

fn either(values: &BTreeSet<&str>) -> String {
    let mut values: Vec<&str> = values.iter().copied().collect();
    // 64 before 128.
    values.sort_by_key(|value| (value.len(), *value));
    values.into_iter().map(escape).collect::<Vec<_>>().join(" or ")
}
