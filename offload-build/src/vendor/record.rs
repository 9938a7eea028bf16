//! The record of vendored images as TOML, in the form that `FORMAT.md` describes.

use std::fmt::Write;

use offload_format::provenance::{Material, Provenance, VendoredImage};

use crate::error::Result;
use crate::settings::{self, Table, Value};
use crate::toml_text::quoted;

/// The record that `text` is.
///
/// # Errors
/// If it is no TOML, or something is missing in it. What a later release adds is passed over.
pub(super) fn read(text: &str) -> Result<Provenance> {
    settings::read(text, |table| {
        let version = table.required("version")?.number()?;
        let package = table.required("package")?.string()?;
        let mut record = Provenance::new(package, table.required("module")?.string()?);
        record.version = version;
        record.machine = table.required("machine")?.string()?;
        record.made_by = table.required("made-by")?.string()?;
        record.sources = materials(table, "source")?;
        record.libraries = materials(table, "library")?;
        record.inputs = materials(table, "input")?;
        record.images = table.optional("image", |value| value.each(made))?.unwrap_or_default();
        Ok(record)
    })
}

fn materials(table: Table<'_>, key: &str) -> Result<Vec<Material>> {
    Ok(table.optional(key, |value| value.each(material))?.unwrap_or_default())
}

fn material(value: Value<'_>) -> Result<Material> {
    let table = value.table()?;
    let mut material = Material::new(table.required("name")?.string()?, table.required("blake3")?.string()?);
    material.version = table.optional("version", Value::string)?;
    material.license = table.optional("license", Value::string)?;
    Ok(material)
}

fn made(value: Value<'_>) -> Result<VendoredImage> {
    let table = value.table()?;
    let target = table.required("target")?.string()?;
    let mut image = VendoredImage::new(target, table.required("blake3")?.string()?);
    image.variant = table.optional("variant", Value::string)?.unwrap_or_default();
    image.part = table.optional("part", Value::string)?.unwrap_or_default();
    image.options = table.required("options")?.string()?;
    image.size = table.required("size")?.number()?;
    Ok(image)
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
    for (heading, materials) in
        [("source", &record.sources), ("library", &record.libraries), ("input", &record.inputs)]
    {
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
    line(text, "options", &image.options);
    let _ = writeln!(text, "size = {}", image.size);
    line(text, "blake3", &image.blake3);
}

/// A key with a text.
fn line(text: &mut String, key: &str, value: &str) {
    let _ = writeln!(text, "{key} = {}", quoted(value));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn material(name: &str) -> Material {
        let mut material = Material::new(name.to_string(), "00".to_string());
        material.version = Some("a \"b\" \\ \t\u{7f}\u{e4}".to_string());
        material
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let mut image = VendoredImage::new("spirv64".to_string(), "22".to_string());
        image.variant = "T=half".to_string();
        image.options = "11".to_string();
        image.size = 12;
        let mut record = Provenance::new("p".to_string(), "m".to_string());
        record.machine = "x86_64-linux".to_string();
        record.made_by = "offload-build".to_string();
        record.sources = vec![material("a.cl"), material("b.cl")];
        record.libraries = vec![material("vec")];
        record.inputs = vec![material("clang")];
        record.images = vec![image];
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
