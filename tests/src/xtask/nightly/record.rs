//! The tasks that passed at one commit, in a file from which an interrupted run continues.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;
use serde_json::{Value, json};

#[derive(Debug)]
pub(super) struct Record {
    file: PathBuf,
    commit: String,
    /// Seconds, by the task's name.
    passed: BTreeMap<String, u64>,
}

impl Record {
    /// An empty record for the commit that is checked out.
    pub(super) fn new(workspace: &Workspace) -> Result<Record> {
        let mut commit = git(workspace, &["rev-parse", "HEAD"])?;
        if !git(workspace, &["status", "--porcelain"])?.is_empty() {
            commit.push_str(" with changes");
        }
        Ok(Record { file: workspace.target_dir.join("nightly.json"), commit, passed: BTreeMap::new() })
    }

    /// The record that an earlier run at the same commit has left.
    ///
    /// # Errors
    /// If there is none, it is of another commit, or the checkout has changes.
    pub(super) fn resumed(self) -> Result<Record> {
        let Record { file, commit, .. } = self;
        // Two runs with changes may have different ones.
        if commit.contains(' ') {
            let error = Error::new("`nightly --resume` needs a checkout without changes");
            return Err(error.hint("`git commit` or `git stash` them"));
        }
        let text = fs::read(&file).map_err(|error| {
            Error::new(format!("cannot read {}: {error}", file.display()))
                .hint("run `cargo xtask nightly` without `--resume` first")
        })?;
        let whole: Value = serde_json::from_slice(&text)?;
        let earlier = whole.get("commit").and_then(Value::as_str).unwrap_or_default();
        if earlier != commit {
            let error = Error::new(format!("{} is of {earlier}, and this is {commit}", file.display()));
            return Err(error.hint("run `cargo xtask nightly` without `--resume`"));
        }
        let mut passed = BTreeMap::new();
        for (name, time) in whole.get("passed").and_then(Value::as_object).into_iter().flatten() {
            passed.insert(name.clone(), time.as_u64().unwrap_or_default());
        }
        Ok(Record { file, commit, passed })
    }

    /// How long the task took, if it passed.
    pub(super) fn time_of(&self, task: &str) -> Option<Duration> {
        self.passed.get(task).copied().map(Duration::from_secs)
    }

    /// Adds a task that passed, and writes the file.
    pub(super) fn add(&mut self, task: &str, time: Duration) -> Result<()> {
        self.passed.insert(task.to_string(), time.as_secs());
        let text = serde_json::to_vec_pretty(&json!({ "commit": self.commit, "passed": self.passed }))?;
        // By rename: an interrupt leaves the old file or the new one.
        let unfinished = self.file.with_extension("unfinished");
        fs::write(&unfinished, text)?;
        Ok(fs::rename(&unfinished, &self.file)?)
    }
}

fn git(workspace: &Workspace, args: &[&str]) -> Result<String> {
    Ok(workspace.shell.cmd("git").args(args).quiet().read()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(dir: &tempfile::TempDir, commit: &str) -> Record {
        Record { file: dir.path().join("nightly.json"), commit: commit.into(), passed: BTreeMap::new() }
    }

    #[test]
    fn tasks_that_passed_at_the_same_commit_are_resumed() {
        let dir = tempfile::tempdir().unwrap();
        record(&dir, "a").add("kill", Duration::from_secs(7)).unwrap();
        let resumed = record(&dir, "a").resumed().unwrap();
        assert_eq!(resumed.time_of("kill"), Some(Duration::from_secs(7)));
        assert_eq!(resumed.time_of("bombs"), None);
        assert!(record(&dir, "b").resumed().unwrap_err().to_string().contains("is of a"));
        assert!(record(&dir, "a with changes").resumed().is_err());
    }

    #[test]
    fn resuming_needs_a_first_run() {
        let dir = tempfile::tempdir().unwrap();
        assert!(record(&dir, "a").resumed().unwrap_err().to_string().contains("cannot read"));
    }
}
