//! `compression`: the setting in `offload.toml`, and what each mode makes of a build's images.

mod measure;

use serde::Serialize;
use toml_edit::Value;

use crate::artifact;
use crate::cli;
use crate::compression::{Word, parse, settings_of};
use crate::config_file::ConfigFile;
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::output::Output;

#[derive(Debug, Serialize)]
struct Message<'a> {
    reason: &'static str,
    value: &'a str,
}

pub(super) fn run(output: &Output, args: &cli::Compression) -> Result<ExitStatus> {
    let setting = setting(output, args)?;
    if args.value.is_some() || args.setting {
        return Ok(ExitStatus::Success);
    }
    if let Some(path) = artifact::path_if_any(output, args.on.as_deref(), &args.cargo)? {
        measure::print(output, &path, setting)?;
    }
    Ok(ExitStatus::Success)
}

/// Changes the setting if that is asked for, prints it, and returns what a packer does for it.
fn setting(output: &Output, args: &cli::Compression) -> Result<Option<offload_format::packer::Settings>> {
    if args.on.is_some() && ConfigFile::find(args.file.config.as_deref()).is_none() {
        return Ok(None);
    }
    let mut file = ConfigFile::open(args.file.config.as_deref())?;
    if let Some(value) = &args.value {
        file.set_compression(value_of(value)?);
        file.save()?;
    }
    let default = "\"balanced\" in release builds, \"fast\" in others (default)";
    let value = file.compression().unwrap_or_else(|| default.to_string());
    output.message(&Message { reason: "compression", value: &value }, &value)?;
    settings_of(file.compression_words())
}

fn value_of(text: &str) -> Result<Value> {
    Ok(match parse(text)? {
        Word::Mode(mode) => Value::from(mode.to_string()),
        Word::Level(level) => Value::InlineTable([("level", i64::from(level))].into_iter().collect()),
    })
}
