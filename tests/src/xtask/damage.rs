//! `damage`: a million damaged files for each reader.

use std::process::{Command, ExitCode};

use offload_tests::error::Result;
use offload_tests::workspace::{self, Workspace};

pub(crate) const HELP: &str = "damage [EDITS]  give every reader a million files with random edits, and count panics, slow cases and memory

Also every truncation, every flipped bit of a header and boundary values in every field; what a reader accepts is
decoded. The table says how many damaged files hit each field.";

const EDITS: &str = "1000000";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let edits = args.first().map_or(EDITS, String::as_str);
    let cargo =
        workspace.cargo().args(["test", "--release", "--package", "offload-containers", "--all-features"]);
    // Sums that wrap would go unseen in a release build.
    let cargo = cargo.env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true");
    let cargo = cargo.args(["--test", "damage", "--", "--nocapture"]).env("OFFLOAD_DAMAGE_EDITS", edits);
    Ok(workspace::exit_code(Command::from(cargo).status()?))
}
