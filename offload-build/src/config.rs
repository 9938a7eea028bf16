//! For which targets, how compressed: the merged configuration.

mod compression;
mod places;

use std::collections::BTreeMap;
use std::path::Path;

use offload_format::packer::Settings;
use offload_format::{Target, TargetSet};

use self::compression::Compression;
pub(crate) use self::places::{Embedding, UseVendored};
use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::fs;
use crate::options::Options;
use crate::settings::{self, Table, Value};

/// What the application decides.
#[derive(Debug, PartialEq)]
pub(crate) struct Config {
    pub(crate) targets: Vec<NamedTarget>,
    pub(crate) compression: Settings,
    /// For modules of which nothing else is said.
    strip: Option<bool>,
    pub(crate) embedding: Embedding,
    pub(crate) vendored: UseVendored,
    /// By kernel module.
    modules: BTreeMap<String, Options>,
}

/// An entry of the list of targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedTarget {
    pub(crate) name: TargetName,
    pub(crate) presence: Presence,
}

/// What an entry names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TargetName {
    Target(Target),
    Set(TargetSet),
}

/// A target, after sets have been resolved.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WantedTarget {
    pub(crate) target: Target,
    pub(crate) presence: Presence,
}

/// Whether a build without the target is a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Presence {
    Required,
    Optional,
}

/// What is compiled for when nobody says anything: it runs everywhere, and on every OpenCL device that takes SPIR-V.
pub const DEFAULT_TARGETS: [&str; 2] = ["host", "spirv64"];

/// The settings of one place; `None` leaves the decision to an earlier one.
#[derive(Default)]
struct Layer {
    targets: Option<Vec<NamedTarget>>,
    compression: Option<Compression>,
    strip: Option<bool>,
    embed: Option<Embedding>,
    vendored: Option<UseVendored>,
    modules: BTreeMap<String, Options>,
}

impl Config {
    /// What is said of the module `name`, on top of what build.rs says.
    pub(crate) fn options(&self, name: &str, build: &Options) -> Options {
        let mut options = self.modules.get(name).map_or_else(|| build.clone(), |it| build.clone().with(it));
        options.strip = options.strip.or(self.strip);
        options
    }

    /// Merges library defaults, `offload.toml` and the environment; later ones win.
    pub(crate) fn load(env: &CargoEnv) -> Result<Config> {
        let layers = [manifest_layer(env)?, file_layer(env)?, environment_layer(env)?];
        let wanted = layers.iter().filter_map(|layer| layer.compression);
        let compression = Compression::supported(Compression::merged(wanted, &env.profile)?)?;
        let strip = layers.iter().filter_map(|layer| layer.strip).next_back();
        let embedding = layers.iter().filter_map(|layer| layer.embed).next_back().unwrap_or_default();
        let vendored = layers.iter().filter_map(|layer| layer.vendored).next_back().unwrap_or_default();
        let (targets, modules) = (Vec::new(), BTreeMap::new());
        let mut config = Config { targets, compression, strip, embedding, vendored, modules };
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
        if env.var("OFFLOAD_OPTIONAL").is_some_and(|value| value != "0") {
            config.targets.iter_mut().for_each(|wanted| wanted.presence = Presence::Optional);
        }
        Ok(config)
    }
}

impl Layer {
    const KEYS: [&str; 6] = ["targets", "compression", "strip", "embed", "vendored", "modules"];

    fn read(table: Table<'_>) -> Result<Layer> {
        table.only(&Layer::KEYS)?;
        let modules = table.optional("modules", |value| value.table()?.collect(Options::read))?;
        Ok(Layer {
            targets: table.optional("targets", |value| value.each(NamedTarget::read))?,
            compression: table.optional("compression", |value| value.read(Compression::read))?,
            strip: table.optional("strip", Value::bool)?,
            embed: table.optional("embed", Value::parse)?,
            vendored: table.optional("vendored", Value::parse)?,
            modules: modules.unwrap_or_default(),
        })
    }
}

fn manifest_layer(env: &CargoEnv) -> Result<Layer> {
    let path = env.manifest_dir.join("Cargo.toml");
    env.depends_on(&path);
    // Only this part of a manifest is looked at.
    let layer = |manifest: Table<'_>| {
        let metadata = manifest.get("package").and_then(|package| package.get("metadata")?.get("offload"));
        metadata.map_or(Ok(Layer::default()), |value| Layer::read(value.table()?))
    };
    parse(&fs::read_text(&path)?, &path, layer)
}

/// A settings file that nothing names is a mistake that would stay unseen.
fn tell_of_unnamed(env: &CargoEnv) {
    let path = env.manifest_dir.join("offload.toml");
    if path.exists() {
        env.warn(&format!(
            "`{}` is not read: OFFLOAD_CONFIG does not name it (`cargo offload init` says so in .cargo/config.toml)",
            path.display()
        ));
    }
}

fn file_layer(env: &CargoEnv) -> Result<Layer> {
    let Some(path) = env.var("OFFLOAD_CONFIG") else {
        tell_of_unnamed(env);
        return Ok(Layer::default());
    };
    // Cargo makes the path absolute if the setting says `relative = true`.
    let path = env.manifest_dir.join(path);
    if !path.exists() {
        return Err(Error::new(format!("OFFLOAD_CONFIG names `{}`, which does not exist", path.display()))
            .with_hint("`cargo offload init` writes one"));
    }
    env.depends_on(&path);
    parse(&fs::read_text(&path)?, &path, Layer::read)
}

