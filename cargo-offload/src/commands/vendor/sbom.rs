//! Software bill of materials of vendored images: CycloneDX 1.6, <https://cyclonedx.org/docs/1.6/json/>.
//!
//! It has no serial number and no time: equal images give equal bytes.

use std::collections::BTreeMap;

use offload_format::provenance::{Material, VendoredImage};
use serde_json::{Value, json};

use super::build::Package;
use super::record::Record;
use crate::error::{Error, Result};
use crate::print::text::plain_json;

/// The document.
pub(super) fn text(package: &Package, records: &[Record]) -> Result<String> {
    let mut components = BTreeMap::new();
    let mut dependencies = BTreeMap::new();
    let root = format!("package:{}@{}", package.name, package.version);
    let mut images = Vec::new();
    for record in records {
        let read = materials(record, &mut components);
        for made in &record.provenance.images {
            let (reference, component) = image(&record.provenance.module, made);
            images.push(reference.clone());
            components.insert(reference.clone(), component);
            dependencies.insert(reference, read.clone());
        }
    }
    dependencies.insert(root.clone(), images);
    let dependencies: Vec<Value> = dependencies
        .into_iter()
        .map(|(reference, on)| json!({ "ref": reference, "dependsOn": on }))
        .collect();
    let document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": { "type": "library", "bom-ref": root, "name": package.name, "version": package.version },
            "tools": { "components": [
                { "type": "application", "name": "cargo-offload", "version": env!("CARGO_PKG_VERSION") },
            ] },
        },
        "components": components.into_values().collect::<Vec<_>>(),
        "dependencies": dependencies,
    });
    let text = serde_json::to_string_pretty(&document);
    let text = text.map_err(|error| Error::check(format!("cannot write the bill of materials: {error}")))?;
    Ok(plain_json(&text) + "\n")
}

/// Adds everything that a module was made of; returns the references.
fn materials(record: &Record, components: &mut BTreeMap<String, Value>) -> Vec<String> {
    let provenance = &record.provenance;
    let sources = provenance.sources.iter().map(|source| ("source", source));
    let inputs = provenance.inputs.iter().map(|input| ("input", input));
    sources
        .chain(inputs)
        .map(|(kind, material)| {
            let short = material.blake3.get(..16).unwrap_or(&material.blake3);
            let reference = format!("{kind}:{}@{short}", material.name);
            components.insert(reference.clone(), component(&reference, material));
            reference
        })
        .collect()
}

fn component(reference: &str, material: &Material) -> Value {
    let kind = if material.version.is_some() { "application" } else { "file" };
    let hashes = json!([{ "alg": "BLAKE3", "content": material.blake3 }]);
    let fixed = [
        ("type", json!(kind)),
        ("bom-ref", json!(reference)),
        ("name", json!(material.name)),
        ("hashes", hashes),
    ];
    let version = material.version.as_ref().map(|version| ("version", json!(version)));
    let license = material.license.as_ref().map(|license| ("licenses", json!([{ "expression": license }])));
    let known = fixed.into_iter().chain(version).chain(license);
    known.map(|(name, value)| (name.to_string(), value)).collect::<serde_json::Map<_, _>>().into()
}

fn image(module: &str, made: &VendoredImage) -> (String, Value) {
    let parts = [module, &made.target, &made.variant, &made.part];
    let name = parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("/");
    let reference = format!("image:{name}");
    let component = json!({
        "type": "file",
        "bom-ref": reference,
        "name": name,
        "hashes": [{ "alg": "BLAKE3", "content": made.blake3 }],
        "properties": [
            property("target", &made.target),
            property("options", &made.options),
            property("size", &made.size.to_string()),
        ],
    });
    (reference, component)
}

fn property(name: &str, value: &str) -> Value {
    json!({ "name": format!("offload:{name}"), "value": value })
}
