//! Cargo's environment and its directives.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

mod places;
mod recipe;
mod runner;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use offload_protocol::variable;

pub(crate) use self::places::temporary_directory;
pub(crate) use self::runner::Runner;
use crate::error::{Error, Result};
use crate::report;

/// What cargo tells a build script, read once.
#[derive(Debug)]
pub(crate) struct CargoEnv {
    pub(crate) runner: Runner,
    pub(crate) manifest_dir: PathBuf,
    pub(crate) out_dir: PathBuf,
    pub(crate) package: String,
    pub(crate) version: String,
    /// Where the build runs.
    pub(crate) host: String,
    pub(crate) target: String,
    pub(crate) cfg: TargetCfg,
    pub(crate) profile: Profile,
    lines: Mutex<Lines>,
}

/// What the program is compiled for.
#[derive(Debug)]
pub(crate) struct TargetCfg {
    pub(crate) arch: String,
    pub(crate) os: String,
    /// Bits of an address.
    pub(crate) pointer_width: String,
    pub(crate) endian: String,
    pub(crate) crt_static: bool,
}

/// What metadata for other build scripts are called, before the name of the library.
const LIBRARY_KEY: &str = "offload_library_";

/// The parts of the cargo profile that matter to kernels.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) release: bool,
    pub(crate) optimized: bool,
    /// As cargo has it, and clang behind `-O`: `0` to `3`, `s`, `z`.
    pub(crate) level: String,
    pub(crate) debug_info: bool,
}

/// How archives with packs reach the program
/// (<https://doc.rust-lang.org/rustc/command-line-arguments.html#linking-modifiers-bundle>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Archives {
    /// Only the final link reads them, without a copy. A static library that Rust makes is no final link.
    Apart,
    /// They are copied into every Rust library on the way, static ones included.
    InLibraries,
}

#[derive(Debug, Default)]
struct Lines {
    env: BTreeSet<String>,
    files: BTreeSet<PathBuf>,
    /// Files that do not exist.
    absent: BTreeSet<PathBuf>,
    /// What tools say of their versions.
    versions: BTreeMap<PathBuf, String>,
    /// Tools that look at results and change none.
    validators: BTreeSet<PathBuf>,
    warnings: Vec<String>,
    /// The diagnostics among them.
    diagnostics: BTreeSet<String>,
    link: Vec<String>,
}

