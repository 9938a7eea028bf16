//! `doctor`: the installed tools, the tools that each target lacks, and the commands that install them.

mod cuda;
mod remote;
mod verdict;

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

pub(super) use self::verdict::verdict;
use crate::cli;
use crate::error::{ExitStatus, Result};
use crate::machine::doctor::{Buildable, Examination, ExaminedTool, examine};
use crate::print::output::Output;
use crate::print::table::Table;
use crate::settings::offload_toml::ConfigFile;

#[derive(Debug, Serialize)]
struct ToolMessage<'a> {
    reason: &'static str,
    name: &'a str,
    purpose: &'a str,
    path: Option<&'a Path>,
    version: Option<&'a str>,
    /// Reason why it cannot be used.
    problem: Option<&'a str>,
    /// The command that installs it here.
    remedy: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct TargetMessage<'a> {
    reason: &'static str,
    target: &'a str,
    buildable: bool,
    lacks: &'a [&'static str],
    better_with: &'a [&'static str],
}

pub(super) fn run(output: &Output, args: &cli::Doctor) -> Result<ExitStatus> {
    if args.targets == [cuda::TOPIC] {
        return cuda::run(output);
    }
    let targets = targets(args)?;
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let examination = examine(Path::new("."), &targets)?;
    print_tools(output, &examination.tools)?;
    print_targets(output, &examination.targets)?;
    print_remedies(output, &examination)?;
    let remote = remote::run(output, args.file.config.as_deref())?;
    let complete = examination.targets.iter().all(|target| target.lacks.is_empty());
    Ok(remote.worse(if complete { ExitStatus::Success } else { ExitStatus::CheckFailed }))
}

fn targets(args: &cli::Doctor) -> Result<Vec<String>> {
    if !args.targets.is_empty() {
        return Ok(args.targets.clone());
    }
    let built = ConfigFile::built_targets(args.file.config.as_deref())?;
    Ok(built.into_iter().map(|target| target.name).collect())
}

fn print_tools(output: &Output, tools: &[ExaminedTool]) -> Result<()> {
    let mut table = Table::new(&["tool", "version", "path"]);
    for tool in tools {
        let (version, path) = match &tool.outcome {
            Ok(found) => {
                (found.version.as_deref().map_or("-", number).to_string(), found.path.display().to_string())
            }
            Err(_) => ("-".to_string(), "not found".to_string()),
        };
        table.row(vec![tool.name.into(), version, path]);
    }
    let messages: Vec<ToolMessage<'_>> = tools.iter().map(tool_message).collect();
    output.table(&messages, &table)
}

/// The number in what a tool says of its version, as `22.1.8`; all that it says if there is none.
fn number(version: &str) -> &str {
    let is_number =
        |word: &&str| word.trim_start_matches(['v', 'V']).starts_with(|c: char| c.is_ascii_digit());
    version.split(' ').find(is_number).map_or(version, |word| word.trim_end_matches(','))
}

fn tool_message(tool: &ExaminedTool) -> ToolMessage<'_> {
    let found = tool.outcome.as_ref().ok();
    let missing = tool.outcome.as_ref().err();
    ToolMessage {
        reason: "tool",
        name: tool.name,
        purpose: tool.purpose,
        path: found.map(|found| found.path.as_path()),
        version: found.and_then(|found| found.version.as_deref()),
        problem: missing.map(|missing| missing.message()),
        remedy: missing.and_then(|missing| missing.hint()),
    }
}

fn print_targets(output: &Output, targets: &[Buildable]) -> Result<()> {
    output.space()?;
    let mut table = Table::new(&["target", "buildable", "optional tools"]);
    for Buildable { target, lacks, better_with, .. } in targets {
        table.row(vec![target.clone(), verdict(lacks), better_with.join(", ")]);
        if !lacks.is_empty() {
            table.problem("buildable");
        }
    }
    let messages: Vec<TargetMessage<'_>> = targets.iter().map(target_message).collect();
    output.table(&messages, &table)
}

fn target_message(target: &Buildable) -> TargetMessage<'_> {
    let Buildable { target, lacks, better_with, .. } = target;
    TargetMessage { reason: "target", target, buildable: lacks.is_empty(), lacks, better_with }
}

/// One line for each command; the objects of tools have them as well.
fn print_remedies(output: &Output, examination: &Examination) -> Result<()> {
    let wanted: BTreeSet<&str> = examination
        .targets
        .iter()
        .flat_map(|target| target.lacks.iter().chain(&target.better_with))
        .copied()
        .collect();
    let missing = examination.tools.iter().filter(|tool| wanted.contains(tool.name));
    let unserved = examination.targets.iter().filter_map(|target| target.unserved.as_ref());
    for error in unserved.clone() {
        output.space()?;
        output.remark(error.message())?;
    }
    let missing = missing.filter_map(|tool| tool.outcome.as_ref().err());
    let remedies: BTreeSet<&str> = missing.chain(unserved).filter_map(offload_build::Error::hint).collect();
    if !remedies.is_empty() {
        output.space()?;
    }
    remedies.iter().try_for_each(|remedy| output.remark(&format!("hint: {remedy}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_version_is_shown() {
        for (version, shown) in [
            ("Debian clang version 22.1.8 (1~deb12u1)", "22.1.8"),
            ("Debian LLD 22.1.8 (compatible with GNU linkers)", "22.1.8"),
            ("SPIRV-Tools v2023.1 unknown hash, 2023-02-15T14:03:51", "v2023.1"),
            ("Cuda compilation tools, release 12.9, V12.9.86", "12.9"),
            ("Intel(R) oneAPI DPC++/C++ Compiler", "Intel(R) oneAPI DPC++/C++ Compiler"),
        ] {
            assert_eq!(number(version), shown);
        }
    }
}
