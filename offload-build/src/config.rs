//! The merged configuration: targets, compression and options of modules.

pub(crate) mod misspelt;
mod place;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use offload_packer::{MAX_LEVEL, Mode, Settings};
use offload_protocol::variable;

use self::place::Clues;
use crate::embed::Embedding;
use crate::env::{CargoEnv, Profile, Runner};
use crate::error::{Error, Result};
use crate::fs;
use crate::options::Options;
use crate::remote::RemoteSettings;
use crate::request::KernelModule;
use crate::settings::{self, Table, Value};
use crate::targets::{NamedTarget, Presence, required_target};
use crate::vendor::UseVendored;

/// What the application decides.
#[derive(Debug, PartialEq)]
pub(crate) struct Config {
    pub(crate) targets: Vec<NamedTarget>,
    pub(crate) compression: Settings,
    /// The default of modules.
    strip: Option<bool>,
    pub(crate) embedding: Embedding,
    pub(crate) vendored: UseVendored,
    pub(crate) remote: Option<RemoteSettings>,
    /// By kernel module.
    modules: BTreeMap<String, Options>,
    /// The `offload.toml` that was read.
    file: Option<PathBuf>,
}

/// Targets of a build without configuration: all CPUs, and all OpenCL devices that take SPIR-V.
pub const DEFAULT_TARGETS: [&str; 2] = ["host", "spirv64"];

/// The settings of one place; `None` leaves the decision to an earlier one.
#[derive(Default)]
struct Layer {
    targets: Option<Vec<NamedTarget>>,
    compression: Option<Compression>,
    strip: Option<bool>,
    embed: Option<Embedding>,
    vendored: Option<UseVendored>,
    remote: Option<RemoteSettings>,
    modules: BTreeMap<String, Options>,
    /// Where that stands, if not in a manifest or the environment.
    file: Option<PathBuf>,
}

impl Config {
    /// Options of the module `name`: those of build.rs, overridden by the configuration.
    pub(crate) fn options(&self, name: &str, build: &Options) -> Options {
        let mut options = self.modules.get(name).map_or_else(|| build.clone(), |it| build.clone().with(it));
        options.strip = options.strip.or(self.strip);
        options
    }

    /// Whether settings are for modules that are none of `modules`.
    pub(crate) fn names_others_than(&self, modules: &[KernelModule<'_>]) -> bool {
        self.modules.keys().any(|name| modules.iter().all(|module| module.name != name))
    }

    /// Merges library defaults, `offload.toml` and the environment; later ones win.
    pub(crate) fn load(env: &CargoEnv) -> Result<Config> {
        let layers = [manifest_layer(env)?, file_layer(env)?, environment_layer(env)?];
        let wanted = layers.iter().filter_map(|layer| layer.compression);
        let compression = Compression::supported(Compression::merged(wanted, &env.profile)?)?;
        let strip = layers.iter().filter_map(|layer| layer.strip).next_back();
        let embedding = layers.iter().filter_map(|layer| layer.embed).next_back().unwrap_or_default();
        let vendored = layers.iter().filter_map(|layer| layer.vendored).next_back().unwrap_or_default();
        let targets = Vec::new();
        let modules = BTreeMap::new();
        let file = layers.iter().find_map(|layer| layer.file.clone());
        let remote = layers.iter().find_map(|layer| layer.remote.clone());
        let remote = RemoteSettings::overridden(remote, env.setting(variable::REMOTE))?;
        let mut config = Config { targets, compression, strip, embedding, vendored, remote, modules, file };
        for text in DEFAULT_TARGETS {
            config.targets.push(required_target(text)?);
        }
        for layer in layers {
            config.targets = layer.targets.unwrap_or(config.targets);
            for (name, options) in layer.modules {
                let earlier = config.modules.remove(&name).unwrap_or_default();
                config.modules.insert(name, earlier.with(&options));
            }
        }
        if env.var(variable::OPTIONAL).is_some_and(|value| value != "0") {
            config.targets.iter_mut().for_each(|wanted| wanted.presence = Presence::Optional);
        }
        Ok(config)
    }
}

impl Layer {
    const KEYS: [&str; 10] = [
        "targets",
        "compression",
        "strip",
        "embed",
        "vendored",
        "remote",
        "require",
        "except",
        "allow-unread",
        "modules",
    ];

    fn read(table: Table<'_>) -> Result<Layer> {
        table.only(&Layer::KEYS)?;
        let modules = table.optional("modules", |value| value.table()?.collect(Options::read))?;
        // For `cargo offload verify`: a build asks nothing of it.
        table.optional("require", |value| value.each(Value::string))?;
        table.optional("except", Value::table)?;
        table.optional("allow-unread", |value| value.each(Value::string))?;
        Ok(Layer {
            targets: table.optional("targets", |value| value.each(NamedTarget::read))?,
            compression: table.optional("compression", |value| value.read(Compression::read))?,
            strip: table.optional("strip", Value::bool)?,
            embed: table.optional("embed", Value::parse)?,
            vendored: table.optional("vendored", Value::parse)?,
            remote: None,
            modules: modules.unwrap_or_default(),
            file: None,
        })
    }

