//! `toolchain`: compilers in a directory of the user.

use std::path::{Path, PathBuf};

use offload_build::shared::toolchain::Toolchain;
use serde::Serialize;

use crate::cli::{self, ToolchainAction};
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::machine::toolchain::lock::LOCK_NAME;
use crate::machine::toolchain::part::ToolchainPart;
use crate::machine::toolchain::{self, InstalledToolchain, Plan, Versions};
use crate::print::output::Output;
use crate::print::table::Table;
use crate::print::text::{counted, human_size};
use crate::settings::offload_toml::ConfigFile;

#[derive(Debug, Serialize)]
struct Message<'a> {
    reason: &'static str,
    path: &'a Path,
    lock: &'a Path,
    packages: usize,
    changed: bool,
}

pub(super) fn run(output: &Output, args: &cli::Toolchain) -> Result<ExitStatus> {
    let folder = Toolchain::folder(Path::new("."))
        .ok_or_else(|| Error::usage("this user has no data directory").hint("set OFFLOAD_TOOLCHAIN"))?;
    match &args.action {
        ToolchainAction::Path => output.message(
            &serde_json::json!({ "reason": "toolchain", "path": folder }),
            &folder.display().to_string(),
        )?,
        ToolchainAction::List => list(output, &folder)?,
        ToolchainAction::Remove => {
            toolchain::remove(&folder)?;
            let object = serde_json::json!({ "reason": "removed", "path": folder });
            output.done(&object, &format!("removed {}", folder.display()))?;
        }
        ToolchainAction::Install { parts, lock, update } => {
            let versions = if *update { Versions::Newest } else { Versions::Locked };
            let plan = Plan { lock: lock.clone().unwrap_or_else(|| usual_lock(&folder)), folder, versions };
            install(output, &plan, parts)?;
        }
    }
    Ok(ExitStatus::Success)
}

/// Beside offload.toml, where it can be committed; without one in the folder's parent.
fn usual_lock(folder: &Path) -> PathBuf {
    ConfigFile::find(None)
        .map_or_else(|| folder.with_file_name(LOCK_NAME), |file| file.with_file_name(LOCK_NAME))
}

#[derive(Debug, Serialize)]
struct PartMessage {
    reason: &'static str,
    part: &'static str,
    /// Bytes to download.
    download: Option<u64>,
    installed: bool,
    purpose: &'static str,
}

fn list(output: &Output, folder: &Path) -> Result<()> {
    let there = toolchain::packages_in(folder);
    let mut table = Table::new(&["part", "download", "installed", "contents"]);
    let mut messages = Vec::new();
    for part in ToolchainPart::ALL {
        let installed = part.is_in(&there);
        let size = part.download().map_or("by system".to_string(), human_size);
        let state = if installed { "yes" } else { "no" };
        table.row(vec![part.name().into(), size, state.into(), part.purpose().into()]);
        messages.push(PartMessage {
            reason: "part",
            part: part.name(),
            download: part.download(),
            installed,
            purpose: part.purpose(),
        });
    }
    output.table(&messages, &table)
}

fn install(output: &Output, plan: &Plan, parts: &[ToolchainPart]) -> Result<()> {
    let installed = match parts {
        [] if plan.versions == Versions::Locked && toolchain::lacks_rest(&plan.lock)? => {
            toolchain::add(output, plan, &[ToolchainPart::Llvm, ToolchainPart::Ptxas])?
        }
        [] => toolchain::install(output, plan)?,
        parts => toolchain::add(output, plan, parts)?,
    };
    let InstalledToolchain { packages, changed } = installed;
    let path = plan.folder.as_path();
    let lock = plan.lock.as_path();
    let folder = path.display();
    let file = lock.display();
    let count = counted(packages as u64, "package");
    let text = if changed {
        format!("installed {count} in {folder}; versions and hashes are in `{file}`")
    } else {
        format!("{folder} already has the {count} of `{file}`")
    };
    output.done(&Message { reason: "toolchain", path, lock, packages, changed }, &text)
}
