//! The builds that are compared: how a program's build script would be run, and what its images run on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use offload_tests::error::Result;

use crate::bisection::Compiled;
use crate::case::{Case, Language};
use crate::harness::Harness;
use crate::process::{self, Ending, Watch};

/// A batch has so long.
const COMPILE_LIMIT: Duration = Duration::from_secs(600);
/// The end of a compiler's text is kept: it names the error.
const MOST_TEXT: usize = 4000;

/// A build of the same kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuildKind {
    /// `cargo build`.
    Dev,
    /// `cargo build --release`, with an image for each level of the instruction set that the harness names.
    Release,
    /// `cargo offload test --sanitize`.
    Sanitized,
    /// The source, which PoCL compiles.
    Pocl,
}

impl BuildKind {
    /// Every build.
    pub const ALL: [BuildKind; 4] =
        [BuildKind::Dev, BuildKind::Release, BuildKind::Sanitized, BuildKind::Pocl];

    /// The build of a mismatch, whose name may have a target behind it.
    pub fn from_name(name: &str) -> Option<BuildKind> {
        let word = name.split(' ').next().unwrap_or_default();
        BuildKind::ALL.into_iter().find(|kind| kind.name() == word)
    }

    /// The build's name.
    pub fn name(self) -> &'static str {
        match self {
            BuildKind::Dev => "dev",
            BuildKind::Release => "release",
            BuildKind::Sanitized => "sanitized",
            BuildKind::Pocl => "pocl",
        }
    }

    /// Whether it has kernels of `language`.
    pub fn takes(self, language: Language) -> bool {
        language == Language::OpenClC || self != BuildKind::Pocl
    }

    /// The targets, by the text that images have. Release builds are for `levels`.
    pub(crate) fn targets(self, levels: &'static [&'static str]) -> &'static [&'static str] {
        match self {
            BuildKind::Dev | BuildKind::Sanitized => &["host"],
            BuildKind::Release => levels,
            BuildKind::Pocl => &["opencl-c"],
        }
    }

    fn profile(self) -> [(&'static str, &'static str); 3] {
        match self {
            BuildKind::Release => [("PROFILE", "release"), ("OPT_LEVEL", "3"), ("DEBUG", "false")],
            _ => [("PROFILE", "debug"), ("OPT_LEVEL", "0"), ("DEBUG", "true")],
        }
    }
}

/// One level of the instruction set, each in its turn, as a list.
pub fn level_of_turn(turn: u64) -> &'static [&'static str] {
    let levels = levels();
    let index = turn.checked_rem(levels.len() as u64).and_then(|index| usize::try_from(index).ok());
    index.and_then(|index| levels.get(index..=index)).unwrap_or(levels)
}

/// The level that a mismatch names behind its build, as a list; all levels if it names none.
pub fn level_of_name(name: &str) -> &'static [&'static str] {
    let levels = levels();
    let target = name.split(' ').nth(1).unwrap_or_default();
    let index = levels.iter().position(|level| *level == target);
    index.and_then(|index| levels.get(index..=index)).unwrap_or(levels)
}

/// The targets for all levels of the instruction set that this CPU has
/// (<https://gitlab.com/x86-psABIs/x86-64-ABI>, table 3.1).
#[cfg(target_arch = "x86_64")]
pub fn levels() -> &'static [&'static str] {
    use std::arch::is_x86_feature_detected as has;
    let v2 = has!("sse4.2") && has!("popcnt") && has!("ssse3");
    let v3 =
        v2 && has!("avx2") && has!("bmi1") && has!("bmi2") && has!("fma") && has!("lzcnt") && has!("movbe");
    let v4 =
        v3 && has!("avx512f") && has!("avx512bw") && has!("avx512cd") && has!("avx512dq") && has!("avx512vl");
    match (v2, v3, v4) {
        (_, _, true) => &["host", "host:x86-64-v2", "host:x86-64-v3", "host:x86-64-v4"],
        (_, true, _) => &["host", "host:x86-64-v2", "host:x86-64-v3"],
        (true, _, _) => &["host", "host:x86-64-v2"],
        _ => &["host"],
    }
}

