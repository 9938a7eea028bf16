//! What was installed: names, versions and hashes.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::System;
use crate::error::{Error, Result};
use crate::publish::publish;

const HEADER: &str = "\
# Written by `cargo offload toolchain install`, which installs exactly this wherever it finds the file.
# `cargo offload toolchain install --update` takes the newest versions.
";

/// The lock file.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Lock {
    version: u32,
    /// The distribution, its release, and the architecture.
    system: String,
    package: Vec<Entry>,
}

/// A package.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Entry {
    pub(crate) source: Source,
    pub(crate) name: String,
    pub(crate) version: String,
    /// The name of the file that is downloaded.
    pub(crate) file: String,
    pub(crate) sha256: String,
}

/// Whose package it is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    Distribution,
    Python,
}

/// The version of the file's form.
const VERSION: u32 = 1;

impl Lock {
    pub(super) fn new(system: &System, package: Vec<Entry>) -> Lock {
        Lock { version: VERSION, system: system.0.clone(), package }
    }

    /// The file, if there is one.
    pub(super) fn read(path: &Path) -> Result<Option<Lock>> {
        if !path.exists() {
            return Ok(None);
        }
        let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, &error))?;
        let lock: Lock =
            toml::from_str(&text).map_err(|error| Error::usage(format!("`{}`: {error}", path.display())))?;
        match lock.version {
            VERSION => Ok(Some(lock)),
            other => Err(Error::usage(format!("`{}` has version {other}", path.display()))
                .hint("install the release of cargo-offload that wrote it")),
        }
    }

    /// The packages, if they are for this system and their names are such as packages have.
    pub(super) fn checked_for(self, system: &System, path: &Path) -> Result<Vec<Entry>> {
        if self.system != system.0 {
            let text = format!("`{}` is for {}, and this is {}", path.display(), self.system, system.0);
            return Err(Error::usage(text).hint("--update writes one for this system"));
        }
        match self.package.iter().find(|entry| !entry.is_plain()) {
            // They become arguments of programs and names of files.
            Some(entry) => Err(Error::usage(format!(
                "`{}` names the package `{}`, which cannot be one",
                path.display(),
                entry.name.escape_default()
            ))),
            None => Ok(self.package),
        }
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let text =
            toml::to_string(self).map_err(|error| Error::usage(format!("cannot write a lock: {error}")))?;
        publish(path, format!("{HEADER}{text}").as_bytes())
    }
}

impl Entry {
    fn is_plain(&self) -> bool {
        let plain = |text: &str| {
            let legal = |c: char| c.is_ascii_alphanumeric() || "-_.+:~%".contains(c);
            text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(legal)
        };
        [&self.name, &self.version, &self.file].into_iter().all(|text| plain(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(file: &str) -> Entry {
        let (name, version) = ("clang-22".to_string(), "1:22.1.8-1~deb12u1".to_string());
        Entry { source: Source::Distribution, name, version, file: file.into(), sha256: "00".into() }
    }

    #[test]
    fn a_lock_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        assert!(Lock::read(&path).unwrap().is_none());
        let system = System("debian 12 x86_64".into());
        let lock = Lock::new(&system, vec![entry("clang-22_1%3a22.1.8-1~deb12u1_amd64.deb")]);
        lock.write(&path).unwrap();
        let read = Lock::read(&path).unwrap().unwrap();
        assert_eq!(read, lock);
        assert_eq!(read.checked_for(&system, &path).unwrap().len(), 1);
        let other =
            Lock::read(&path).unwrap().unwrap().checked_for(&System("debian 13 x86_64".into()), &path);
        assert!(other.unwrap_err().to_string().contains("is for debian 12 x86_64"));
    }

    #[test]
    fn names_are_no_options_and_no_paths() {
        for file in ["../escape.deb", "-o", "a/b.deb", "", "a b"] {
            let lock = Lock::new(&System("x".into()), vec![entry(file)]);
            assert!(lock.checked_for(&System("x".into()), Path::new("lock")).is_err(), "{file:?}");
        }
    }
}
