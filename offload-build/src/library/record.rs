//! The record of an exported library in the `OUT_DIR` of its package: its sources and its compiler flags.
//!
//! It is for other build scripts of the same build on the same machine, and no part of any program.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::settings::{self, Table, Value};
use crate::toml_text::quoted;

/// The version of this form; a later one is refused.
const VERSION: u32 = 1;

/// What a record says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) package: String,
    pub(super) package_version: String,
    pub(super) library: String,
    /// The directory of the package's manifest; the other paths are relative to it.
    pub(super) root: String,
    /// Where importers find the headers.
    pub(super) include: String,
    pub(super) headers: Vec<String>,
    pub(super) files: Vec<String>,
    /// As clang takes them.
    pub(super) flags: Vec<String>,
    /// The version of OpenCL C, if one was chosen.
    pub(super) std: Option<String>,
    pub(super) cuda_sdk: bool,
    pub(super) cuda_arch: Option<u32>,
    /// Whether programs have images of the library, to be linked when they are loaded.
    pub(super) images: bool,
    /// The records of what the library itself imports.
    pub(super) imports: Vec<String>,
}

impl Record {
    /// The text of the record.
    pub(super) fn write(&self) -> String {
        let mut text = format!("version = {VERSION}\n");
        for (key, value) in [
            ("package", &self.package),
            ("package-version", &self.package_version),
            ("library", &self.library),
            ("root", &self.root),
            ("include", &self.include),
        ] {
            let _ = writeln!(text, "{key} = {}", quoted(value));
        }
        for (key, values) in [
            ("headers", &self.headers),
            ("files", &self.files),
            ("flags", &self.flags),
            ("imports", &self.imports),
        ] {
            let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            let _ = writeln!(text, "{key} = [{}]", values.join(", "));
        }
        if let Some(std) = &self.std {
            let _ = writeln!(text, "std = {}", quoted(std));
        }
        let _ = writeln!(text, "cuda-sdk = {}", self.cuda_sdk);
        if let Some(arch) = self.cuda_arch {
            let _ = writeln!(text, "cuda-arch = {arch}");
        }
        let _ = writeln!(text, "images = {}", self.images);
        text
    }

    /// The record in the file `path`, whose content is `text`.
    ///
    /// # Errors
    /// If it is none, or of a later release.
    pub(super) fn read(text: &str, path: &Path) -> Result<Record> {
        settings::read(text, |table| {
            let package = string(table, "package")?;
            let package_version = string(table, "package-version")?;
            let library = string(table, "library")?;
            if table.required("version")?.number::<u32>()? > VERSION {
                return Err(later(&library, &package, &package_version));
            }
            Ok(Record {
                root: string(table, "root")?,
                include: string(table, "include")?,
                headers: texts(table, "headers")?,
                files: texts(table, "files")?,
                flags: texts(table, "flags")?,
                imports: texts(table, "imports")?,
                std: table.optional("std", Value::string)?,
                cuda_sdk: table.optional("cuda-sdk", Value::bool)?.unwrap_or_default(),
                cuda_arch: table.optional("cuda-arch", Value::number)?,
                images: table.optional("images", Value::bool)?.unwrap_or_default(),
                library,
                package,
                package_version,
            })
        })
        .map_err(|error| error.context(format!("`{}`", path.display())))
    }

    /// A path of the record.
    pub(super) fn path(&self, relative: &str) -> PathBuf {
        Path::new(&self.root).join(relative)
    }
}

fn string(table: Table<'_>, key: &str) -> Result<String> {
    table.required(key)?.string()
}

fn texts(table: Table<'_>, key: &str) -> Result<Vec<String>> {
    table.required(key)?.each(Value::string)
}

fn later(library: &str, package: &str, version: &str) -> Error {
    let error = format!(
        "crate `{package}` {version} exports the device library `{library}` in the form of a later release of offload-build"
    );
    Error::new(error)
        .with_hint("use one release of offload-build in all crates: `cargo update -p offload-build`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            package: "bf16".into(),
            package_version: "0.1.0".into(),
            library: "bf16".into(),
            root: "/pkg/a \"b\"\\c".into(),
            include: "include".into(),
            headers: vec!["include/bf16.h".into()],
            files: vec!["device/bf16.cl".into(), "device/more.cl".into()],
            flags: vec!["-DN=\"1\"".into()],
            std: Some("2.0".into()),
            cuda_sdk: true,
            cuda_arch: Some(700),
            images: true,
            imports: vec!["/out/rounding.library.toml".into()],
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        assert_eq!(Record::read(&record().write(), Path::new("r")).unwrap(), record());
        let least = Record {
            std: None,
            cuda_sdk: false,
            cuda_arch: None,
            images: false,
            imports: Vec::new(),
            ..record()
        };
        assert_eq!(Record::read(&least.write(), Path::new("r")).unwrap(), least);
        assert_eq!(record().path("include"), Path::new("/pkg/a \"b\"\\c/include"));
    }

    #[test]
    fn a_later_form_names_the_crate() {
        let text = record().write().replace("version = 1\n", "version = 2\n");
        let error = Record::read(&text, Path::new("r")).unwrap_err().to_string();
        assert!(error.contains("crate `bf16` 0.1.0 exports the device library `bf16`"), "{error}");
        assert!(error.contains("hint: use one release of offload-build"), "{error}");
        assert!(Record::read("version = 1\n", Path::new("r")).unwrap_err().to_string().contains("`package`"));
    }
}
