//! `toolchain`: compilers in a folder of the user's.

use std::path::{Path, PathBuf};

use offload_build::toolchain::Toolchain;
use serde::Serialize;

use crate::cli::{self, ToolchainAction};
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::machine::toolchain::lock::LOCK_NAME;
use crate::machine::toolchain::{self, Installed, Plan, Versions};
use crate::print::output::Output;
use crate::print::text::counted;
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
        ToolchainAction::Install { lock, update } => {
            let versions = if *update { Versions::Newest } else { Versions::Locked };
            let plan = Plan { lock: lock.clone().unwrap_or_else(|| usual_lock(&folder)), folder, versions };
            install(output, &plan)?;
        }
    }
    Ok(ExitStatus::Success)
}

/// Beside offload.toml, where it can be committed; without one in the folder's parent.
fn usual_lock(folder: &Path) -> PathBuf {
    ConfigFile::find(None)
        .map_or_else(|| folder.with_file_name(LOCK_NAME), |file| file.with_file_name(LOCK_NAME))
}

fn install(output: &Output, plan: &Plan) -> Result<()> {
    let Installed { packages, changed } = toolchain::install(output, plan)?;
    let (path, lock) = (plan.folder.as_path(), plan.lock.as_path());
    let (folder, file) = (path.display(), lock.display());
    let count = counted(packages as u64, "package");
    let text = match changed {
        true => format!("installed {count} in {folder}; `{file}` has the versions and hashes"),
        false => format!("{folder} has the {count} of `{file}` already"),
    };
    output.done(&Message { reason: "toolchain", path, lock, packages, changed }, &text)
}
