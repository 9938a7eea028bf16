//! Lock file of the toolchain: names, versions and hashes.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::system::{Glibc, PackageManager, System};
use crate::error::{Error, IoContext, Result};
use crate::files::publish::{replace, replaceable};

/// The usual name of the file.
pub(crate) const LOCK_NAME: &str = "offload-toolchain.lock";

const HEADER: &str = "\
# Written by `cargo offload toolchain install`, which installs exactly this wherever it finds the file.
# `cargo offload toolchain install --update` takes the newest versions.
";

/// The lock file.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Lock {
    version: u32,
    /// The distribution, its release, and the architecture.
    system: String,
    /// The C library that the packages were made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    glibc: Option<String>,
    pub(super) package: Vec<LockedPackage>,
}

/// A package.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct LockedPackage {
    pub(crate) source: PackageKind,
    pub(crate) name: String,
    pub(crate) version: String,
    /// The name of the file that is downloaded.
    pub(crate) file: String,
    /// Download URL; `None` for Python packages, which pip finds by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    pub(crate) sha256: String,
}

/// Origin of the package.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PackageKind {
    Distribution,
    Python,
}

/// The version of the file's form.
const VERSION: u32 = 1;

impl Lock {
    pub(super) fn new(system: &System, package: Vec<LockedPackage>) -> Lock {
        let glibc = system.glibc.map(|glibc| glibc.to_string());
        Lock { version: VERSION, system: system.name.clone(), glibc, package }
    }

    /// The file, if there is one.
    pub(super) fn read(path: &Path) -> Result<Option<Lock>> {
        if !path.exists() {
            return Ok(None);
        }
        let text = std::fs::read_to_string(path).io_context("read", path)?;
        let lock: Lock =
            toml::from_str(&text).map_err(|error| Error::usage(format!("`{}`: {error}", path.display())))?;
        match lock.version {
            VERSION => Ok(Some(lock)),
            other => Err(Error::usage(format!("`{}` has version {other}", path.display()))
                .hint("install the release of cargo-offload that wrote it")),
        }
    }

    /// A file that is no lock is kept.
    ///
    /// # Errors
    /// `path` exists and is not a lock file.
    pub(super) fn check(path: &Path) -> Result<()> {
        match Lock::read(path) {
            Ok(_) => Ok(()),
            Err(_) => replaceable(path, HEADER.as_bytes(), "lock file"),
        }
    }

    /// The number of packages.
    pub(super) fn packages(&self) -> usize {
        self.package.len()
    }

    /// Whether `folder` was made from it.
    pub(super) fn is_that_of(&self, folder: &Path) -> bool {
        Lock::read(&folder.join(LOCK_NAME)).is_ok_and(|there| there.as_ref() == Some(self))
    }

    /// The packages, if they run on this system and their names are such as packages have.
    pub(super) fn checked_for(&self, system: &System, path: &Path) -> Result<Vec<LockedPackage>> {
        if !self.is_for(system) {
            self.runs_on(system).map_err(|why| {
                let text = format!(
                    "`{}` is for {}, and this is {}: {why}",
                    path.display(),
                    self.system,
                    system.name
                );
                Error::usage(text).hint(match system.packages {
                    PackageManager::Apt => "--update writes one for this system",
                    PackageManager::Unsupported => "install the tools as `cargo offload doctor` says",
                })
            })?;
        }
        match self.package.iter().find(|entry| !entry.is_plain()) {
            // They become arguments of programs and names of files.
            Some(entry) => Err(Error::usage(format!(
                "`{}` has an invalid package name `{}`",
                path.display(),
                entry.name.escape_default()
            ))),
            None => Ok(self.package.clone()),
        }
    }

    /// Whether this system's package manager has the packages.
    pub(super) fn is_for(&self, system: &System) -> bool {
        self.system == system.name
    }

    /// Checks that packages of another system run on this one.
    fn runs_on(&self, system: &System) -> std::result::Result<(), String> {
        if System::architecture(&self.system) != System::architecture(&system.name) {
            return Err("another architecture".to_string());
        }
        let needed: Option<Glibc> = self.glibc.as_ref().and_then(|text| text.parse().ok());
        match (needed, system.glibc) {
            (Some(needed), Some(here)) if here >= needed => Ok(()),
            (Some(needed), Some(here)) => {
                Err(format!("its programs need glibc {needed}, but this system has {here}"))
            }
            (Some(needed), None) => {
                Err(format!("its programs need glibc {needed}, which this system does not have"))
            }
            (None, _) => Err("it does not record which glibc its programs need".to_string()),
        }
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let text =
            toml::to_string(self).map_err(|error| Error::usage(format!("cannot write a lock: {error}")))?;
        replace(path, format!("{HEADER}{text}").as_bytes())
    }
}

