//! `man`: the manual, one page for the whole and one for each command, named as `man` looks for them.

use std::path::Path;

use clap::Command;
use clap_mangen::Man;

use crate::cli;
use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::output::Output;
use crate::publish::publish;

pub(super) fn run(output: &Output, args: &cli::Man) -> Result<ExitStatus> {
    let mut command = cli::of_program();
    command.build();
    match &args.directory {
        None => output.document(&page(&command)?)?,
        Some(directory) => {
            std::fs::create_dir_all(directory)
                .map_err(|error| Error::io("create directory", directory, &error))?;
            pages(output, directory, &command)?;
        }
    }
    Ok(ExitStatus::Success)
}

fn pages(output: &Output, directory: &Path, command: &Command) -> Result<()> {
    let name = format!("{}.1", command.get_display_name().unwrap_or(command.get_name()).replace(' ', "-"));
    publish(&directory.join(&name), &page(command)?)?;
    output.message(&serde_json::json!({ "reason": "man", "file": name }), &format!("wrote {name}"))?;
    let commands = command.get_subcommands().filter(|command| command.get_name() != "help");
    commands
        .filter(|command| !command.is_hide_set())
        .try_for_each(|command| pages(output, directory, command))
}

fn page(command: &Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    let written = Man::new(command.clone()).render(&mut page);
    written.map_err(|error| Error::io("write", Path::new("the manual"), &error))?;
    Ok(page)
}
