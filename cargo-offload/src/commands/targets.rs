//! `targets`: the list of targets in `offload.toml`.

mod list;

use offload_format::{Target, TargetSet};
use std::path::Path;

use serde::Serialize;

use crate::cli::{self, Named, TargetsAction};
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::print::output::Output;
use crate::settings::offload_toml::{ConfigFile, ListedTarget, Presence};

#[derive(Debug, Serialize)]
struct Message<'a> {
    reason: &'static str,
    target: &'a str,
    changed: bool,
}

#[derive(Debug, Serialize)]
struct SetMessage {
    reason: &'static str,
    targets: Vec<String>,
    optional: Vec<String>,
    /// Command that restores the previous list.
    undo: String,
}

pub(super) fn run(output: &Output, args: &cli::Targets) -> Result<ExitStatus> {
    let config = args.file.config.as_deref();
    match &args.action {
        None | Some(TargetsAction::List) => list(output, config)?,
        Some(TargetsAction::Add { targets }) => add(output, &mut ConfigFile::open(config)?, targets)?,
        Some(TargetsAction::Set { targets }) => set(output, &mut ConfigFile::open(config)?, targets)?,
        Some(TargetsAction::Remove { targets }) => remove(output, &mut ConfigFile::open(config)?, targets)?,
    }
    Ok(ExitStatus::Success)
}

fn list(output: &Output, config: Option<&Path>) -> Result<()> {
    if ConfigFile::find(config).is_none() {
        output.status("no offload.toml found, listing the default targets; `cargo offload init` creates one");
    }
    list::print(output, &ConfigFile::built_targets(config)?)
}

fn add(output: &Output, file: &mut ConfigFile, named: &Named) -> Result<()> {
    let mut changes = Vec::new();
    for target in listed(named)? {
        let added = file.add(&target)?;
        changes.push((target.name, added));
    }
    file.save()?;
    for (target, changed) in &changes {
        let text = if *changed { format!("added {target}") } else { format!("{target} is already listed") };
        output.message(&Message { reason: "added", target, changed: *changed }, &text)?;
    }
    Ok(())
}

fn set(output: &Output, file: &mut ConfigFile, named: &Named) -> Result<()> {
    let before = file.targets()?;
    let now = listed(named)?;
    file.set(&now)?;
    file.save()?;
    let undo = match before.as_slice() {
        [] => format!("remove `targets` from `{}`", file.path().display()),
        some => format!("cargo offload targets set {}", command_line(some)),
    };
    let text = if before == now {
        format!("the targets are already {}", command_line(&now))
    } else {
        format!("the targets are now {}\nundo: {undo}", command_line(&now))
    };
    let targets = names(&now, Presence::Required);
    let optional = names(&now, Presence::Optional);
    output.message(&SetMessage { reason: "set", targets, optional, undo }, &text)
}

/// The list in the words of a command line.
fn command_line(targets: &[ListedTarget]) -> String {
    let mut words = names(targets, Presence::Required);
    for name in names(targets, Presence::Optional) {
        words.push(format!("--optional={name}"));
    }
    words.join(" ")
}

fn names(targets: &[ListedTarget], presence: Presence) -> Vec<String> {
    targets.iter().filter(|target| target.presence == presence).map(|target| target.name.clone()).collect()
}

/// The named targets without duplicates, checked before the file changes.
fn listed(named: &Named) -> Result<Vec<ListedTarget>> {
    let required = named.targets.iter().map(|text| (text, Presence::Required));
    let optional = named.optional.iter().map(|text| (text, Presence::Optional));
    let mut all: Vec<ListedTarget> = Vec::new();
    for (text, presence) in required.chain(optional) {
        let name = canonical(text)?;
        if !all.iter().any(|there| there.name == name) {
            all.push(ListedTarget { name, presence });
        }
    }
    Ok(all)
}

/// A target or a set as the configuration spells it.
fn canonical(text: &str) -> Result<String> {
    if let Ok(set) = text.parse::<TargetSet>() {
        return Ok(set.to_string());
    }
    text.parse::<Target>().map(|target| target.to_string()).map_err(|error| Error::usage(error.to_string()))
}

fn remove(output: &Output, file: &mut ConfigFile, targets: &[String]) -> Result<()> {
    for target in targets {
        if !file.remove(target)? {
            let there: Vec<String> = file.targets()?.into_iter().map(|target| target.name).collect();
            let error =
                Error::usage(format!("`{}` is not in `{}`", target.escape_default(), file.path().display()));
            return Err(error.hint(format!("it has {}", there.join(", "))));
        }
    }
    file.save()?;
    for target in targets {
        output
            .message(&Message { reason: "removed", target, changed: true }, &format!("removed {target}"))?;
    }
    Ok(())
}