/// The one target for this CPU.
#[cfg(not(target_arch = "x86_64"))]
pub fn levels() -> &'static [&'static str] {
    &["host"]
}

/// The package whose build script the compiler acts as.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Package<'a> {
    pub(crate) folder: &'a Path,
    /// The compile cache. Builds of a batch share it: they differ by flags, which its keys have.
    pub(crate) cache: &'a Path,
}

/// Compiles `cases`. Gives the pack, or what the compiler says.
pub(crate) fn compile(
    harness: &Harness,
    package: Package<'_>,
    kind: BuildKind,
    cases: &[&Case],
) -> Result<Compiled<PathBuf>> {
    let folder = package.folder;
    let sources = write_sources(folder, cases)?;
    fs::write(folder.join("offload.toml"), "")?;
    for name in ["out", "packs"] {
        fs::create_dir(folder.join(name))?;
    }
    let mut command = Command::new(harness.compiler());
    set_variables(&mut command, package, kind);
    let targets = kind.targets(harness.levels()).join(",");
    command.env("OFFLOAD_TARGETS", targets);
    command.args(sources).current_dir(folder);
    let errors = folder.join("errors");
    let watch =
        Watch { errors: &errors, output: &folder.join("output"), progress: None, patience: COMPILE_LIMIT };
    let ending = process::run(&mut command, watch)?;
    let text = String::from_utf8_lossy(&fs::read(&errors)?).into_owned();
    match ending {
        Ending::TimedOut => Ok(Err("the compiler did not end".into())),
        Ending::Exited(status) if !status.success() => Ok(Err(format!("{status}: {}", shortened(&text)))),
        Ending::Exited(_) => match fs::read_dir(folder.join("packs"))?.next() {
            Some(pack) => Ok(Ok(pack?.path())),
            None => Ok(Err("the compiler has written no pack".into())),
        },
    }
}

/// One file for each language: what is the same in all is read once.
fn write_sources(folder: &Path, cases: &[&Case]) -> Result<Vec<&'static str>> {
    let mut files = Vec::new();
    for (language, file) in [(Language::OpenClC, "batch.cl"), (Language::Cpp, "batch.cpp")] {
        let mut text = String::new();
        for case in cases.iter().filter(|case| case.language == language) {
            text.push_str(&case.source);
            text.push('\n');
        }
        if !text.is_empty() {
            fs::write(folder.join(file), text)?;
            files.push(file);
        }
    }
    Ok(files)
}

/// What cargo tells a build script, and the settings of this build.
fn set_variables(command: &mut Command, package: Package<'_>, kind: BuildKind) {
    let folder = package.folder;
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    for (name, _) in std::env::vars_os() {
        let is_other = name.to_str().is_none_or(|name| {
            ["OFFLOAD_", "CARGO", "RUST"].iter().any(|prefix| name.starts_with(prefix)) || name == "MAKEFLAGS"
        });
        if is_other {
            command.env_remove(name);
        }
    }
    command
        .env("CARGO_MANIFEST_DIR", folder)
        .env("OUT_DIR", folder.join("out"))
        .env("CARGO_PKG_NAME", "fuzz")
        .env("CARGO_PKG_VERSION", "0.1.0")
        .env("CARGO_CFG_TARGET_OS", "linux")
        .env("CARGO_CFG_TARGET_ARCH", std::env::consts::ARCH)
        .env("HOST", &triple)
        .env("TARGET", &triple)
        .envs(kind.profile())
        .env("OFFLOAD_CONFIG", folder.join("offload.toml"))
        .env("OFFLOAD_CACHE_DIR", package.cache)
        .env("OFFLOAD_RELOAD_PACKS", folder.join("packs"));
    if kind == BuildKind::Sanitized {
        command.env("OFFLOAD_SANITIZE", "1");
    }
}

fn shortened(text: &str) -> &str {
    let text = text.trim();
    let start = text.len().saturating_sub(MOST_TEXT);
    let start = (start..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(start..).unwrap_or(text)
}
