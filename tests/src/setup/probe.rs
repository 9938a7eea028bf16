//! Probes for installed tools.
//!
//! A probe looks for the tool itself, not in a package database: tools may have been installed by other means.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::workspace::Workspace;

/// The LLVM that the packages of this workspace need, or a later one.
const MIN_LLVM: u32 = 22;

/// One way of finding something.
#[derive(Debug)]
pub(crate) enum Probe {
    /// A tool of LLVM, with the version in its name or in what it says.
    Llvm(&'static str),
    /// A program in `PATH`.
    Program(&'static str),
    /// A command that succeeds.
    Runs(&'static [&'static str]),
    /// A shared library where loaders look.
    Library(&'static str),
    /// A file `{prefix}*{suffix}` in one of `dirs`.
    Glob { dirs: &'static [&'static str], prefix: &'static str, suffix: &'static str },
    /// An OpenCL driver whose registration mentions the word.
    Icd(&'static str),
}

impl Probe {
    pub(crate) fn is_there(&self, workspace: &Workspace) -> bool {
        match self {
            Probe::Llvm(name) => llvm(workspace, name).is_some(),
            Probe::Program(name) => workspace.program(name).is_some(),
            Probe::Runs(command) => runs(workspace, command),
            Probe::Library(name) => library_dirs().iter().any(|dir| dir.join(name).exists()),
            Probe::Glob { dirs, prefix, suffix } => dirs.iter().any(|dir| {
                names(Path::new(dir)).iter().any(|name| name.starts_with(prefix) && name.ends_with(suffix))
            }),
            Probe::Icd(word) => icd_mentions(Path::new("/etc/OpenCL/vendors"), word),
        }
    }
}

/// Ends the sentence "clang ...".
impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Probe::Llvm(name) => {
                write!(f, "is looked for as `{name}-{MIN_LLVM}` or a `{name}` of LLVM {MIN_LLVM} in PATH")
            }
            Probe::Program(name) => write!(f, "is looked for as `{name}` in PATH"),
            Probe::Runs(command) => write!(f, "is there if `{}` succeeds", command.join(" ")),
            Probe::Library(name) => write!(f, "is looked for as `{name}` in /usr/lib and below"),
            Probe::Glob { dirs, prefix, suffix } => {
                write!(f, "is looked for as `{prefix}*{suffix}` in {}", dirs.join(", "))
            }
            Probe::Icd(word) => write!(f, "is looked for as `{word}` in /etc/OpenCL/vendors/*.icd"),
        }
    }
}

/// Finds a tool of a new enough LLVM.
pub fn llvm(workspace: &Workspace, name: &str) -> Option<PathBuf> {
    let versioned = workspace.program(&format!("{name}-{MIN_LLVM}"));
    versioned.or_else(|| {
        let plain = workspace.program(name)?;
        let version = workspace.shell.cmd(&plain).arg("--version").quiet().ignore_stderr().read().ok()?;
        (llvm_major(&version)? >= MIN_LLVM).then_some(plain)
    })
}

/// The major version in the first line of `--version` that has one ("Debian clang version 22.1.8", "LLD 22.1.8").
fn llvm_major(text: &str) -> Option<u32> {
    // Apple counts its compilers by other numbers.
    let line = text.lines().find(|line| line.contains(" version ") || line.contains("LLD "))?;
    let words = line.split_whitespace().filter(|_| !line.starts_with("Apple"));
    words.filter_map(|word| word.split_once('.')).find_map(|(major, _)| major.parse().ok())
}

fn runs(workspace: &Workspace, command: &[&str]) -> bool {
    let Some((program, args)) = command.split_first() else { return false };
    workspace.shell.cmd(program).args(args).quiet().ignore_stdout().ignore_stderr().run().is_ok()
}

fn library_dirs() -> Vec<PathBuf> {
    let triple = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    [triple.as_str(), "/usr/lib64", "/usr/lib", "/usr/local/lib"].map(PathBuf::from).into()
}

fn icd_mentions(dir: &Path, word: &str) -> bool {
    let icds = names(dir).into_iter().filter(|name| name.ends_with(".icd"));
    icds.filter_map(|name| std::fs::read_to_string(dir.join(name)).ok()).any(|text| text.contains(word))
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(llvm_major("Debian clang version 22.1.8 (1~deb12u1)\nTarget: x"), Some(22));
        assert_eq!(llvm_major("Debian LLD 14.0.6 (compatible with GNU linkers)"), Some(14));
        assert_eq!(llvm_major("Ubuntu LLVM version 22.1.8\n  Optimized build."), Some(22));
        assert_eq!(llvm_major("LLVM (http://llvm.org/):\n  LLVM version 22.1.0"), Some(22));
        assert_eq!(llvm_major("Apple clang version 26.0.0 (clang-2600)"), None);
        assert_eq!(llvm_major(""), None);
    }

    #[test]
    fn drivers_are_found_by_their_registration() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.icd"), "libpocl.so.2\n").unwrap();
        std::fs::write(dir.path().join("b.txt"), "libother.so\n").unwrap();
        assert!(icd_mentions(dir.path(), "pocl"));
        assert!(!icd_mentions(dir.path(), "other"));
        assert!(!icd_mentions(&dir.path().join("none"), "pocl"));
    }
}
