//! Rules of ARCHITECTURE.md that a machine can keep.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{DependencyKind, MetadataCommand, Package};

/// The crates that read and write bytes, and do nothing else.
const BYTES: [&str; 3] = ["offload-format", "offload-images", "offload-containers"];

/// The crates without I/O, environment, processes and unsafe code. They start threads where a caller gives them some.
const PURE: [&str; 8] = [
    "offload-format",
    "offload-images",
    "offload-containers",
    "offload-packer",
    "offload-embed",
    "offload-protocol",
    "offload-workgroup",
    "offload-ir",
];

fn root() -> PathBuf {
    offload_tests::workspace_root()
}

/// A Rust file of the workspace: its path from the root, and its text.
struct RustFile {
    path: String,
    text: String,
}

impl RustFile {
    /// The lines that a compiler sees outside of tests, comments cut off.
    fn code(&self) -> Vec<&str> {
        let code = self.text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        code.lines().map(|line| line.split("//").next().unwrap()).collect()
    }

    fn uses(&self, words: &[&str]) -> bool {
        self.code().iter().any(|line| words.iter().any(|word| has_word(line, word)))
    }
}

/// Whether `word` stands in `line` and is not the end or the start of a longer name.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = &line[..at];
        let after = &line[at + word.len()..];
        // A word that ends in a colon or a bracket has its own end.
        let open = word.ends_with(is_word_char) && after.starts_with(is_word_char);
        !before.ends_with(is_word_char) && !open
    })
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Files that git knows or would add, so that build outputs and editors' files do not count.
fn tracked() -> Vec<String> {
    let git = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(git).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let names: BTreeSet<String> =
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_string).collect();
    let files: Vec<String> = names.into_iter().filter(|name| root().join(name).is_file()).collect();
    assert!(files.len() > 50, "git lists only {} files", files.len());
    files
}

fn sources(of: &[&str]) -> Vec<RustFile> {
    let paths: Vec<String> = tracked()
        .into_iter()
        .filter(|path| {
            let (first, rest) = path.split_once('/').unwrap_or(("", path));
            let code = path.ends_with(".rs") && !path.ends_with("/tests.rs");
            code && of.contains(&first) && (rest.starts_with("src/") || rest == "build.rs")
        })
        .collect();
    assert!(!paths.is_empty(), "no sources in {of:?}");
    paths
        .into_iter()
        .map(|path| RustFile { text: fs::read_to_string(root().join(&path)).unwrap(), path })
        .collect()
}

#[test]
fn words_are_matched_whole() {
    assert!(has_word("    unsafe { x }", "unsafe") && has_word("unsafe", "unsafe"));
    assert!(!has_word("unsafe_code", "unsafe") && !has_word("my_env::var", "env::var"));
    assert!(has_word("std::env::var(x)", "env::var") && has_word("Command::new(x)", "Command::new"));
}

#[test]
fn pure_crates_have_no_io_and_no_unsafe_code() {
    for name in PURE {
        let lib = fs::read_to_string(root().join(name).join("src/lib.rs")).unwrap();
        assert!(lib.contains("#![forbid(unsafe_code)]"), "{name} may hold unsafe code");
    }
    let outside = ["std::fs", "std::env", "std::process", "std::net", "std::time", "std::path", "unsafe"];
    for source in sources(&PURE) {
        assert!(!source.uses(&outside), "{} uses one of {outside:?}", source.path);
    }
}

#[test]
fn every_file_says_what_it_does() {
    for path in tracked().into_iter().filter(|path| path.ends_with(".rs")) {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        let first = text.lines().next().unwrap_or_default();
        assert!(first.starts_with("//! "), "{path} starts with {first:?}");
    }
}

#[test]
fn no_text_names_a_machine() {
    // Spelled in two parts, so that this file passes its own test.
    let homes =
        [concat!("/ro", "ot/."), concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("/wo", "rk/")];
    for path in tracked() {
        // Images, archives and the like are no text.
        let Ok(text) = fs::read_to_string(root().join(&path)) else { continue };
        let found = text.lines().find(|line| homes.iter().any(|home| line.contains(home)));
        assert!(found.is_none() || may_name_home(&path), "{path}: {found:?}");
    }
}

/// `cargo xtask fresh` copies settings from the home of root into a new machine.
fn may_name_home(path: &str) -> bool {
    path == "tests/src/xtask/fresh/machine.rs"
}

fn packages() -> Vec<Package> {
    let metadata = MetadataCommand::new().manifest_path(root().join("Cargo.toml")).no_deps().exec().unwrap();
    metadata.packages
}

#[test]
fn all_crates_have_one_version_and_the_changelog_has_it() {
    let packages = packages();
    let versions: BTreeSet<String> = packages.iter().map(|package| package.version.to_string()).collect();
    let [version] = &versions.into_iter().collect::<Vec<_>>()[..] else { panic!("several versions") };
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let headings: Vec<&str> = changelog.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert!(
        headings.iter().any(|heading| heading.split([' ', '[', ']']).any(|word| word == version)),
        "CHANGELOG.md has no heading for {version}: {headings:?}"
    );
}

#[test]
fn crates_depend_in_one_direction() {
    let bytes = &BYTES[..];
    let compiler = [
        "offload-packer",
        "offload-protocol",
        "offload-workgroup",
        "offload-cache",
        "offload-clang",
        "offload-embed",
        "offload-files",
        "offload-ir",
        "offload-jobs",
        "offload-signatures",
    ];
    let allowed: [(&str, &[&str]); 19] = [
        ("offload-format", &[]),
        ("offload-images", &["offload-format"]),
        ("offload-containers", &["offload-format", "offload-images"]),
        ("offload-packer", &["offload-format"]),
        ("offload-protocol", &["offload-format"]),
        ("offload-workgroup", &[]),
        ("offload-cache", &["offload-files", "offload-format", "offload-packer"]),
        ("offload-clang", &[]),
        ("offload-embed", &["offload-format"]),
        ("offload-files", &[]),
        ("offload-ir", &["offload-format", "offload-workgroup"]),
        ("offload-jobs", &["offload-packer", "offload-protocol"]),
        ("offload-signatures", &["offload-format"]),
        ("offload-build", &[bytes, &compiler].concat()),
        ("offload-rt", &["offload-format"]),
        ("offload-sycl", &[bytes, &["offload-rt"]].concat()),
        ("offload-remote", &["offload-format", "offload-protocol"]),
        (
            "cargo-offload",
            &[
                bytes,
                &[
                    "offload-build",
                    "offload-cache",
                    "offload-files",
                    "offload-jobs",
                    "offload-packer",
                    "offload-protocol",
                    "offload-remote",
                    "offload-rt",
                ],
            ]
            .concat(),
        ),
        ("example-app", &["offload-rt", "offload-build"]),
    ];
    let packages = packages();
    let ours: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    for (name, allowed) in allowed {
        let package = packages.iter().find(|package| package.name.as_str() == name).unwrap();
        for dependency in &package.dependencies {
            let inner =
                ours.contains(dependency.name.as_str()) && dependency.kind != DependencyKind::Development;
            assert!(
                !inner || allowed.contains(&dependency.name.as_str()),
                "{name} depends on {}",
                dependency.name
            );
        }
    }
}

#[test]
fn shared_manifest_fields_come_from_the_workspace() {
    for package in packages() {
        let manifest = fs::read_to_string(Path::new(package.manifest_path.as_str())).unwrap();
        for field in ["version", "edition", "rust-version", "license"] {
            let line = format!("{field}.workspace = true");
            assert!(manifest.lines().any(|is| is == line), "{} has no `{line}`", package.name);
        }
    }
}
