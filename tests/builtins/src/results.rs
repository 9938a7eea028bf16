//! Results of local devices from a run of the program, and of remote devices from recorded files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::fixture::Fixture;
use super::kernel::PRINTED;
use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Runtime};

/// The verdicts of one device.
#[derive(Clone, Debug)]
pub(crate) struct Results {
    pub(crate) device: String,
    /// What the images were compiled for.
    target: String,
    /// By the labels of the cases.
    pub(crate) verdicts: BTreeMap<String, Verdict>,
}

/// The verdict on one kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    /// Largest error in units in the last place.
    pub(crate) ulp: Option<f64>,
    pub(crate) wrong: u64,
    pub(crate) compared: u64,
    pub(crate) flushed: bool,
    pub(crate) example: Option<String>,
    pub(crate) zero: Option<String>,
    /// Why it did not run.
    pub(crate) failed: Option<String>,
}

/// Where results come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultSource {
    /// The devices of this machine.
    Devices,
    /// Files of an earlier run, where there are some.
    Files,
}

/// The results on the device of this machine that `target` is for, if there is one.
pub(super) fn measure(
    fixture: &Fixture<'_>,
    (program, target): (&Path, &str),
    source: ResultSource,
) -> Result<Vec<Results>> {
    let stem = fixture.output()?.join(target.replace(':', "-"));
    let file = stem.with_extension("json");
    let log = stem.with_extension("out");
    if source == ResultSource::Devices || !file.exists() || !log.exists() {
        let Some(output) = run(fixture, (program, target), &file)? else { return Ok(Vec::new()) };
        fixture.workspace.shell.write_file(&log, output)?;
    }
    let output = fixture.workspace.shell.read_file(&log)?;
    let mut results = read(&file)?;
    for result in &mut results {
        let verdicts = result.verdicts.values_mut().filter(|verdict| verdict.is_print());
        verdicts.for_each(|verdict| verdict.look_for(&output));
    }
    Ok(results)
}

/// What the program printed; nothing where this machine has no such device.
fn run(fixture: &Fixture<'_>, (program, target): (&Path, &str), file: &Path) -> Result<Option<String>> {
    let shell = &fixture.workspace.shell;
    let (name, cmd) = match target {
        "host" => ("host CPU", shell.cmd(program)),
        "spirv64" => {
            let lib = setup::ensure_intel(fixture.workspace, Runtime::OpenCl)?.join("lib");
            let cmd = shell.cmd(program).env("OCL_ICD_VENDORS", "/nonexistent");
            let cmd = cmd.env("OCL_ICD_FILENAMES", lib.join("libintelocl.so")).env("LD_LIBRARY_PATH", lib);
            ("Intel", cmd)
        }
        _ => return Ok(None),
    };
    Ok(Some(cmd.args(["measure", name]).arg(file).quiet().read()?))
}

impl Verdict {
    /// The kernel compared nothing itself: its line is on standard output.
    fn is_print(&self) -> bool {
        self.compared == 0 && self.failed.is_none()
    }

    fn look_for(&mut self, output: &str) {
        self.compared = 1;
        if !output.lines().any(|line| line == PRINTED) {
            self.wrong = 1;
            self.example = Some(format!("`{PRINTED}` was not printed"));
        }
    }
}

/// A file that the program wrote.
pub(super) fn read(file: &Path) -> Result<Vec<Results>> {
    let value: Value = serde_json::from_slice(&std::fs::read(file)?).map_err(|_| broken(file))?;
    value
        .as_array()
        .ok_or_else(|| broken(file))?
        .iter()
        .map(|value| results(value).ok_or_else(|| broken(file)))
        .collect()
}

fn broken(file: &Path) -> Error {
    Error::new(format!("`{}` is no result of the program", file.display()))
}

fn results(value: &Value) -> Option<Results> {
    let verdicts = value.get("kernels")?.as_object()?.iter();
    Some(Results {
        device: value.get("device")?.as_str()?.to_string(),
        target: value.get("target")?.as_str()?.to_string(),
        verdicts: verdicts.map(|(kernel, value)| (kernel.clone(), verdict(value))).collect(),
    })
}

fn verdict(value: &Value) -> Verdict {
    Verdict {
        ulp: value.get("ulp").and_then(Value::as_f64),
        wrong: number(value, "wrong"),
        compared: number(value, "compared"),
        flushed: value.get("flushed").and_then(Value::as_bool).unwrap_or(false),
        example: text(value, "example"),
        zero: text(value, "zero"),
        failed: text(value, "failed"),
    }
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_string)
}

fn number(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or(0)
}

/// Results of devices elsewhere that are kept with the table, in the order of the files' names.
pub(super) fn kept(directory: &Path, target: &str) -> Result<Vec<Results>> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Ok(Vec::new()) };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let mut all = Vec::new();
    for file in files {
        all.extend(read(&file)?.into_iter().filter(|results| results.target == target));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_results_are_those_of_their_target() {
        let dir = tempfile::tempdir().unwrap();
        let text =
            r#"[{"device":"d","target":"nvptx:sm_80","kernels":{"f for float":{"ulp":1.5,"compared":3}}}]"#;
        std::fs::write(dir.path().join("d.json"), text).unwrap();
        std::fs::write(dir.path().join("README.md"), "none").unwrap();
        let found = kept(dir.path(), "nvptx:sm_80").unwrap();
        assert_eq!(found[0].verdicts["f for float"].ulp, Some(1.5));
        assert!(kept(dir.path(), "host").unwrap().is_empty());
        assert!(kept(&dir.path().join("none"), "host").unwrap().is_empty());
    }
}
