//! Errors of the lookup of a variant.

use std::collections::{BTreeMap, BTreeSet};

use offload_format::Variant;

use crate::error::{Case, Error};
use crate::text::escape;

/// The problem of `wanted`, which is not in `present`.
pub(super) fn problem(wanted: &Variant, present: &[Variant]) -> String {
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

/// The error for a `module` whose variants are `present`.
pub(super) fn refused(module: &str, problem: &str, present: &[Variant]) -> Error {
    let table = table(present);
    // With every combination there, names and values say all.
    let complete = table.values().try_fold(1usize, |product, values| product.checked_mul(values.len()));
    let present = if complete == Some(present.len()) {
        table.iter().map(|(name, values)| format!("{} = {}", escape(name), either(values))).collect()
    } else {
        present.iter().map(|variant| escape(&variant.to_string())).collect()
    };
    Case::Variant { module: module.to_string(), problem: problem.to_string(), present }.into()
}

fn either(values: &BTreeSet<&str>) -> String {
    let mut values: Vec<&str> = values.iter().copied().collect();
    // 64 before 128.
    values.sort_unstable_by_key(|value| (value.len(), *value));
    values.into_iter().map(escape).collect::<Vec<_>>().join(" or ")
}
