//! The text of a record of what vendored images were made of: TOML, as `FORMAT.md` describes it.

use std::fmt::Write;

use offload_format::provenance::{Material, Provenance, VendoredImage};

use crate::error::Result;
use crate::settings::{self, Table, Value};

/// The record that `text` is.
///
/// # Errors
/// If it is no TOML, or something is missing in it. What a later release adds is passed over.
pub(super) fn read(text: &str) -> Result<Provenance> {
    settings::read(text, |table| {
        Ok(Provenance {
            version: table.required("version")?.number()?,
            package: table.required("package")?.string()?,
            module: table.required("module")?.string()?,
            machine: table.required("machine")?.string()?,
            made_by: table.required("made-by")?.string()?,
            sources: materials(table, "source")?,
            inputs: materials(table, "input")?,
            images: table.optional("image", |value| value.each(made))?.unwrap_or_default(),
        })
    })
}

fn materials(table: Table<'_>, key: &str) -> Result<Vec<Material>> {
    Ok(table.optional(key, |value| value.each(material))?.unwrap_or_default())
}

fn material(value: Value<'_>) -> Result<Material> {
    let table = value.table()?;
    Ok(Material {
        name: table.required("name")?.string()?,
        version: table.optional("version", Value::string)?,
        license: table.optional("license", Value::string)?,
        blake3: table.required("blake3")?.string()?,
    })
}

fn made(value: Value<'_>) -> Result<VendoredImage> {
    let table = value.table()?;
    Ok(VendoredImage {
        target: table.required("target")?.string()?,
        variant: table.optional("variant", Value::string)?.unwrap_or_default(),
        part: table.optional("part", Value::string)?.unwrap_or_default(),
        recipe: table.required("recipe")?.string()?,
        size: table.required("size")?.number()?,
        blake3: table.required("blake3")?.string()?,
    })
}

/// The text of `record`.
pub(super) fn write(record: &Provenance) -> String {
    let mut text = format!("version = {}\n", record.version);
    let names = [
        ("package", &record.package),
        ("module", &record.module),
        ("machine", &record.machine),
        ("made-by", &record.made_by),
    ];
    names.into_iter().for_each(|(key, value)| line(&mut text, key, value));
    for (heading, materials) in [("source", &record.sources), ("input", &record.inputs)] {
        for material in materials {
            let _ = write!(text, "\n[[{heading}]]\n");
            line(&mut text, "name", &material.name);
            material.version.iter().for_each(|version| line(&mut text, "version", version));
            material.license.iter().for_each(|license| line(&mut text, "license", license));
            line(&mut text, "blake3", &material.blake3);
        }
    }
    record.images.iter().for_each(|image| write_image(&mut text, image));
    text
}

fn write_image(text: &mut String, image: &VendoredImage) {
    text.push_str("\n[[image]]\n");
    line(text, "target", &image.target);
    let parts = [("variant", &image.variant), ("part", &image.part)];
    parts.into_iter().filter(|(_, value)| !value.is_empty()).for_each(|(key, value)| line(text, key, value));
    line(text, "recipe", &image.recipe);
    let _ = writeln!(text, "size = {}", image.size);
    line(text, "blake3", &image.blake3);
}

/// A key with a text: a basic string of TOML.
fn line(text: &mut String, key: &str, value: &str) {
    let _ = write!(text, "{key} = \"");
    for char in value.chars() {
        let _ = match char {
            '"' | '\\' => write!(text, "\\{char}"),
            '\0'..='\x1f' | '\x7f' => write!(text, "\\u{:04X}", u32::from(char)),
            _ => write!(text, "{char}"),
        };
    }
    text.push_str("\"\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let material = |name: &str| Material {
            name: name.to_string(),
            version: Some("a \"b\" \\ \t\u{7f}\u{e4}".to_string()),
            license: None,
            blake3: "00".to_string(),
        };
        let image = VendoredImage {
            target: "spirv64".to_string(),
            variant: "T=half".to_string(),
            part: String::new(),
            recipe: "11".to_string(),
            size: 12,
            blake3: "22".to_string(),
        };
        let record = Provenance {
            version: 1,
            package: "p".to_string(),
            module: "m".to_string(),
            machine: "x86_64-linux".to_string(),
            made_by: "offload-build".to_string(),
            sources: vec![material("a.cl"), material("b.cl")],
            inputs: vec![material("clang")],
            images: vec![image],
        };
        assert_eq!(read(&write(&record)).unwrap(), record);
    }

    #[test]
    fn the_record_of_the_demo_stays_as_it_is() {
        let text = include_str!("../../../example-app/offload-vendor/demo.toml");
        let (_, body) = text.split_once("\n\n").unwrap();
        assert_eq!(write(&read(text).unwrap()), body);
    }

    #[test]
    fn a_record_with_a_hole_is_refused() {
        let error = read("version = 1\npackage = \"p\"\n[[source]]\nname = 3\n").unwrap_err().to_string();
        assert!(error.contains("missing field `module`"), "{error}");
    }
}
