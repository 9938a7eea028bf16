//! `compression`: the setting in `offload.toml`.

use serde::Serialize;
use toml_edit::Value;

use crate::cli;
use crate::compression::{Word, parse};
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
    let mut file = ConfigFile::open(args.file.config.as_deref())?;
    if let Some(value) = &args.value {
        file.set_compression(setting(value)?);
        file.save()?;
    }
    let default = "\"balanced\" in release builds, \"fast\" in others (default)";
    let value = file.compression().unwrap_or_else(|| default.to_string());
    output.message(&Message { reason: "compression", value: &value }, &value)?;
    Ok(ExitStatus::Success)
}

fn setting(text: &str) -> Result<Value> {
    Ok(match parse(text)? {
        Word::Mode(mode) => Value::from(mode.to_string()),
        Word::Level(level) => Value::InlineTable([("level", i64::from(level))].into_iter().collect()),
    })
}
