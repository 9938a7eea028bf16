//! What has passed of this night, in a file: an interrupted night goes on from there.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;
use serde_json::{Map, Value, json};

/// What a check or a task has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) tried: String,
    pub(super) found: String,
    pub(super) seconds: u64,
}

/// What has passed at one commit.
#[derive(Debug)]
pub(super) struct Record {
    file: PathBuf,
    commit: String,
    passed: BTreeMap<String, Shown>,
}

impl Record {
    /// A record without entries, for what is checked out.
    pub(super) fn new(workspace: &Workspace) -> Result<Record> {
        let git = |args: &[&str]| workspace.shell.cmd("git").args(args).quiet().read();
        let changes = match git(&["status", "--porcelain"])?.is_empty() {
            true => "",
            false => " with changes",
        };
        let commit = format!("{}{changes}", git(&["rev-parse", "HEAD"])?);
        Ok(Record { file: workspace.target_dir.join("nightly.json"), commit, passed: BTreeMap::new() })
    }

    /// With what an earlier run has left, which was of the same commit.
    pub(super) fn resumed(self) -> Result<Record> {
        let Record { file, commit, .. } = self;
        // What changed since a run with changes is not known.
        if commit.contains(' ') {
            let error = Error::new("`nightly --resume` goes on at a commit, and this checkout has changes");
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
        let passed = whole.get("passed").and_then(Value::as_object).into_iter().flatten();
        let passed = passed.map(|(name, shown)| (name.clone(), Shown::from_json(shown))).collect();
        Ok(Record { file, commit, passed })
    }

    /// What `name` has shown, if it has passed.
    pub(super) fn get(&self, name: &str) -> Option<&Shown> {
        self.passed.get(name)
    }

    /// Keeps what `name` has shown, which has passed.
    pub(super) fn add(&mut self, name: String, shown: Shown) -> Result<()> {
        self.passed.insert(name, shown);
        let passed: Map<String, Value> =
            self.passed.iter().map(|(name, shown)| (name.clone(), shown.to_json())).collect();
        let text = serde_json::to_vec_pretty(&json!({ "commit": self.commit, "passed": passed }))?;
        // Whoever ends this run in the middle of it leaves the file as it was.
        let unfinished = self.file.with_extension("unfinished");
        fs::write(&unfinished, text)?;
        Ok(fs::rename(&unfinished, &self.file)?)
    }
}

impl Shown {
    fn to_json(&self) -> Value {
        json!({ "tried": self.tried, "found": self.found, "seconds": self.seconds })
    }

    fn from_json(value: &Value) -> Shown {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
        let seconds = value.get("seconds").and_then(Value::as_u64).unwrap_or_default();
        Shown { tried: text("tried"), found: text("found"), seconds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(dir: &tempfile::TempDir, commit: &str) -> Record {
        Record { file: dir.path().join("nightly.json"), commit: commit.into(), passed: BTreeMap::new() }
    }

    #[test]
    fn what_passed_at_the_same_commit_is_known_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let shown = Shown { tried: "3 kills".into(), found: "0 torn".into(), seconds: 7 };
        record(&dir, "a").add("kill".into(), shown.clone()).unwrap();
        let resumed = record(&dir, "a").resumed().unwrap();
        assert_eq!(resumed.get("kill"), Some(&shown));
        assert_eq!(resumed.get("bombs"), None);
        assert!(record(&dir, "b").resumed().unwrap_err().to_string().contains("is of a"));
        assert!(record(&dir, "a with changes").resumed().is_err());
    }

    #[test]
    fn there_is_nothing_to_go_on_from_without_a_first_run() {
        let dir = tempfile::tempdir().unwrap();
        assert!(record(&dir, "a").resumed().unwrap_err().to_string().contains("cannot read"));
    }
}
