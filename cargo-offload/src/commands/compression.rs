//! `compression`: the setting in `offload.toml`, and the size of a build's or a file's images in each mode.

mod estimate;
mod file_images;
mod measure;
mod sample;
mod trial;

use serde::Serialize;
use toml_edit::Value;

use self::measure::{Coverage, Measurement};
use crate::cargo::artifact;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::Result;
use crate::print::output::Output;
use crate::settings::compression::{Word, parse, settings_of};
use crate::settings::offload_toml::ConfigFile;

#[derive(Debug, Serialize)]
struct SettingMessage<'a> {
    reason: &'static str,
    value: &'a str,
}

pub(super) fn run(output: &Output, args: &cli::Compression) -> Result<ExitStatus> {
    let setting = setting(output, args)?;
    if args.value.is_some() || args.setting {
        return Ok(ExitStatus::Success);
    }
    match artifact::path_if_any(output, args.on.as_deref(), &args.cargo)? {
        Some(path) => {
            let extent = if args.exact { Coverage::Everything } else { Coverage::Sample };
            measure::print(output, &path, Measurement { setting, extent, search: args.deep.search() })
        }
        None => Ok(ExitStatus::Success),
    }
}

/// Changes the setting if that is asked for, prints it, and returns what a packer does for it.
fn setting(output: &Output, args: &cli::Compression) -> Result<Option<offload_packer::Settings>> {
    let config = args.file.config.as_deref();
    let mut file = match ConfigFile::find(config) {
        None if args.on.is_some() => return Ok(None),
        None if args.value.is_none() => None,
        _ => Some(ConfigFile::open(config)?),
    };
    if let (Some(value), Some(file)) = (&args.value, &mut file) {
        file.set_compression(value_of(value)?);
        file.save()?;
    }
    let default = "\"balanced\" in release builds, \"none\" in others (default)";
    let value = file.as_ref().and_then(ConfigFile::compression).unwrap_or_else(|| default.to_string());
    output.message(&SettingMessage { reason: "compression", value: &value }, &value)?;
    settings_of(file.as_ref().map(ConfigFile::compression_words).unwrap_or_default())
}

fn value_of(text: &str) -> Result<Value> {
    Ok(match parse(text)? {
        Word::Mode(mode) => Value::from(mode.to_string()),
        Word::Level(level) => Value::InlineTable([("level", i64::from(level))].into_iter().collect()),
    })
}
