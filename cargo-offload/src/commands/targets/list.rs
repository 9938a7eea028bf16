//! `targets list`: the configured targets, those that the installed tools support, and the tools that each requires.

use std::path::Path;

use serde::Serialize;

use crate::commands::doctor::verdict;
use crate::error::Result;
use crate::machine::doctor::{Buildable, examine};
use crate::print::choice::Verbosity;
use crate::print::output::Output;
use crate::print::table::Table;
use crate::settings::known_targets::{self, Family};
use crate::settings::offload_toml::{ListedTarget, Presence};

#[derive(Debug, Serialize)]
struct TargetMessage<'a> {
    reason: &'static str,
    target: &'a str,
    optional: bool,
    #[serde(flatten)]
    can: TargetSupport<'a>,
}

/// Targets of a family, configured or not.
#[derive(Debug, Serialize)]
struct FamilyMessage<'a> {
    reason: &'static str,
    family: &'a str,
    targets: &'a [&'a str],
    #[serde(flatten)]
    can: TargetSupport<'a>,
}

/// Whether the installed tools can build a target.
#[derive(Debug, Serialize)]
struct TargetSupport<'a> {
    buildable: bool,
    needs: &'a [&'static str],
    lacks: &'a [&'static str],
    better_with: &'a [&'static str],
}

/// Prints the configured targets, then every family of targets.
pub(super) fn print(output: &Output, configured: &[ListedTarget]) -> Result<()> {
    if output.verbosity() == Verbosity::Quiet {
        return configured.iter().try_for_each(|target| output.remark(&target.name));
    }
    let known: Vec<String> = known_targets::targets().map(|target| target.to_string()).collect();
    let families = known_targets::families(&known);
    let examples = families.iter().filter_map(|family| family.targets.first().copied());
    let wanted: Vec<&str> = configured.iter().map(|target| target.name.as_str()).chain(examples).collect();
    let examined = examine(Path::new("."), &wanted)?.targets;
    let (of_configured, of_families) = examined.split_at_checked(configured.len()).unwrap_or_default();
    print_configured(output, configured, of_configured)?;
    output.space()?;
    print_families(output, &families, of_families)?;
    if examined.iter().any(|target| !target.lacks.is_empty()) {
        output.remark("hint: `cargo offload doctor TARGET` shows what installs the missing tools")?;
    }
    Ok(())
}

fn print_configured(output: &Output, configured: &[ListedTarget], examined: &[Buildable]) -> Result<()> {
    let mut table = Table::new(&["target", "buildable", "required tools"]);
    let mut messages = Vec::new();
    for (listed, built) in configured.iter().zip(examined) {
        let optional = listed.presence == Presence::Optional;
        let name = if optional { format!("{} (optional)", listed.name) } else { listed.name.clone() };
        table.row(vec![name, verdict(&built.lacks), built.needs.join(", ")]);
        if !built.lacks.is_empty() {
            table.problem("buildable");
        }
        let target = listed.name.as_str();
        let can = TargetSupport::new(built);
        messages.push(TargetMessage { reason: "target", target, optional, can });
    }
    output.table(&messages, &table)
}

fn print_families(output: &Output, families: &[Family<'_>], examined: &[Buildable]) -> Result<()> {
    let mut table = Table::with_wrapped_cells(&["supported", "buildable", "required tools"]);
    let mut messages = Vec::new();
    for (family, built) in families.iter().zip(examined) {
        let Family { name: family, targets } = family;
        table.row(vec![known_targets::short(targets), verdict(&built.lacks), built.needs.join(", ")]);
        messages.push(FamilyMessage {
            reason: "target-family",
            family,
            targets,
            can: TargetSupport::new(built),
        });
    }
    output.table(&messages, &table)
}

impl<'a> TargetSupport<'a> {
    fn new(built: &'a Buildable) -> TargetSupport<'a> {
        let Buildable { needs, lacks, better_with, .. } = built;
        TargetSupport { buildable: lacks.is_empty(), needs, lacks, better_with }
    }
}
