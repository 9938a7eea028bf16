//! Launches of a build's kernels in a program of its own, which a wrong kernel may take down.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use offload_tests::error::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::builds::BuildKind;
use crate::case::Case;
use crate::compare::{MismatchKind, Run};
use crate::harness::Harness;
use crate::process::{self, Ending, Watch};

/// A launch has so long. PoCL compiles a kernel when it is launched.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where Debian's package tells the loader of PoCL.
const POCL: &str = "/etc/OpenCL/vendors/pocl.icd";

/// Begins a line of the runner's standard output, before the number of the case whose lines follow.
pub const CASE_LINE: &str = "\u{1}case ";

/// A line that the runner writes into the file of results.
#[derive(Debug, Serialize, Deserialize)]
pub enum Event {
    /// A case is launched.
    Begun(usize),
    /// It has ended, and its buffers have these words.
    Done(Vec<Vec<u32>>),
    /// It was refused, or failed, for this reason.
    Refused(String),
}

/// What became of a launch.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Done(Run),
    Failed(MismatchKind),
}

/// A pack, and which of its images runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) kind: BuildKind,
    pub(crate) pack: &'a Path,
    /// The image's target.
    pub(crate) target: &'a str,
}

/// The files of the runner.
struct Files {
    cases: PathBuf,
    results: PathBuf,
    output: PathBuf,
    errors: PathBuf,
}

/// Launches all of `cases`. Behind one that takes the runner down, another runner goes on.
pub(crate) fn launch_all(
    harness: &Harness,
    folder: &Path,
    launch: Launch<'_>,
    cases: &[&Case],
) -> Result<Vec<Outcome>> {
    let files = Files {
        cases: folder.join("cases.json"),
        results: folder.join("results"),
        output: folder.join("printed"),
        errors: folder.join("runner-errors"),
    };
    fs::write(&files.cases, serde_json::to_vec(cases)?)?;
    for file in [&files.results, &files.output] {
        fs::write(file, "")?;
    }
    let mut outcomes: Vec<Outcome> = Vec::new();
    while outcomes.len() < cases.len() {
        let first = outcomes.len();
        let ending = run(harness, folder, launch, &files, first)?;
        let found = read(&files, cases)?;
        for outcome in found.into_iter().skip(first) {
            outcomes.push(match outcome {
                Some(outcome) => outcome,
                None => Outcome::Failed(death(&ending, &files)),
            });
        }
        if outcomes.len() == first {
            return Err(no_launch(&ending, &files));
        }
    }
    Ok(outcomes)
}

fn run(harness: &Harness, folder: &Path, launch: Launch<'_>, files: &Files, first: usize) -> Result<Ending> {
    let mut command = Command::new(harness.runner());
    command.arg(launch.pack).arg(launch.target).arg(&files.cases).arg(&files.results).arg(first.to_string());
    // PoCL writes graphs of what it does not understand into the current directory.
    command.current_dir(folder);
    command.env("POCL_CACHE_DIR", folder.join("pocl")).env("OCL_ICD_VENDORS", POCL);
    match launch.kind {
        BuildKind::Sanitized => command.env("OFFLOAD_SANITIZE", "1"),
        _ => command.env_remove("OFFLOAD_SANITIZE"),
    };
    let watch = Watch {
        errors: &files.errors,
        output: &files.output,
        progress: Some(&files.results),
        patience: PATIENCE,
    };
    process::run(&mut command, watch)
}

/// The outcomes of the cases that were begun; nothing for one that did not end.
fn read(files: &Files, cases: &[&Case]) -> Result<Vec<Option<Outcome>>> {
    let mut outcomes: Vec<Option<Outcome>> = Vec::new();
    for line in String::from_utf8_lossy(&fs::read(&files.results)?).lines() {
        // A line that is cut off belongs to a case that did not end.
        let Ok(event) = serde_json::from_str(line) else { continue };
        let outcome = match event {
            Event::Begun(_) => {
                outcomes.push(None);
                continue;
            }
            Event::Done(buffers) => Outcome::Done(Run { buffers, lines: Vec::new() }),
            Event::Refused(text) => Outcome::Failed(MismatchKind::Refused(text)),
        };
        if let Some(last) = outcomes.last_mut() {
            *last = Some(outcome);
        }
    }
    let printed = String::from_utf8_lossy(&fs::read(&files.output)?).into_owned();
    for part in printed.split(CASE_LINE).skip(1) {
        let Some((number, lines)) = part.split_once('\n') else { continue };
        let number: Option<usize> = number.parse().ok();
        let Some(number) = number.filter(|number| cases.get(*number).is_some_and(|case| case.prints)) else {
            continue;
        };
        if let Some(Some(Outcome::Done(run))) = outcomes.get_mut(number) {
            let printed_lines = lines.lines().filter(|line| !line.is_empty());
            run.lines = printed_lines.map(str::to_string).collect();
        }
    }
    Ok(outcomes)
}

/// How the case in flight took the runner down.
fn death(ending: &Ending, files: &Files) -> MismatchKind {
    match ending {
        Ending::TimedOut => MismatchKind::Timeout,
        Ending::Exited(status) => {
            let signal = status.signal().map_or(String::new(), |signal| format!("signal {signal}: "));
            MismatchKind::Crash(format!("{signal}{}", errors(files)))
        }
    }
}

fn no_launch(ending: &Ending, files: &Files) -> Error {
    Error::new(format!("the runner has launched no case: {ending:?}: {}", errors(files)))
}

fn errors(files: &Files) -> String {
    let text = fs::read(&files.errors).unwrap_or_default();
    String::from_utf8_lossy(&text).trim().to_string()
}