impl CargoEnv {
    pub(crate) fn read() -> Result<CargoEnv> {
        let os = required("CARGO_CFG_TARGET_OS")?;
        let features = optional("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
        Ok(CargoEnv {
            runner: Runner::from_environment(),
            manifest_dir: required("CARGO_MANIFEST_DIR")?.into(),
            out_dir: required("OUT_DIR")?.into(),
            package: required("CARGO_PKG_NAME")?,
            // `rules_rust` calls the version of a package without one so, and does not say it to build scripts.
            version: optional("CARGO_PKG_VERSION").unwrap_or_else(|| "0.0.0".to_string()),
            host: required("HOST")?,
            target: required("TARGET")?,
            cfg: TargetCfg {
                arch: required("CARGO_CFG_TARGET_ARCH")?,
                os,
                pointer_width: optional("CARGO_CFG_TARGET_POINTER_WIDTH").unwrap_or_else(|| "64".to_string()),
                endian: optional("CARGO_CFG_TARGET_ENDIAN").unwrap_or_else(|| "little".to_string()),
                crt_static: features.split(',').any(|feature| feature == "crt-static"),
            },
            profile: Profile {
                release: required("PROFILE")? == "release",
                optimized: required("OPT_LEVEL")? != "0",
                level: required("OPT_LEVEL")?,
                debug_info: !matches!(required("DEBUG")?.as_str(), "false" | "0" | "none"),
            },
            lines: Mutex::default(),
        })
    }

    /// What this machine would tell a build script of a package in `directory`, for programs that cargo has not started
    /// as one. `scratch` stands for its `OUT_DIR`.
    pub(crate) fn for_machine(directory: &Path, scratch: &Path) -> CargoEnv {
        let arch = env::consts::ARCH.to_string();
        let os = env::consts::OS.to_string();
        let target = format!("{arch}-unknown-{os}-gnu");
        CargoEnv {
            runner: Runner::Cargo,
            manifest_dir: directory.into(),
            out_dir: scratch.into(),
            package: String::new(),
            version: String::new(),
            host: target.clone(),
            target,
            cfg: TargetCfg {
                arch,
                os,
                pointer_width: "64".into(),
                endian: "little".into(),
                crt_static: false,
            },
            profile: Profile { release: false, optimized: false, level: "0".into(), debug_info: true },
            lines: Mutex::default(),
        }
    }

    /// A variable of ours, with the order of the crate `cc`; a change of it reruns the build script.
    pub(crate) fn var(&self, name: &str) -> Option<OsString> {
        let underscored = self.target.replace(['-', '.'], "_");
        [format!("{name}_{}", self.target), format!("{name}_{underscored}"), name.to_string()]
            .into_iter()
            .find_map(|name| {
                let value = env::var_os(&name);
                self.record(|lines| lines.env.insert(name));
                value.filter(|value| !value.is_empty())
            })
    }

    /// A variable of ours that changes no output: a change of it is no reason to run again.
    pub(crate) fn setting(&self, name: &str) -> Option<OsString> {
        env::var_os(name).filter(|value| !value.is_empty())
    }

    /// Whether errors tell the commands that failed, also where their lines say it all.
    pub(crate) fn is_verbose(&self) -> bool {
        self.setting(variable::TERM_VERBOSE).is_some_and(|value| value == "true")
    }

    /// Why no kernel is to be compiled in this run, if so.
    pub(crate) fn skip_reason(&self) -> Option<&'static str> {
        if self.var(variable::SKIP).is_some_and(|value| value != "0") {
            return Some("OFFLOAD_SKIP was set when the program was built");
        }
        const REASONS: [&str; 3] = [variable::DOCS_RS, variable::RA_RUSTC_WRAPPER, variable::CLIPPY_ARGS];
        self.record(|lines| lines.env.extend(REASONS.map(str::to_string)));
        if env::var_os(variable::DOCS_RS).is_some() {
            return Some("this is a documentation build");
        }
        // It is set where rust-analyzer reads a project, and not where it runs `cargo check`.
        if env::var_os(variable::RA_RUSTC_WRAPPER).is_some() {
            return Some("rust-analyzer ran this build");
        }
        env::var_os(variable::CLIPPY_ARGS).map(|_| "this build was checked by clippy")
    }

    /// Whether kernels are only looked through for mistakes.
    pub(crate) fn only_checks(&self) -> bool {
        self.var(variable::CHECK).is_some_and(|value| value != "0")
    }

    /// Whether images for `host` tell of their accesses of memory.
    pub(crate) fn is_sanitized(&self) -> bool {
        self.var(variable::SANITIZE).is_some_and(|value| value != "0")
    }

    /// The variables that child processes keep; everything else could change what a compiler does unseen.
    pub(crate) fn child_environment(&self) -> Vec<(&'static str, OsString)> {
        const KEPT: [&str; 8] = [
            variable::PATH,
            variable::HOME,
            variable::TMPDIR,
            variable::TEMP,
            variable::SYSTEMROOT,
            variable::LD_LIBRARY_PATH,
            variable::DYLD_LIBRARY_PATH,
            variable::USERPROFILE,
        ];
        let mut kept: Vec<_> = KEPT.iter().filter_map(|name| Some((*name, env::var_os(name)?))).collect();
        kept.push((variable::LC_ALL, "C".into()));
        kept
    }

    /// The build script runs again when `path` changes.
    pub(crate) fn depends_on(&self, path: &Path) {
        self.record(|lines| lines.files.insert(path.to_path_buf()));
    }