    /// That of the application's file, in `directory`. Libraries do not choose other machines.
    fn read_file(table: Table<'_>, directory: &Path) -> Result<Layer> {
        let remote = table.optional("remote", |value| RemoteSettings::read(value, directory))?;
        Ok(Layer { remote, ..Layer::read(table)? })
    }
}

/// The table `remote` of `file` as build scripts hand it to `cargo-offload`, overridden by the value of the variable.
///
/// # Errors
/// If the file cannot be read, or is wrong.
pub fn remote_table(file: Option<&Path>, given: Option<OsString>) -> Result<Option<String>> {
    let mut layer = Layer::default();
    if let Some(path) = file {
        let path = std::path::absolute(path).map_err(|error| Error::io("find", path, error))?;
        let directory = path.parent().unwrap_or(&path);
        layer = parse(&fs::read_text(&path)?, &path, |table| Layer::read_file(table, directory))?;
    }
    let remote = RemoteSettings::overridden(layer.remote, given)?;
    Ok(remote.map(|remote| remote.to_toml()))
}

fn manifest_layer(env: &CargoEnv) -> Result<Layer> {
    let path = env.manifest_dir.join("Cargo.toml");
    // Other build systems show a build script its declared inputs alone.
    if env.runner == Runner::Other && !path.exists() {
        return Ok(Layer::default());
    }
    env.depends_on(&path);
    parse(&fs::read_text(&path)?, &path, manifest_settings)
}

/// Only this part of a manifest is looked at.
fn manifest_settings(manifest: Table<'_>) -> Result<Layer> {
    let metadata = manifest.get("package").and_then(|package| package.get("metadata")?.get("offload"));
    let remote = metadata.and_then(|value| value.get("remote"));
    if let Some(remote) = remote {
        let error = Error::new("a package does not choose the machines that compile");
        return Err(remote.refuse(error.with_hint("write `remote` into the application's offload.toml")));
    }
    metadata.map_or(Ok(Layer::default()), |value| Layer::read(value.table()?))
}

fn file_layer(env: &CargoEnv) -> Result<Layer> {
    let Some(path) = settings_file(env)? else { return Ok(Layer::default()) };
    env.depends_on(&path);
    let directory = path.parent().unwrap_or(&env.manifest_dir);
    let layer = parse(&fs::read_text(&path)?, &path, |table| Layer::read_file(table, directory))?;
    Ok(Layer { file: Some(path), ..layer })
}

/// The `offload.toml` of this build, if there is one.
fn settings_file(env: &CargoEnv) -> Result<Option<PathBuf>> {
    let named = env.var(variable::CONFIG);
    // A path from `.cargo/config.toml` ends with a dot.
    let workspace = env.var(variable::WORKSPACE);
    let workspace = workspace.map(|dir| env.manifest_dir.join(dir).components().collect());
    let clues = Clues {
        runner: env.runner,
        package: env.package.clone(),
        manifest_dir: env.manifest_dir.clone(),
        out_dir: env.out_dir.clone(),
        workspace,
        started_in: env.setting(variable::PWD).map(PathBuf::from),
    };
    match named {
        Some(path) => named_file(env, &clues, Path::new(&path)).map(Some),
        None => found_file(env, &clues),
    }
}

/// What OFFLOAD_CONFIG names. Cargo makes the path absolute if the setting says `relative = true`.
fn named_file(env: &CargoEnv, clues: &Clues, path: &Path) -> Result<PathBuf> {
    let path = env.manifest_dir.join(path);
    if !path.exists() {
        return Err(Error::new(format!("OFFLOAD_CONFIG names `{}`, which does not exist", path.display()))
            .with_hint("name a file that is there, or unset OFFLOAD_CONFIG: `cargo offload init` writes an offload.toml"));
    }
    let nearest = clues.places().ok().flatten().and_then(|places| place::first_of(&places.files));
    if let (Some(file), Some(dir)) = (nearest, path.parent())
        && file.parent() != Some(dir)
        && file.starts_with(dir)
    {
        env.warn(&format!(
            "`{}` is not read: OFFLOAD_CONFIG names `{}`. Without it each package takes the nearest",
            file.display(),
            path.display()
        ));
    }
    Ok(path)
}

/// The nearest file of the application. Those that would come before it are watched for.
fn found_file(env: &CargoEnv, clues: &Clues) -> Result<Option<PathBuf>> {
    let Some(places) = clues.places()? else {
        env.warn(&format!(
            "cannot tell for which application `{}` is built: no `offload.toml` was looked for",
            env.package
        ));
        return Ok(None);
    };
    let found = place::first_of(&places.files);
    for file in places.files.iter().take_while(|file| Some(*file) != found.as_ref()) {
        env.appears(file);
    }
    if let (Some(unread), Some(root)) = (&places.unread, places.files.first()) {
        let decides = if found.is_some() { "decides" } else { "would decide" };
        env.warn(&format!(
            "`{}` is not read: this build is of another application, and its `{}` {decides}",
            unread.display(),
            root.display()
        ));
    }
    Ok(found)
}

fn environment_layer(env: &CargoEnv) -> Result<Layer> {
    let mut layer = Layer {
        compression: parse_variable(env, variable::COMPRESSION)?,
        embed: parse_variable(env, variable::EMBED)?,
        vendored: parse_variable(env, variable::VENDORED)?,
        ..Layer::default()
    };
    if let Some(list) = text_variable(env, variable::TARGETS)? {
        let mut targets = Vec::new();
        for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            targets.push(required_target(name).map_err(|error| error.context(variable::TARGETS))?);
        }
        layer.targets = Some(targets);
    }
    Ok(layer)
}

