//! Edits of Cargo.toml: dependencies, and the optimization level of the crates that compress images.

use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use crate::cli;
use crate::error::{Error, IoContext, Result};
use crate::files::publish::replace;
use crate::print::output::Output;

/// The crates of this project that a package with kernels depends on, and where they come from.
#[derive(Debug)]
pub(crate) struct Dependencies {
    checkout: Option<PathBuf>,
    /// Whether the checkout is the one that this program was built in, and no option names it.
    is_found: bool,
}

/// Result for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// It has all that was to be added.
    Kept,
    Written,
}

/// Dependencies to add, with their tables and features.
const ADDED: [(&str, &str, &[&str]); 3] = [
    ("dependencies", "offload-rt", &["opencl"]),
    // Kernel tests.
    ("dev-dependencies", "offload-rt", &["test"]),
    ("build-dependencies", "offload-build", &[]),
];

/// The major and minor version: what cargo's own commands write has the patch too, which would only grow old.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));

impl Dependencies {
    /// The crates that `source` names, or those that belong to this program: of the checkout that it was built in, or
    /// the published ones.
    pub(crate) fn new(source: &cli::CratesSource) -> Result<Dependencies> {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        let own = own.filter(|dir| !source.published && dir.join("offload-rt/Cargo.toml").is_file());
        let is_found = source.checkout.is_none() && own.is_some();
        let checkout = source.checkout.as_deref().or(own);
        Ok(Dependencies {
            checkout: checkout
                .map(|path| {
                    let there = path.join("offload-rt/Cargo.toml");
                    let found = path.canonicalize().ok().filter(|_| there.is_file());
                    found.ok_or_else(|| {
                        Error::usage(format!("`{}` is not a checkout of cargo-offload", path.display()))
                            .hint("name the directory that contains `offload-rt`")
                    })
                })
                .transpose()?,
            is_found,
        })
    }

    /// Prints the source of the crates, unless an option names it.
    pub(super) fn print_source(&self, output: &Output) {
        if let Some(checkout) = self.checkout.as_ref().filter(|_| self.is_found) {
            output.status(&format!(
                "using the crates in `{}`, where this cargo-offload was built; --published uses those of crates.io",
                checkout.display()
            ));
        }
    }

    /// Adds what is missing to the manifest of a package; `root` is that of its workspace.
    pub(super) fn add_to(&self, path: &Path, root: &Path) -> Result<Outcome> {
        let mut document = open(path)?;
        let shared = if root.exists() { open(root)? } else { DocumentMut::new() };
        let before = document.to_string();
        for (table, name, features) in ADDED {
            let inherited = shared
                .get("workspace")
                .and_then(|workspace| workspace.get("dependencies")?.get(name))
                .is_some();
            let value = self.dependency(name, features, inherited.then_some(Inherited));
            let entry = document.entry(table).or_insert(Item::Table(Table::new()));
            let entry = entry.as_table_like_mut().ok_or_else(|| no_table(table, path))?;
            if !entry.contains_key(name) {
                entry.insert(name, Item::Value(value));
            }
        }
        let after = document.to_string();
        if after == before {
            return Ok(Outcome::Kept);
        }
        replace(path, after.as_bytes())?;
        Ok(Outcome::Written)
    }

    fn dependency(&self, name: &str, features: &[&str], inherited: Option<Inherited>) -> Value {
        let mut table = InlineTable::new();
        match (inherited, &self.checkout) {
            (Some(Inherited), _) => table.insert("workspace", true.into()),
            (None, Some(checkout)) => {
                table.insert("path", checkout.join(name).to_string_lossy().into_owned().into())
            }
            (None, None) if features.is_empty() => return VERSION.into(),
            (None, None) => table.insert("version", VERSION.into()),
        };
        if !features.is_empty() {
            table.insert("features", Value::Array(features.iter().copied().collect::<Array>()));
        }
        Value::InlineTable(table)
    }
}

/// The workspace says where a dependency comes from.
struct Inherited;

/// Optimization levels by profile of the crates that hash and compress images: unoptimized they are many times
/// slower.
/// Compilers take longer to optimise the rest of a build script than it runs. A level for a package wins over one for
/// `build-override`, and holds for the program too, so that each is compiled once.
///
/// Development builds hash and do not compress.
const OPTIMIZED: [(&str, &[(&str, i64)]); 2] = [
    ("dev", &[("blake3", 1)]),
    (
        "release",
        // Not lzma-rust2, of the mode `archive`: cargo warns of packages that the build does not have.
        &[("blake3", 3), ("offload-format", 3), ("offload-packer", 3), ("zstd-safe", 3), ("zstd-sys", 3)],
    ),
];

