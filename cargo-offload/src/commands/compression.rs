//! `compression`: the setting in `offload.toml`.

use serde::Serialize;

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
        file.set_compression(level(value)?);
        file.save()?;
    }
    let default = "{ level = 19 } in release builds, { level = 3 } in others (default)";
    let value = file.compression().unwrap_or_else(|| default.to_string());
    output.message(&Message { reason: "compression", value: &value }, &value)?;
    Ok(ExitStatus::Success)
}

fn level(text: &str) -> Result<Option<i64>> {
    match (text, text.parse()) {
        ("none", _) => Ok(None),
        (_, Ok(level @ 1..=22)) => Ok(Some(level)),
        _ => Err(Error::usage(format!("`{}` is no compression", text.escape_default()))
            .hint("write `none`, or a level from 1 to 22")),
    }
}
