//! `init`: `offload.toml`, and the setting through which every build script of the graph finds it.

use std::path::Path;

use serde::Serialize;
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

use crate::cli;
use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::output::Output;
use crate::publish::publish;

const OFFLOAD_TOML: &str = "\
# For which machines the kernels of this workspace are compiled.
# `cargo offload targets add TARGET` edits this list; the next build follows.
targets = [\"host\", \"spirv64\"]
";

#[derive(Debug, Serialize)]
struct Message<'a> {
    reason: &'static str,
    file: &'a str,
    changed: bool,
}

pub(super) fn run(output: &Output, args: &cli::Init) -> Result<ExitStatus> {
    let config = args.directory.join("offload.toml");
    let new = !config.exists();
    if new {
        publish(&config, OFFLOAD_TOML.as_bytes())?;
    }
    say(output, "offload.toml", new)?;
    let changed = add_setting(&args.directory.join(".cargo/config.toml"))?;
    say(output, ".cargo/config.toml", changed)?;
    Ok(ExitStatus::Success)
}

fn say(output: &Output, file: &str, changed: bool) -> Result<()> {
    let text = if changed { format!("wrote {file}") } else { format!("{file} has it already") };
    output.message(&Message { reason: "init", file, changed }, &text)
}

/// `[env] OFFLOAD_CONFIG`, unless it is set; everything else in the file stays.
fn add_setting(path: &Path) -> Result<bool> {
    let text = if path.exists() {
        std::fs::read_to_string(path).map_err(|error| Error::io("read", path, &error))?
    } else {
        String::new()
    };
    let mut document: DocumentMut =
        text.parse().map_err(|error| Error::usage(format!("`{}`: {error}", path.display())))?;
    let env = document.entry("env").or_insert(Item::Table(Table::new()));
    let env = env
        .as_table_like_mut()
        .ok_or_else(|| Error::usage(format!("`env` in `{}` is no table", path.display())))?;
    if env.contains_key("OFFLOAD_CONFIG") {
        return Ok(false);
    }
    let mut value = InlineTable::new();
    value.insert("value", "offload.toml".into());
    value.insert("relative", true.into());
    env.insert("OFFLOAD_CONFIG", Item::Value(Value::InlineTable(value)));
    let parent = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(|error| Error::io("create directory", parent, &error))?;
    publish(path, document.to_string().as_bytes())?;
    Ok(true)
}
