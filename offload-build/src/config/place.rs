//! Discovery of `offload.toml`, for each way of starting cargo.
//!
//! A build script cannot ask cargo for the workspace. The target directory usually lies in it, beside a Cargo.lock that
//! lists the package; a package that was not fetched from a registry lies in a workspace itself.

use std::path::{Path, PathBuf};

use crate::env::Runner;
use crate::error::{Error, Result};
use crate::fs;
use crate::settings;

/// The file's name.
const FILE: &str = "offload.toml";

/// What a build script knows of the application.
#[derive(Clone, Debug)]
pub(super) struct Clues {
    pub(super) runner: Runner,
    pub(super) package: String,
    pub(super) manifest_dir: PathBuf,
    pub(super) out_dir: PathBuf,
    /// What OFFLOAD_WORKSPACE says.
    pub(super) workspace: Option<PathBuf>,
    /// Where the shell was that started cargo.
    pub(super) started_in: Option<PathBuf>,
}

/// Where the file may be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// The first that exists is the file.
    pub(super) files: Vec<PathBuf>,
    /// A file of the package's that is not read, because another workspace uses the package.
    pub(super) unread: Option<PathBuf>,
}

/// A workspace, and where the package is.
enum Workspace {
    /// The package is one of its members, or lies among them.
    Around(PathBuf),
    /// It depends on the package, which lies outside of it.
    Dependent(PathBuf),
}

impl Clues {
    /// `None` if the workspace is not known.
    ///
    /// # Errors
    /// A file that may be meant would be ignored.
    pub(super) fn places(&self) -> Result<Option<Places>> {
        // What lies around a package is no input of other build systems, and may be anything.
        if self.runner == Runner::Other && self.workspace.is_none() {
            return Ok(Some(Places { files: vec![self.manifest_dir.join(FILE)], unread: None }));
        }
        Ok(match self.workspace() {
            Some(Workspace::Around(root)) => {
                Some(Places { files: files_up_to(&self.manifest_dir, &root), unread: None })
            }
            Some(Workspace::Dependent(root)) => {
                let unread = if is_fetched(&self.manifest_dir) {
                    None
                } else {
                    first_of(&files_up_to(&self.manifest_dir, &own_workspace(&self.manifest_dir)))
                };
                Some(Places { files: vec![root.join(FILE)], unread })
            }
            None => {
                self.refuse_doubt()?;
                None
            }
        })
    }

    fn workspace(&self) -> Option<Workspace> {
        let is_fetched = is_fetched(&self.manifest_dir);
        let root = self.workspace.clone().or_else(|| workspace_of_build(&self.out_dir, &self.package));
        match root {
            Some(root) if !is_fetched && self.manifest_dir.starts_with(&root) => {
                Some(Workspace::Around(root))
            }
            Some(root) => Some(Workspace::Dependent(root)),
            // `cargo install` builds what it has fetched in a temporary directory.
            None if !is_fetched || is_program(&self.manifest_dir) => {
                Some(Workspace::Around(own_workspace(&self.manifest_dir)))
            }
            None => None,
        }
    }

    /// Cargo hides warnings of packages that it has fetched, so only an error is seen.
    fn refuse_doubt(&self) -> Result<()> {
        let installs = self.out_dir.iter().any(|part| part.to_string_lossy().starts_with("cargo-install"));
        let here = self.started_in.as_deref().filter(|_| !installs);
        let file = here.and_then(|here| here.ancestors().map(|dir| dir.join(FILE)).find(|it| it.is_file()));
        match file {
            None => Ok(()),
            Some(file) => Err(Error::new(format!(
                "cannot tell whether `{}` is for this build of `{}`: the target directory, with `{}`, lies in no workspace that uses the package",
                file.display(),
                self.package,
                self.out_dir.display()
            ))
            .with_hint(
                "set OFFLOAD_WORKSPACE to the directory of the application's workspace, as `cargo offload init` does in its .cargo/config.toml",
            )),
        }
    }
}

/// The first of `files` that exists.
pub(super) fn first_of(files: &[PathBuf]) -> Option<PathBuf> {
    files.iter().find(|file| file.is_file()).cloned()
}