fn parse_variable<T: FromStr<Err = Error>>(env: &CargoEnv, name: &str) -> Result<Option<T>> {
    let Some(text) = text_variable(env, name)? else { return Ok(None) };
    text.parse().map(Some).map_err(|error: Error| error.context(name))
}

fn text_variable(env: &CargoEnv, name: &str) -> Result<Option<String>> {
    let value = env.var(name).map(std::ffi::OsString::into_string).transpose();
    value.map_err(|_| Error::new(format!("the value of `{name}` is not UTF-8")))
}

fn parse(text: &str, path: &Path, read: impl FnOnce(Table<'_>) -> Result<Layer>) -> Result<Layer> {
    settings::read(text, read).map_err(|error| error.context(format!("`{}`", path.display())))
}

/// What one place says; the rest is left to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Compression {
    mode: Option<Mode>,
    level: Option<i32>,
}

impl Compression {
    /// What the last place says that says something, completed by what is usual for the profile.
    fn merged(places: impl Iterator<Item = Compression>, profile: &Profile) -> Result<Settings> {
        let Compression { mode, level } = places.last().unwrap_or_default();
        let mode = mode.unwrap_or_else(|| usual_mode(profile, level));
        if level.is_some() && matches!(mode, Mode::None | Mode::Archive) {
            return Err(Error::new(format!("the compression \"{mode}\" has no level"))
                .with_hint("leave `level` out, or choose \"fast\", \"balanced\" or \"max\""));
        }
        Ok(Settings { mode, level: level.unwrap_or(mode.default_level()) })
    }

    /// Refuses what this build of this crate cannot do.
    fn supported(settings: Settings) -> Result<Settings> {
        if cfg!(feature = "archive") || settings.mode != Mode::Archive {
            return Ok(settings);
        }
        let version = env!("CARGO_PKG_VERSION");
        Err(Error::new("the compression \"archive\" needs the feature `archive` of offload-build").with_hint(
            format!(
                "write offload-build = {{ version = \"{version}\", features = [\"archive\"] }} below [build-dependencies] of any package of the build, or choose \"max\""
            ),
        ))
    }

    /// `"balanced"`, `{ level = 19 }`, or `{ mode = "max", level = 20 }`.
    fn read(value: Value<'_>) -> Result<Compression> {
        Compression::from_value(value).ok_or_else(|| unknown(&value.to_string()))
    }

    fn from_value(value: Value<'_>) -> Option<Compression> {
        if let Some(text) = value.as_str() {
            return Some(Compression { mode: Some(text.parse().ok()?), level: None });
        }
        let mut compression = Compression::default();
        for (key, value) in value.as_table()?.entries() {
            match (key, value.as_str(), value.as_integer()) {
                ("mode", Some(mode), _) => compression.mode = Some(mode.parse().ok()?),
                ("level", _, Some(level)) => compression.level = Some(checked(level)?),
                _ => return None,
            }
        }
        Some(compression)
    }
}

/// Development builds do not compress: their programs stay on the machine that builds them, and the libraries that
/// compress need no optimised build there. A level asks for compression all the same.
fn usual_mode(profile: &Profile, level: Option<i32>) -> Mode {
    match (profile.release, level) {
        (true, _) => Mode::Balanced,
        (false, Some(_)) => Mode::Fast,
        (false, None) => Mode::None,
    }
}

/// A mode or a level.
impl FromStr for Compression {
    type Err = Error;

    fn from_str(text: &str) -> Result<Compression> {
        let level = text.parse().ok().and_then(checked);
        match (text.parse(), level) {
            (Ok(mode), _) => Ok(Compression { mode: Some(mode), level: None }),
            (_, Some(level)) => Ok(Compression { mode: None, level: Some(level) }),
            _ => Err(unknown(text)),
        }
    }
}

fn checked(level: i64) -> Option<i32> {
    i32::try_from(level).ok().filter(|level| (1..=MAX_LEVEL).contains(level))
}

fn unknown(text: &str) -> Error {
    Error::new(format!("`{text}` is not a compression")).with_hint(
        "write \"none\", \"fast\", \"balanced\", \"max\" or \"archive\", or { level = 19 } with a level from 1 to 22",
    )
}

#[cfg(test)]
mod tests;
