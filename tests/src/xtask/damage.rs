//! `damage`: a million damaged files for each reader.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};

use offload_tests::FIGURE;
use offload_tests::error::Result;
use offload_tests::workspace::{self, Workspace};

pub(crate) const HELP: &str = "damage [EDITS]  mutate a million files for the readers, and count panics, slow cases and memory

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
    let mut child = Command::from(cargo).stdout(Stdio::piped()).spawn()?;
    let mut sums = Sums::default();
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufReader::lines) {
        let line = line?;
        sums.add(&line);
        println!("{line}");
    }
    let Sums { readers, files, slowest } = sums;
    println!("{FIGURE}{files} damaged files for {readers} readers; the slowest {slowest} us");
    Ok(workspace::exit_code(child.wait()?))
}

/// Of what the tests print of each reader.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sums {
    readers: u64,
    files: u64,
    /// Microseconds.
    slowest: u64,
}

impl Sums {
    /// Adds a line "kpack: 3000 files, no panic, slowest 12 us, most memory 400 bytes".
    fn add(&mut self, line: &str) {
        let Some((before, after)) = line.split_once(" files, no panic, slowest ") else { return };
        let files = before.rsplit(' ').next().and_then(first_number);
        let (Some(files), Some(slowest)) = (files, first_number(after)) else { return };
        self.readers = self.readers.saturating_add(1);
        self.files = self.files.saturating_add(files);
        self.slowest = self.slowest.max(slowest);
    }
}

fn first_number(text: &str) -> Option<u64> {
    text.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_are_summed() {
        let mut sums = Sums::default();
        sums.add("kpack: 3000 files, no panic, slowest 12 us, most memory 400 bytes");
        sums.add("test ptx ... ptx of text: 20 files, no panic, slowest 30 us, most memory 1 bytes");
        sums.add("    (truncated): 10 files, 2 accepted");
        assert_eq!(sums, Sums { readers: 2, files: 3020, slowest: 30 });
    }
}
