//! `compression`: the setting in `offload.toml`.

use offload_format::packer::Effort;
use serde::Serialize;
use toml_edit::Value;

use crate::cli;
use crate::config_file::ConfigFile;
use crate::error::{Error, Result};
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
    match (text.parse::<Effort>(), text.parse()) {
        (Ok(mode), _) => Ok(Value::from(mode.to_string())),
        (_, Ok(level @ 1..=22)) => Ok(Value::InlineTable([("level", level)].into_iter().collect())),
        _ => Err(Error::usage(format!("`{}` is no compression", text.escape_default()))
            .hint("write `none`, `fast`, `balanced`, `max` or `archive`, or a level from 1 to 22")),
    }
}
