//! `man`: man pages, one for the program and one per command, with the file names that `man` looks up.

use clap::Command;
use clap_mangen::Man;

use crate::cli;
use crate::error::ExitStatus;
use crate::error::{IoContext, Result};
use crate::files::publish::{create_dir, publish};
use crate::print::output::Output;

pub(super) fn run(output: &Output, args: &cli::Man) -> Result<ExitStatus> {
    let mut command = cli::program_command();
    command.build();
    match &args.directory {
        None => output.document(&page(&command)?)?,
        Some(_) => write(output, args, &pages(&command)?)?,
    }
    Ok(ExitStatus::Success)
}

/// Nothing is written if something is in the way.
fn write(output: &Output, args: &cli::Man, pages: &[Page]) -> Result<()> {
    let Some(directory) = &args.directory else { return Ok(()) };
    let existing = args.force.existing();
    pages.iter().try_for_each(|page| existing.check(&directory.join(&page.name), &page.text))?;
    create_dir(directory)?;
    pages.iter().try_for_each(|Page { name, text }| {
        publish(&directory.join(name), text)?;
        output.done(&serde_json::json!({ "reason": "man", "file": name }), &format!("wrote {name}"))
    })
}

/// A file of the manual.
struct Page {
    name: String,
    text: Vec<u8>,
}

/// That of `command`, then those of the commands below it.
fn pages(command: &Command) -> Result<Vec<Page>> {
    let name = format!("{}.1", command.get_display_name().unwrap_or(command.get_name()).replace(' ', "-"));
    let mut pages = vec![Page { name, text: page(command)? }];
    let commands = command.get_subcommands().filter(|command| command.get_name() != "help");
    for command in commands.filter(|command| !command.is_hide_set()) {
        pages.extend(self::pages(command)?);
    }
    Ok(pages)
}

fn page(command: &Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    let written = Man::new(command.clone()).render(&mut page);
    written.io_context("write", "the manual")?;
    Ok(page)
}