/// The file in each directory from `from` up to `root`.
fn files_up_to(from: &Path, root: &Path) -> Vec<PathBuf> {
    from.ancestors().take_while(|dir| dir.starts_with(root)).map(|dir| dir.join(FILE)).collect()
}

/// The workspace around the target directory: its Cargo.lock lists the package.
fn workspace_of_build(out_dir: &Path, package: &str) -> Option<PathBuf> {
    let line = format!("name = \"{package}\"");
    for dir in out_dir.ancestors().skip(1) {
        let lock = std::fs::read_to_string(dir.join("Cargo.lock")).unwrap_or_default();
        if lock.lines().any(|it| it == line) {
            return Some(dir.to_path_buf());
        }
    }
    None
}

/// The workspace around a package by its manifests, as cargo finds it.
fn own_workspace(manifest_dir: &Path) -> PathBuf {
    let mut around = manifest_dir.ancestors();
    let last = around.clone().position(is_root_of_download).map_or(usize::MAX, |at| at + 1);
    let root = around.by_ref().take(last).find(|dir| manifest_has(dir, |it| it.get("workspace").is_some()));
    root.unwrap_or(manifest_dir).to_path_buf()
}

/// Whether cargo has fetched the package: from a registry, from a repository, or into the directory of `cargo vendor`.
fn is_fetched(manifest_dir: &Path) -> bool {
    manifest_dir.join(".cargo-checksum.json").is_file() || manifest_dir.ancestors().any(is_root_of_download)
}

/// Cargo marks what it has unpacked completely.
fn is_root_of_download(dir: &Path) -> bool {
    dir.join(".cargo-ok").is_file()
}

/// Whether the package can be an application of its own.
fn is_program(manifest_dir: &Path) -> bool {
    ["src/main.rs", "src/bin"].iter().any(|path| manifest_dir.join(path).exists())
        || manifest_has(manifest_dir, is_linked)
}

/// Whether a package has a binary or a dynamic library.
fn is_linked(manifest: settings::Table<'_>) -> bool {
    let kinds = manifest.get("lib").and_then(|lib| lib.get("crate-type"));
    manifest.get("bin").is_some() || kinds.is_some_and(|kinds| kinds.to_string().contains("cdylib"))
}

