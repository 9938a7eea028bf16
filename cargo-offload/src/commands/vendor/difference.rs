//! Differences between vendored images and a fresh build.

use std::collections::BTreeMap;

use offload_format::codec;
use offload_format::pack::{Pack, Pages};
use offload_format::provenance::{Material, VendoredImage};

use super::record::Record;
use crate::error::{Error, Result};

/// A line for each difference that matters; tools are named only where images differ.
pub(super) fn between(old: &Record, new: &Record) -> Result<Vec<String>> {
    let mut lines = damaged(old)?;
    lines.extend(images(&old.provenance.images, &new.provenance.images));
    lines.extend(materials("source", &old.provenance.sources, &new.provenance.sources));
    lines.extend(materials("device library", &old.provenance.libraries, &new.provenance.libraries));
    if !lines.is_empty() {
        lines.extend(materials("tool or library", &old.provenance.inputs, &new.provenance.inputs));
    }
    Ok(lines)
}

/// Images of the pack that are not the recorded ones.
fn damaged(old: &Record) -> Result<Vec<String>> {
    let pages = Pages::default();
    let pack = Pack::parse(&old.pack, &pages).map_err(|error| unreadable(old, error))?;
    pack.verify_index().map_err(|error| unreadable(old, error))?;
    let mut recorded: BTreeMap<[&str; 3], &VendoredImage> =
        old.provenance.images.iter().map(|made| (key(made), made)).collect();
    let mut lines = Vec::new();
    for image in pack.images() {
        let image = image.map_err(|error| unreadable(old, error))?;
        let key = [image.target_text, image.variant, image.part];
        let hash =
            blake3::hash(&codec::decode(&pack, &image).map_err(|error| unreadable(old, error))?).to_hex();
        match recorded.remove(&key) {
            Some(made) if made.blake3 == hash.as_str() => {}
            Some(_) => lines.push(format!("{}: the image in the pack differs from the record", name(key))),
            None => lines.push(format!("{}: missing in the record", name(key))),
        }
    }
    lines.extend(recorded.keys().map(|key| format!("{}: missing in the pack", name(*key))));
    Ok(lines)
}

fn unreadable(old: &Record, error: offload_format::Error) -> Error {
    Error::check(format!("the vendored pack of `{}`: {error}", old.provenance.module))
}

fn images(old: &[VendoredImage], new: &[VendoredImage]) -> Vec<String> {
    let new: BTreeMap<[&str; 3], &VendoredImage> = new.iter().map(|made| (key(made), made)).collect();
    let known: BTreeMap<[&str; 3], &VendoredImage> = old.iter().map(|made| (key(made), made)).collect();
    let gone = known.keys().filter(|key| !new.contains_key(*key));
    let gone = gone.map(|key| format!("{}: is no longer built", name(*key)));
    let changed = new.iter().filter_map(|(key, made)| match known.get(key) {
        None => Some(format!("{}: is not vendored", name(*key))),
        Some(old) if old.blake3 != made.blake3 => Some(format!("{}: differs", name(*key))),
        Some(old) if old.options != made.options => {
            Some(format!("{}: was built with other options", name(*key)))
        }
        Some(_) => None,
    });
    changed.chain(gone).collect()
}

fn materials(what: &str, old: &[Material], new: &[Material]) -> Vec<String> {
    let gone = old.iter().filter(|material| !new.contains(material));
    let come = new.iter().filter(|material| !old.contains(material));
    let gone = gone.map(|material| format!("vendored with {what} {}", describe(material)));
    gone.chain(come.map(|material| format!("rebuilt with {what} {}", describe(material)))).collect()
}

fn key(made: &VendoredImage) -> [&str; 3] {
    [&made.target, &made.variant, &made.part]
}

fn name(key: [&str; 3]) -> String {
    key.iter().filter(|text| !text.is_empty()).copied().collect::<Vec<_>>().join(" ")
}

fn describe(material: &Material) -> String {
    match &material.version {
        Some(version) => format!("`{}` ({version})", material.name),
        None => format!("`{}`", material.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(target: &str, blake3: &str) -> VendoredImage {
        VendoredImage::new(target.into(), blake3.into())
    }

    #[test]
    fn every_difference_has_a_line() {
        let old = [made("host", "1"), made("spirv64", "2"), made("opencl-c", "3")];
        let new = [made("host", "1"), made("spirv64", "4"), made("intel:pvc", "5")];
        assert_eq!(
            images(&old, &new),
            ["intel:pvc: is not vendored", "spirv64: differs", "opencl-c: is no longer built"]
        );
        assert!(images(&old, &old).is_empty());
    }
}
