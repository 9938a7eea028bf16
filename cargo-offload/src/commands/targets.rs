//! `targets`: the list in `offload.toml`.

use offload_format::{Target, TargetSet};
use serde::Serialize;

use crate::cli::{self, TargetsAction};
use crate::config_file::ConfigFile;
use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::output::Output;

#[derive(Debug, Serialize)]
struct Message<'a> {
    reason: &'static str,
    target: &'a str,
    changed: bool,
}

pub(super) fn run(output: &Output, args: &cli::Targets) -> Result<ExitStatus> {
    let mut file = ConfigFile::open(args.file.config.as_deref())?;
    match &args.action {
        None | Some(TargetsAction::List) => {
            for target in file.targets()? {
                output.message(&Message { reason: "target", target: &target, changed: false }, &target)?;
            }
        }
        Some(TargetsAction::Add { targets }) => add(output, &mut file, targets)?,
        Some(TargetsAction::Remove { targets }) => remove(output, &mut file, targets)?,
    }
    Ok(ExitStatus::Success)
}

fn add(output: &Output, file: &mut ConfigFile, targets: &[String]) -> Result<()> {
    // All are checked before the file changes.
    let targets = targets.iter().map(|text| canonical(text)).collect::<Result<Vec<_>>>()?;
    let mut changes = Vec::new();
    for target in targets {
        let added = file.add(&target)?;
        changes.push((target, added));
    }
    file.save()?;
    for (target, changed) in &changes {
        let text = if *changed { format!("added {target}") } else { format!("{target} is there already") };
        output.message(&Message { reason: "added", target, changed: *changed }, &text)?;
    }
    Ok(())
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
            let there = file.targets()?.join(", ");
            let error =
                Error::usage(format!("`{}` is not in `{}`", target.escape_default(), file.path().display()));
            return Err(error.hint(format!("it has {there}")));
        }
    }
    file.save()?;
    for target in targets {
        output
            .message(&Message { reason: "removed", target, changed: true }, &format!("removed {target}"))?;
    }
    Ok(())
}