fn manifest_has(dir: &Path, what: impl Fn(settings::Table<'_>) -> bool) -> bool {
    let text = fs::read_text(&dir.join("Cargo.toml"));
    text.is_ok_and(|text| settings::read(&text, |table| Ok(what(table))).unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with files, and what a build script of a package in it knows.
    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(files: &[(&str, &str)]) -> Tree {
            let dir = tempfile::tempdir().unwrap();
            for (path, text) in files {
                let path = dir.path().join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            Tree(dir)
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        fn clues(&self, package: &str, out_dir: &str) -> Clues {
            Clues {
                runner: Runner::Cargo,
                package: "pack".into(),
                manifest_dir: self.path(package),
                out_dir: self.path(out_dir),
                workspace: None,
                started_in: None,
            }
        }

        /// The files that are looked for, as paths in the tree.
        fn files(&self, clues: &Clues) -> Vec<String> {
            let places = clues.places().unwrap().unwrap();
            places
                .files
                .iter()
                .map(|file| file.strip_prefix(self.0.path()).unwrap().display().to_string())
                .collect()
        }
    }

    #[test]
    fn other_build_systems_have_the_file_of_the_package_alone() {
        let tree = Tree::new(&[("app/Cargo.toml", "[workspace]\n"), ("app/Cargo.lock", LOCK)]);
        let clues = Clues { runner: Runner::Other, ..tree.clues("app/crates/pack", OUT) };
        assert_eq!(tree.files(&clues), ["app/crates/pack/offload.toml"]);
        let named = Clues { workspace: Some(tree.path("app")), ..clues };
        assert!(tree.files(&named).contains(&"app/offload.toml".to_string()));
    }

    const LOCK: &str = "[[package]]\nname = \"pack\"\n";
    const OUT: &str = "app/target/debug/build/pack-1/out";
    const PACKAGE: &str = "[package]\nname = \"pack\"\n";

    #[test]
    fn a_member_may_have_a_file_of_its_own() {
        let tree = Tree::new(&[
            ("app/Cargo.toml", "[workspace]\n"),
            ("app/Cargo.lock", LOCK),
            ("app/crates/pack/Cargo.toml", PACKAGE),
        ]);
        let all = ["app/crates/pack/offload.toml", "app/crates/offload.toml", "app/offload.toml"];
        assert_eq!(tree.files(&tree.clues("app/crates/pack", OUT)), all);
        // Also where the target directory is elsewhere, or in a workspace that does not know the package.
        assert_eq!(tree.files(&tree.clues("app/crates/pack", "elsewhere/out")), all);
        let foreign = Tree::new(&[
            ("app/Cargo.lock", "[[package]]\nname = \"other\"\n"),
            ("mine/Cargo.toml", &format!("{PACKAGE}[workspace]\n")),
        ]);
        assert_eq!(foreign.files(&foreign.clues("mine", OUT)), ["mine/offload.toml"]);
    }

    #[test]
    fn a_dependency_takes_the_file_of_the_application() {
        for mark in ["registry/pack/.cargo-ok", "registry/pack/.cargo-checksum.json"] {
            let tree = Tree::new(&[
                ("app/Cargo.lock", LOCK),
                (mark, ""),
                ("registry/pack/offload.toml", ""),
                ("registry/pack/Cargo.toml", PACKAGE),
            ]);
            let clues = tree.clues("registry/pack", OUT);
            assert_eq!(tree.files(&clues), ["app/offload.toml"]);
            assert_eq!(clues.places().unwrap().unwrap().unread, None);
        }
        let vendored = Tree::new(&[("app/Cargo.lock", LOCK), ("app/vendor/pack/.cargo-checksum.json", "")]);
        assert_eq!(vendored.files(&vendored.clues("app/vendor/pack", OUT)), ["app/offload.toml"]);
        // A package beside the workspace has a file that its owner may expect to be read.
        let beside =
            Tree::new(&[("app/Cargo.lock", LOCK), ("pack/Cargo.toml", PACKAGE), ("pack/offload.toml", "")]);
        let clues = beside.clues("pack", OUT);
        assert_eq!(beside.files(&clues), ["app/offload.toml"]);
        assert_eq!(clues.places().unwrap().unwrap().unread, Some(beside.path("pack/offload.toml")));
    }

    #[test]
    fn an_installed_program_brings_its_own() {
        let tree = Tree::new(&[
            ("Cargo.toml", "[workspace]\n"),
            ("git/.cargo-ok", ""),
            ("git/Cargo.toml", "[workspace]\n"),
            ("git/app/Cargo.toml", PACKAGE),
            ("git/app/src/main.rs", ""),
        ]);
        let clues = tree.clues("git/app", "tmp/cargo-installx/release/build/pack-1/out");
        assert_eq!(tree.files(&clues), ["git/app/offload.toml", "git/offload.toml"]);
        for manifest in ["[[bin]]\nname = \"x\"\n", "[lib]\ncrate-type = [\"rlib\", \"cdylib\"]\n"] {
            let tree = Tree::new(&[("app/.cargo-ok", ""), ("app/Cargo.toml", manifest)]);
            assert_eq!(tree.files(&tree.clues("app", "out")), ["app/offload.toml"]);
        }
    }

    #[test]
    fn what_cannot_be_told_is_an_error_where_a_file_may_be_meant() {
        let tree = Tree::new(&[
            ("registry/pack/.cargo-ok", ""),
            ("registry/pack/Cargo.toml", "[lib]\n"),
            ("app/offload.toml", ""),
            ("app/src/lib.rs", ""),
        ]);
        let mut clues = tree.clues("registry/pack", "shared/debug/build/pack-1/out");
        assert_eq!(clues.places().unwrap(), None);
        clues.started_in = Some(tree.path("app/src"));
        let error = clues.places().unwrap_err().to_string();
        let file = tree.path("app/offload.toml").display().to_string();
        assert!(error.contains(&file) && error.contains("hint: set OFFLOAD_WORKSPACE"), "{error}");
        let installs =
            Clues { out_dir: tree.path("tmp/cargo-installx/release/build/pack-1/out"), ..clues.clone() };
        assert_eq!(installs.places().unwrap(), None);
        clues.workspace = Some(tree.path("app"));
        assert_eq!(tree.files(&clues), ["app/offload.toml"]);
    }
}