impl LockedPackage {
    fn is_plain(&self) -> bool {
        [&self.name, &self.version, &self.file].into_iter().all(|text| is_plain(text))
            && self.url.as_ref().is_none_or(|url| {
                let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
                rest.is_some_and(|rest| rest.split('/').all(|part| part.is_empty() || is_plain(part)))
            })
    }
}

/// Whether `text` is safe as an argument and as a part of a path or URL.
fn is_plain(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+:~%".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(file: &str) -> LockedPackage {
        let name = "clang-22".to_string();
        let version = "1:22.1.8-1~deb12u1".to_string();
        let url = Some(format!("https://deb.example.org/pool/{file}"));
        LockedPackage {
            source: PackageKind::Distribution,
            name,
            version,
            file: file.into(),
            url,
            sha256: "00".into(),
        }
    }

    fn system(name: &str, glibc: Option<&str>, packages: PackageManager) -> System {
        System { name: name.into(), glibc: glibc.map(|text| text.parse().unwrap()), packages }
    }

    #[test]
    fn a_lock_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        assert!(Lock::read(&path).unwrap().is_none());
        let debian = system("debian 12 x86_64", Some("2.36"), PackageManager::Apt);
        let lock = Lock::new(&debian, vec![entry("clang-22_1%3a22.1.8-1~deb12u1_amd64.deb")]);
        lock.write(&path).unwrap();
        let read = Lock::read(&path).unwrap().unwrap();
        assert_eq!(read, lock);
        assert_eq!(read.checked_for(&debian, &path).unwrap().len(), 1);
    }

    fn checked_on(
        lock: &Lock,
        name: &str,
        glibc: Option<&str>,
        packages: PackageManager,
    ) -> std::result::Result<usize, String> {
        let entries = lock.checked_for(&system(name, glibc, packages), Path::new("lock"));
        entries.map(|entries| entries.len()).map_err(|error| error.to_string())
    }

    #[test]
    fn packages_of_another_system_run_where_the_c_library_is_as_new() {
        let lock = Lock::new(
            &system("debian 12 x86_64", Some("2.36"), PackageManager::Apt),
            vec![entry("a_1_amd64.deb")],
        );
        for (name, packages) in
            [("fedora 41 x86_64", PackageManager::Unsupported), ("ubuntu 24.04 x86_64", PackageManager::Apt)]
        {
            assert_eq!(checked_on(&lock, name, Some("2.39"), packages), Ok(1));
        }
        for (name, glibc, packages, part) in [
            (
                "fedora 35 x86_64",
                Some("2.34"),
                PackageManager::Unsupported,
                "need glibc 2.36, but this system has 2.34\nhint: ",
            ),
            (
                "alpine 3.20 x86_64",
                None,
                PackageManager::Unsupported,
                "need glibc 2.36, which this system does not have\nhint: ",
            ),
            ("fedora 41 aarch64", Some("2.40"), PackageManager::Unsupported, "another architecture\nhint: "),
            (
                "ubuntu 20.04 x86_64",
                Some("2.31"),
                PackageManager::Apt,
                "hint: --update writes one for this system",
            ),
        ] {
            let refused = checked_on(&lock, name, glibc, packages).unwrap_err();
            assert!(refused.contains("is for debian 12 x86_64") && refused.contains(part), "{refused}");
        }
    }

    fn is_refused(here: &System, entry: LockedPackage) -> bool {
        Lock::new(here, vec![entry]).checked_for(here, Path::new("lock")).is_err()
    }

    #[test]
    fn names_are_no_options_and_no_paths() {
        let here = system("x", None, PackageManager::Apt);
        assert!(!is_refused(&here, entry("a_1_amd64.deb")));
        for file in ["../escape.deb", "-o", "a/b.deb", "", "a b"] {
            assert!(is_refused(&here, entry(file)), "{file:?}");
        }
        for url in ["file:///etc/passwd", "-o", "https://x/-o", "https://x/a b", "ftp://x/y"] {
            assert!(
                is_refused(&here, LockedPackage { url: Some(url.into()), ..entry("a_1_amd64.deb") }),
                "{url:?}"
            );
        }
    }
}
