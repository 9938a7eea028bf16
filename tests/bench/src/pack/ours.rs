//! Our packer on a set, and every image read back alone.

use std::path::{Path, PathBuf};

use super::cost::Cost;
use super::sets::Set;
use super::tool::{self, Tool};
use crate::rebuild::measure::output;
use offload_tests::error::Result;

/// Packs a set in a mode; the pack is in the file.
pub(super) fn pack(tool: &Tool, set: &Set, (mode, dir): (&str, &Path)) -> Result<(Cost, PathBuf)> {
    let file = dir.join(format!("{mode}.pack"));
    let mut command = tool.command("pack");
    command.arg(&set.dir).arg(&file).arg(mode);
    let ran = tool.measure(&command)?;
    output(tool.command("check").arg(&set.dir).arg(&file))?;
    let mut cost = Cost::new(set, &name(mode))?;
    cost.add(&ran, tool::size(&file)?);
    Ok((cost, file))
}

/// How a mode of ours is called in the table.
pub(super) fn name(mode: &str) -> String {
    format!("offload, {mode}")
}
