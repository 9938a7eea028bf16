//! `targets`: the list in `offload.toml`.

mod list;

use offload_format::{Target, TargetSet};
use std::path::Path;

use serde::Serialize;

use crate::cli::{self, Named, TargetsAction};
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::print::output::Output;
use crate::settings::offload_toml::{ConfigFile, Listed, Presence};

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
    /// What makes the list what it was.
    undo: String,
}

pub(super) fn run(output: &Output, args: &cli::Targets) -> Result<ExitStatus> {
    let config = args.file.config.as_deref();
    let open = || ConfigFile::open(config);
    match &args.action {
        None | Some(TargetsAction::List) => list(output, config)?,
        Some(TargetsAction::Add { targets }) => add(output, &mut open()?, targets)?,
        Some(TargetsAction::Set { targets }) => set(output, &mut open()?, targets)?,
        Some(TargetsAction::Remove { targets }) => remove(output, &mut open()?, targets)?,
    }
    Ok(ExitStatus::Success)
}

fn list(output: &Output, config: Option<&Path>) -> Result<()> {
    if ConfigFile::find(config).is_none() {
        output.status("there is no offload.toml: these are the defaults; `cargo offload init` writes one");
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
        let text = if *changed { format!("added {target}") } else { format!("{target} is there already") };
        output.message(&Message { reason: "added", target, changed: *changed }, &text)?;
    }
    Ok(())
}

fn set(output: &Output, file: &mut ConfigFile, named: &Named) -> Result<()> {
    let (before, now) = (file.targets()?, listed(named)?);
    file.set(&now)?;
    file.save()?;
    let undo = match before.as_slice() {
        [] => format!("remove `targets` from `{}`", file.path().display()),
        some => format!("cargo offload targets set {}", command_line(some)),
    };
    let text = match before == now {
        true => format!("the targets are {} already", command_line(&now)),
        false => format!("the targets are {} now\nundo: {undo}", command_line(&now)),
    };
    let of = |presence| {
        let those = now.iter().filter(move |target| target.presence == presence);
        those.map(|target| target.name.clone()).collect()
    };
    let (targets, optional) = (of(Presence::Required), of(Presence::Optional));
    output.message(&SetMessage { reason: "set", targets, optional, undo }, &text)
}

/// The list in the words of a command line.
fn command_line(targets: &[Listed]) -> String {
    let of = |presence| targets.iter().filter(move |target| target.presence == presence);
    let names = of(Presence::Required).map(|target| target.name.clone());
    let optional = of(Presence::Optional).map(|target| format!("--optional={}", target.name));
    names.chain(optional).collect::<Vec<_>>().join(" ")
}

/// What was named, all of it checked before the file changes; each once.
fn listed(named: &Named) -> Result<Vec<Listed>> {
    let of = |words: &[String], presence| {
        let listed = |text: &String| Ok(Listed { name: canonical(text)?, presence });
        words.iter().map(listed).collect::<Result<Vec<_>>>()
    };
    let mut all: Vec<Listed> = Vec::new();
    for target in [of(&named.targets, Presence::Required)?, of(&named.optional, Presence::Optional)?].concat()
    {
        if !all.iter().any(|there| there.name == target.name) {
            all.push(target);
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