/// Has what packs images optimised, unless the manifest optimises build scripts, as it did before, or says something of
/// such a package.
pub(super) fn optimize_packing(path: &Path) -> Result<Outcome> {
    let mut document = open(path)?;
    let before = document.to_string();
    for (profile, levels) in OPTIMIZED {
        let profiles = implicit(document.entry("profile"), "profile", path)?;
        let settings = implicit(profiles.entry(profile), profile, path)?;
        if settings.contains_key("build-override") {
            return Ok(Outcome::Kept);
        }
        let packages = implicit(settings.entry("package"), "package", path)?;
        for (name, level) in levels {
            let wanted = Table::from_iter([("opt-level", Item::Value((*level).into()))]);
            packages.entry(name).or_insert(Item::Table(wanted));
        }
    }
    let after = document.to_string();
    if after == before {
        return Ok(Outcome::Kept);
    }
    replace(path, after.as_bytes())?;
    Ok(Outcome::Written)
}

/// The build script, if the manifest names one.
pub(super) fn build_script(path: &Path) -> Result<Option<String>> {
    let document = open(path)?;
    match document.get("package").and_then(|package| package.get("build")) {
        None => Ok(None),
        Some(Item::Value(Value::String(name))) => Ok(Some(name.value().clone())),
        Some(_) => {
            Err(Error::usage(format!("`{}` disables the build script of the package", path.display()))
                .hint("remove `build` under `[package]`"))
        }
    }
}

/// A table that has no heading of its own unless it had one.
fn implicit<'a>(entry: toml_edit::Entry<'a>, name: &str, path: &Path) -> Result<&'a mut Table> {
    let mut table = Table::new();
    table.set_implicit(true);
    entry.or_insert(Item::Table(table)).as_table_mut().ok_or_else(|| no_table(name, path))
}

/// Reads a file of TOML so that it can be edited.
pub(super) fn open(path: &Path) -> Result<DocumentMut> {
    let text = std::fs::read_to_string(path).io_context("read", path)?;
    text.parse().map_err(|error| Error::usage(format!("`{}`: {error}", path.display())))
}

fn no_table(name: &str, path: &Path) -> Error {
    Error::usage(format!("`{name}` in `{}` is not a table", path.display()))
        .hint("write it as a table with its own heading")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("Cargo.toml");
        std::fs::write(&path, text).unwrap();
        Dependencies { checkout: None, is_found: false }.add_to(&path, &path).unwrap();
        optimize_packing(&path).unwrap();
        std::fs::read_to_string(&path).unwrap()
    }

    #[test]
    fn additions_keep_comments_and_what_is_there() {
        let text = "[package]\nname = \"a\" # mine\n\n[dependencies]\n# numbers\nrand = \"1\"\noffload-rt = { git = \"x\" }\n\n[profile.release]\nlto = true\n";
        let after = edited(text);
        for part in
            ["name = \"a\" # mine", "# numbers\nrand = \"1\"\noffload-rt = { git = \"x\" }\n", "lto = true\n"]
        {
            assert!(after.contains(part), "{after}");
        }
        assert!(after.contains("[build-dependencies]\noffload-build = \"0.1\"\n"), "{after}");
        for package in ["dev.package.blake3", "release.package.blake3", "release.package.zstd-sys"] {
            assert!(after.contains(&format!("[profile.{package}]\nopt-level = ")), "{after}");
        }
        assert!(!after.contains("dev.package.zstd-sys"), "{after}");
        assert!(!after.contains("build-override"), "{after}");
        assert!(!after.contains("[profile]") && !after.contains("[profile.dev]\n"), "{after}");
        assert_eq!(edited(&after), after);
    }

    #[test]
    fn a_workspace_that_has_the_dependency_is_asked() {
        let after = edited("[workspace.dependencies]\noffload-rt = \"0.1\"\n[package]\nname = \"a\"\n");
        assert!(after.contains("offload-rt = { workspace = true, features = [\"opencl\"] }"), "{after}");
        assert!(after.contains("offload-build = \"0.1\""), "{after}");
    }

    fn build_script_of(path: &Path, build: &str) -> Result<Option<String>> {
        std::fs::write(path, format!("[package]\nname = \"a\"\n{build}")).unwrap();
        build_script(path)
    }

    #[test]
    fn a_build_script_of_another_name_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("Cargo.toml");
        assert_eq!(build_script_of(&path, "").unwrap(), None);
        assert_eq!(build_script_of(&path, "build = \"make.rs\"").unwrap().as_deref(), Some("make.rs"));
        assert!(
            build_script_of(&path, "build = false").unwrap_err().to_string().contains("hint: remove `build`")
        );
    }

    #[test]
    fn what_is_said_of_a_package_stays() {
        let text = "[package]\nname = \"a\"\n[profile.release.package.zstd-sys]\nopt-level = 2 # mine\n";
        let after = edited(text);
        assert!(after.contains("[profile.release.package.zstd-sys]\nopt-level = 2 # mine\n"), "{after}");
        assert!(after.contains("[profile.release.package.blake3]\nopt-level = 3\n"), "{after}");
        assert_eq!(edited(&after), after);
    }

    #[test]
    fn what_is_said_of_build_scripts_stays() {
        let text = "[profile.dev.build-override]\nopt-level = 1\n";
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("Cargo.toml");
        std::fs::write(&path, text).unwrap();
        assert_eq!(optimize_packing(&path).unwrap(), Outcome::Kept);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}