fn environment_layer(env: &CargoEnv) -> Result<Layer> {
    let text = |name: &str| {
        let value = env.var(name).map(std::ffi::OsString::into_string).transpose();
        value.map_err(|_| Error::new(format!("the value of `{name}` is not UTF-8")))
    };
    let targets = text("OFFLOAD_TARGETS")?.map(|list| {
        let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.map(required_target).collect::<Result<Vec<_>>>().map_err(|e| e.context("OFFLOAD_TARGETS"))
    });
    let compression = text("OFFLOAD_COMPRESSION")?
        .map(|text| text.parse::<Compression>().map_err(|error| error.context("OFFLOAD_COMPRESSION")));
    let embed = text("OFFLOAD_EMBED")?
        .map(|text| text.parse::<Embedding>().map_err(|error| error.context("OFFLOAD_EMBED")));
    let vendored = text("OFFLOAD_VENDORED")?
        .map(|text| text.parse::<UseVendored>().map_err(|error| error.context("OFFLOAD_VENDORED")));
    Ok(Layer {
        targets: targets.transpose()?,
        compression: compression.transpose()?,
        embed: embed.transpose()?,
        vendored: vendored.transpose()?,
        ..Layer::default()
    })
}

fn parse(text: &str, path: &Path, read: impl FnOnce(Table<'_>) -> Result<Layer>) -> Result<Layer> {
    settings::read(text, read).map_err(|error| error.context(format!("`{}`", path.display())))
}

impl NamedTarget {
    /// `"intel:pvc"` or `{ name = "intel:pvc", optional = true }`.
    fn read(value: Value<'_>) -> Result<NamedTarget> {
        if let Some(text) = value.as_str() {
            return value.read(|_| required_target(text));
        }
        let name = value.get("name").and_then(Value::as_str).ok_or_else(|| {
            let error = Error::new(format!("`{value}` is no target"));
            value.refuse(error.with_hint("write \"intel:pvc\" or { name = \"intel:pvc\", optional = true }"))
        })?;
        let optional = value.get("optional").and_then(Value::as_bool).unwrap_or(false);
        let presence = if optional { Presence::Optional } else { Presence::Required };
        Ok(NamedTarget { presence, ..value.read(|_| required_target(name))? })
    }
}

fn required_target(text: &str) -> Result<NamedTarget> {
    // Sets are few: an error looks for what was meant among all names, which takes its time.
    let name = match TargetSet::ALL.into_iter().find(|set| set.name() == text) {
        Some(set) => TargetName::Set(set),
        None => TargetName::Target(
            text.parse().map_err(|error: offload_format::UnknownTarget| Error::new(error.to_string()))?,
        ),
    };
    Ok(NamedTarget { name, presence: Presence::Required })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Layer> {
        super::parse(text, Path::new("offload.toml"), Layer::read)
    }

    #[test]
    fn targets_may_be_optional() {
        let layer = parse(r#"targets = ["host", { name = "intel:pvc", optional = true }]"#).unwrap();
        let targets = layer.targets.unwrap();
        assert_eq!(targets[0].presence, Presence::Required);
        assert_eq!(targets[1].presence, Presence::Optional);
        assert_eq!(targets[1].name, TargetName::Target("intel:pvc".parse().unwrap()));
    }

    #[test]
    fn sets_have_names() {
        let targets = parse(r#"targets = ["portable", { name = "all-amd", optional = true }]"#)
            .unwrap()
            .targets
            .unwrap();
        assert_eq!(targets[0].name, TargetName::Set(TargetSet::Portable));
        assert_eq!(
            (&targets[1].name, targets[1].presence),
            (&TargetName::Set(TargetSet::AllAmd), Presence::Optional)
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("targets = 3", "expected a sequence"),
            ("targets = [3]", "`3` is no target"),
            ("targets = [\"intel:pcv\"]", "intel:pvc"),
            (
                "target = []",
                "unknown field `target`, expected one of `targets`, `compression`, `strip`, `embed`, `vendored`, `modules`",
            ),
            ("compression = { level = 99 }", "from 1 to 22"),
            ("compression = \"lots\"", "\"balanced\""),
        ] {
            let error = parse(text).err().unwrap().to_string();
            assert!(
                error.contains(part) && error.contains("offload.toml") && error.contains("line 1"),
                "{error}"
            );
        }
    }

    #[test]
    fn the_documented_file_is_understood() {
        let doc = include_str!("lib.rs").lines().map(|line| line.strip_prefix("//! ").unwrap_or_default());
        let text: Vec<&str> =
            doc.skip_while(|line| *line != "```toml").skip(1).take_while(|line| *line != "```").collect();
        let layer = parse(&text.join("\n")).unwrap();
        let options = &layer.modules["attention"];
        options.check().unwrap();
        assert_eq!(options.combinations().unwrap().len(), 4);
        assert_eq!((layer.strip, options.strip), (Some(false), Some(true)));
        assert_eq!((options.registers_of("forward"), options.registers_of("other")), (Some(255), Some(128)));
        assert_eq!((options.syclbin.is_some(), options.syclbin_libraries.len()), (true, 1));
        assert_eq!(layer.targets.unwrap().len(), 4);
    }
}
