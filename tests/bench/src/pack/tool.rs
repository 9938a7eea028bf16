//! The program that does the work, each time as a process of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::rebuild::measure::output;
use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

/// An example, because examples take what only tests depend on.
#[derive(Debug)]
pub(super) struct Tool(PathBuf);

/// Time, memory and printed values of a process.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ran {
    pub(super) seconds: f64,
    /// Peak resident memory in bytes.
    pub(super) peak: u64,
    lines: Vec<(String, f64)>,
}

impl Tool {
    pub(super) fn build(workspace: &Workspace) -> Result<Tool> {
        let args = ["build", "--release", "--quiet", "--package", "offload-tests", "--example", "packs"];
        workspace.cargo().args(args).quiet().run()?;
        Ok(Tool(workspace.target_dir.join("release/examples/packs")))
    }

    /// Its own command.
    pub(super) fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.0);
        command.arg(name);
        command
    }

    /// Runs a command under the tool's eyes.
    pub(super) fn measure(&self, command: &Command) -> Result<Ran> {
        let mut measured = self.command("measure");
        measured.arg(command.get_program()).args(command.get_args());
        Ran::parse(&output(&mut measured)?)
            .ok_or_else(|| Error::new(format!("`{measured:?}` did not say what it measured")))
    }
}

impl Ran {
    fn parse(text: &str) -> Option<Ran> {
        let lines = text.lines().filter_map(|line| {
            let (name, value) = line.split_once(' ')?;
            Some((name.to_string(), value.parse().ok()?))
        });
        let mut ran = Ran { seconds: 0.0, peak: 0, lines: lines.collect() };
        (ran.seconds, ran.peak) = (ran.value("seconds")?, (ran.value("kibibytes")? * 1024.0) as u64);
        Some(ran)
    }

    /// The number behind a word that the process printed.
    pub(super) fn value(&self, name: &str) -> Option<f64> {
        self.lines.iter().find(|(line, _)| line == name).map(|(_, value)| *value)
    }
}

/// The size of a file.
pub(super) fn size(path: &Path) -> Result<u64> {
    let file = std::fs::metadata(path);
    Ok(file.map_err(|error| Error::new(format!("`{}`: {error}", path.display())))?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_says_is_read() {
        let ran = Ran::parse("size 12\nseconds 0.25\nkibibytes 3\n").unwrap();
        assert_eq!(
            (ran.seconds, ran.peak, ran.value("size"), ran.value("sizes")),
            (0.25, 3072, Some(12.0), None)
        );
        assert_eq!(Ran::parse("size 12\nseconds 0.25\n"), None);
    }
}
