//! A compiled build script that is started alone, as cargo starts it: a build of kernels in milliseconds.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::Project;

/// The files below a directory, by their paths in it. Of a link, what it leads to.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The build script of a project.
pub struct Script {
    program: PathBuf,
    env: Vec<(String, String)>,
}

/// Where a build script works.
#[derive(Clone, Debug)]
pub struct Places {
    /// The package.
    pub package: PathBuf,
    /// `OUT_DIR`.
    pub out: PathBuf,
    pub cache: PathBuf,
}

impl Script {
    pub fn for_project(project: &Project) -> Script {
        Script { program: project.build_script(), env: project.env.clone() }
    }

    /// The same build script for another project of the same fixture, which need not be built.
    pub fn for_copy(&self, project: &Project) -> Script {
        Script { program: self.program.clone(), env: project.env.clone() }
    }

    /// The build script in these places, which are made where they are missing.
    pub fn command(&self, places: &Places) -> Command {
        for directory in [&places.out, &places.cache] {
            fs::create_dir_all(directory).unwrap();
        }
        let mut command = Command::new(&self.program);
        command
            .current_dir(&places.package)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env("CARGO_MANIFEST_DIR", &places.package)
            .env("CARGO_MANIFEST_PATH", places.package.join("Cargo.toml"))
            .env("OUT_DIR", &places.out)
            .env("OFFLOAD_CACHE_DIR", &places.cache)
            .env("CARGO_ENCODED_RUSTFLAGS", "")
            .env("TARGET", "x86_64-unknown-linux-gnu")
            .env("HOST", "x86_64-unknown-linux-gnu")
            .env("CARGO_PKG_NAME", "two-files")
            .env("CARGO_PKG_VERSION", "0.1.0")
            .env("CARGO_CFG_TARGET_ARCH", "x86_64")
            .env("CARGO_CFG_TARGET_OS", "linux")
            .env("PROFILE", "release")
            .env("OPT_LEVEL", "3")
            .env("DEBUG", "false");
        for name in ["OFFLOAD_CONFIG", "CLIPPY_ARGS", "CARGO_MAKEFLAGS", "MAKEFLAGS"] {
            command.env_remove(name);
        }
        command
    }
}

/// `inner` as an argument of the command `outer`, with its environment and directory.
pub fn wrapped<T: AsRef<OsStr>>(outer: &[T], inner: &Command) -> Command {
    let mut command = Command::new(&outer[0]);
    command.args(&outer[1..]).arg(inner.get_program()).args(inner.get_args());
    if let Some(directory) = inner.get_current_dir() {
        command.current_dir(directory);
    }
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Runs a command that must succeed; returns what it printed.
pub fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", output_text(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// All that a command printed.
pub fn output_text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

/// The files below `directory`, without those that a killed process left unfinished.
pub fn files(directory: &Path) -> Files {
    let mut all = Files::new();
    collect(directory, Path::new(""), &mut all);
    all
}

/// What of `OUT_DIR` goes into a program. The rest is for cargo and for `cargo offload dev`, and leads to files of this
/// machine.
pub fn of_programs(out: &Path) -> Files {
    let mut all = files(out);
    all.retain(|path, _| !path.starts_with("offload-absent") && path != Path::new("offload-recipe"));
    all
}

fn collect(directory: &Path, below: &Path, all: &mut Files) {
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        let below = below.join(&name);
        if name.to_string_lossy().starts_with(".offload-") {
            continue;
        }
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            collect(&path, &below, all);
        } else if kind.is_symlink() {
            all.insert(below, fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
        } else {
            all.insert(below, fs::read(&path).unwrap());
        }
    }
}

/// What differs, by path.
pub fn differences(one: &Files, other: &Files) -> Vec<String> {
    let mut lines = Vec::new();
    for path in one.keys().chain(other.keys().filter(|path| !one.contains_key(*path))) {
        let line = match (one.get(path), other.get(path)) {
            (Some(a), Some(b)) if a == b => continue,
            (Some(a), Some(b)) => format!("{}: {} and {} bytes", path.display(), a.len(), b.len()),
            (Some(_), None) => format!("{}: in the first alone", path.display()),
            _ => format!("{}: in the second alone", path.display()),
        };
        lines.push(line);
    }
    lines
}