    /// The build script runs again when the source `path` changes, unless it has written that itself: cargo would take what is
    /// newer than the start of the script for changed, each time.
    pub(crate) fn depends_on_source(&self, path: &Path) {
        if !path.starts_with(&self.out_dir) {
            self.depends_on(path);
        }
    }

    /// The build script runs again when there is a file `path`, which does not exist.
    pub(crate) fn appears(&self, path: &Path) {
        self.record(|lines| lines.absent.insert(path.to_path_buf()));
    }

    /// As [`CargoEnv::appears`], unless the build script alone writes there.
    pub(crate) fn source_appears(&self, path: &Path) {
        if !path.starts_with(&self.out_dir) {
            self.appears(path);
        }
    }

    /// A build script without a compiler runs again when the `cargo-offload` that is its compiler changes.
    pub(crate) fn depends_on_compiler(&self) {
        if self.setting(variable::BUILD_SCRIPT).is_none() {
            return;
        }
        self.depends_on_search_path();
        self.record(|lines| lines.env.insert(variable::CARGO_OFFLOAD.to_string()));
        if let Ok(program) = env::current_exe() {
            // Its version is part of what names results already.
            self.note_validator(&program);
            self.depends_on(&program);
        }
    }

    /// The build script runs again when `PATH` changes.
    pub(crate) fn depends_on_search_path(&self) {
        self.record(|lines| lines.env.insert(variable::PATH.to_string()));
    }

    /// All files of [`CargoEnv::depends_on`] that have a part in results.
    pub(crate) fn files_read(&self) -> BTreeSet<PathBuf> {
        self.record(|lines| {
            let mut files = lines.files.clone();
            files.retain(|file| !lines.validators.contains(file));
            files
        })
    }

    /// Notes what the tool behind `path` says of its version.
    pub(crate) fn note_version(&self, path: &Path, version: &str) {
        let first = version.lines().next().unwrap_or_default().to_string();
        self.record(|lines| lines.versions.insert(path.to_path_buf(), first));
    }

    /// What was noted of the tool behind `path`; empty where a tool does not tell its version.
    pub(crate) fn version_of(&self, path: &Path) -> Option<String> {
        self.record(|lines| lines.versions.get(path).cloned())
    }

    /// Notes that the tool behind `path` has no part in any result: it is not asked for results that are known.
    pub(crate) fn note_validator(&self, path: &Path) {
        self.record(|lines| lines.validators.insert(path.to_path_buf()));
    }

    /// Shows a warning, one line of cargo's for each line. What several front ends or targets say is shown once.
    pub(crate) fn warn(&self, text: &str) {
        // Most tools have nothing to say.
        if text.is_empty() {
            return;
        }
        let groups = report::view(&self.manifest_dir).groups(text);
        self.record(|lines| {
            for group in groups {
                let is_new = match group.key {
                    Some(key) => lines.diagnostics.insert(key),
                    None => group.lines.iter().any(|line| !lines.warnings.contains(line)),
                };
                lines.warnings.extend(group.lines.into_iter().filter(|_| is_new));
            }
        });
    }

    /// Links the archive `lib{name}.a` of `OUT_DIR` whole into the final program.
    pub(crate) fn link(&self, name: &str, archives: Archives) {
        let bundle = match archives {
            Archives::Apart => "-bundle",
            Archives::InLibraries => "+bundle",
        };
        self.record(|lines| {
            lines.link.push(format!("rustc-link-search=native={}", self.out_dir.display()));
            lines.link.push(format!("rustc-link-lib=static:{bundle},+whole-archive={name}"));
        });
    }

    /// Tells cargo to link the library of C++ as well, that of this system's compiler.
    pub(crate) fn link_cpp_library(&self) {
        self.record(|lines| lines.link.push("rustc-link-lib=dylib=stdc++".to_string()));
    }

    /// Tells the crate which kernel modules it can include, for the error of `include_kernels!`.
    pub(crate) fn name_modules(&self, names: &[String]) {
        let each = names.iter().map(|name| format!("rustc-env=offload_module_{name}=1"));
        let all = format!("rustc-env=offload_modules={}", names.join(", "));
        self.record(|lines| lines.link.extend(each.chain([all])));
    }

    /// The key `links` of the manifest, if it has one.
    pub(crate) fn links(&self) -> Option<String> {
        optional("CARGO_MANIFEST_LINKS")
    }

    /// Tells the build scripts of packages that depend on this one where the record of a device library is.
    pub(crate) fn export_library(&self, name: &str, record: &Path) {
        let line = format!("metadata={LIBRARY_KEY}{name}={}", record.display());
        self.record(|lines| lines.link.push(line));
    }

    /// The records of the device libraries that dependencies export, each of which the build script depends on.
    pub(crate) fn exported_libraries(&self) -> Vec<PathBuf> {
        let key = format!("_{}", LIBRARY_KEY.to_ascii_uppercase());
        // Cargo calls what a package with `links = "L"` says of `key` `DEP_L_KEY`.
        let ours = env::vars_os().filter(|(name, _)| {
            name.to_str()
                .is_some_and(|name| name.strip_prefix("DEP_").is_some_and(|rest| rest.contains(&key)))
        });
        let mut paths: Vec<PathBuf> = ours.map(|(_, path)| path.into()).collect();
        paths.sort();
        paths.iter().for_each(|path| self.depends_on(path));
        paths
    }

    /// Sends everything to cargo. Called on success only: a failed build script runs again anyway, and cargo shows
    /// the output of a failed one, where these lines would bury the error. [`report::exit_with`] looks after calls that fail
    /// after another one has sent its lines.
    ///
    /// # Errors
    /// If the standard output cannot be written.
    pub(crate) fn send(&self) -> Result<()> {
        let mut text = String::new();
        self.record(|lines| {
            lines.files.extend(self.watched(&lines.absent));
            let env = lines.env.iter().map(|name| format!("rerun-if-env-changed={name}"));
            let files = lines.files.iter().map(|path| format!("rerun-if-changed={}", path.display()));
            let warnings = lines.warnings.iter().map(|line| format!("warning={line}"));
            for line in env.chain(files).chain(warnings).chain(lines.link.iter().cloned()) {
                // A line break in a file's name would start a directive of its own.
                text.push_str(&format!("cargo::{}\n", line.replace(['\n', '\r'], " ")));
            }
        });
        report::note_sent();
        report::print(&text).map_err(|error| Error::new(format!("cannot tell cargo what was built: {error}")))
    }

    /// What cargo looks at in place of files that do not exist: those would make every build run the script.
    fn watched(&self, absent: &BTreeSet<PathBuf>) -> Option<PathBuf> {
        match self.runner {
            Runner::Cargo => crate::fs::watch_absent(&self.out_dir, absent).ok().flatten(),
            Runner::Other => None,
        }
    }

    fn record<T>(&self, change: impl FnOnce(&mut Lines) -> T) -> T {
        // A panic while the lock is held cannot leave half a line: every change is one insertion.
        change(&mut self.lines.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}

fn optional(name: &str) -> Option<String> {
    env::var(name).ok()
}

fn required(name: &str) -> Result<String> {
    match env::var(name) {
        Ok(value) => Ok(value),
        Err(env::VarError::NotPresent) => {
            Err(Error::new(format!("the environment variable `{name}` is not set"))
                .with_hint("offload-build is called from a build script that cargo runs"))
        }
        Err(env::VarError::NotUnicode(value)) => {
            let text = value.to_string_lossy();
            Err(Error::new(format!("the value `{}` of `{name}` is not UTF-8", text.escape_default()))
                .with_hint("move the package to a directory whose path is UTF-8"))
        }
    }
}
