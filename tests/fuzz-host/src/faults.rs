//! Planted faults: whether the fuzzer finds each of them, and how fast.

mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use offload_tests::error::{Error, Result};
use offload_tests::table::Table;
use offload_tests::workspace::{Workspace, seconds};

use self::table::{FAULTS, Fault};
use crate::check::check;
use crate::compare::{Mismatch, MismatchKind};
use crate::harness::Harness;
use crate::hunt::{Bound, Hunt, HuntOutcome};
use crate::written;

/// Default time limit of the search for one fault.
pub const LIMIT: Duration = Duration::from_secs(20 * 60);
/// Where the text of faults stands, in the checkout.
const SOURCES: &str = "offload-workgroup/src";

/// A copy of the checkout, in which faults are planted.
struct Copy<'w> {
    workspace: &'w Workspace,
    root: PathBuf,
    /// Its target directory.
    target: PathBuf,
}

/// Which faults are planted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'w> {
    /// All if there are none.
    pub names: &'w [String],
    /// Of the programs.
    pub seed: u64,
    /// For each fault.
    pub limit: Duration,
}

/// Plants faults, one after the other, and prints what finds each.
///
/// # Errors
/// A name is unknown, the text of a fault does not stand in the sources once, or a tool does not start.
pub fn run(workspace: &Workspace, harness: &Harness, wanted: Wanted<'_>) -> Result<ExitCode> {
    let faults = chosen(wanted.names)?;
    let copy = Copy::new(workspace)?;
    let mut table = Table::new(["fault", "what the compiler believes", "found by", "programs", "time"]);
    let mut missed = 0;
    for fault in &faults {
        let compiler = copy.compiler(fault)?;
        let harness = harness.with_compiler(compiler);
        let start = Instant::now();
        let outcome = Hunt::for_first_fault(&harness, wanted.seed, Bound::Time(wanted.limit)).run()?;
        let found = match found_by(&outcome) {
            Some(found) => Some(found),
            None => found_by_corpus(&harness)?,
        };
        if found.is_none() {
            missed += 1;
        }
        let row = [
            fault.name.to_string(),
            fault.belief.to_string(),
            found.unwrap_or_else(|| "NOT FOUND".to_string()),
            outcome.report.cases.to_string(),
            seconds(start.elapsed()),
        ];
        println!("{}", row.join(" | "));
        table.row(row);
    }
    print!("{table}");
    println!("fuzz-host: {} of {} planted faults found", faults.len().saturating_sub(missed), faults.len());
    Ok(if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn chosen(names: &[String]) -> Result<Vec<Fault>> {
    if names.is_empty() {
        return Ok(FAULTS.to_vec());
    }
    let mut chosen = Vec::new();
    for name in names {
        let fault = FAULTS.iter().find(|fault| fault.name == name);
        let fault = fault.ok_or_else(|| Error::new(format!("there is no fault `{}`", name.escape_debug())));
        chosen.push(*fault?);
    }
    Ok(chosen)
}

/// The first wrong program, and what is wrong with it.
fn found_by(outcome: &HuntOutcome) -> Option<String> {
    let mismatch = outcome.report.faults().min_by_key(|mismatch| mismatch.case)?;
    Some(format!("{}, {}, program {}", kind(mismatch), mismatch.build, mismatch.case))
}

/// The first kernel of the corpus that is wrong, and what is wrong with it.
fn found_by_corpus(harness: &Harness) -> Result<Option<String>> {
    for cases in written::corpus().map_err(Error::new)? {
        let report = check(harness, &cases, &written::BUILDS)?;
        let Some(mismatch) = report.faults().min_by_key(|mismatch| mismatch.case) else { continue };
        let name = cases.get(mismatch.case).map(|case| case.kernel.as_str()).unwrap_or_default();
        return Ok(Some(format!("{}, {}, `{name}` of the corpus", kind(mismatch), mismatch.build)));
    }
    Ok(None)
}

fn kind(mismatch: &Mismatch) -> &'static str {
    match &mismatch.kind {
        MismatchKind::Wrong(_) => "wrong words",
        MismatchKind::Printed(_) => "wrong lines",
        MismatchKind::Crash(_) => "a crash",
        MismatchKind::Timeout => "a timeout",
        MismatchKind::Alarm(_) => "a false alarm",
        MismatchKind::Refused(_) => "a refused launch",
        MismatchKind::Compile(_) => "invalid code",
        MismatchKind::PoclDiffers(_) => "PoCL",
    }
}

impl<'w> Copy<'w> {
    fn new(workspace: &'w Workspace) -> Result<Copy<'w>> {
        let root = workspace.target_dir.join("fuzz-host/faulted");
        if root.exists() {
            fs::remove_dir_all(&root)?;
        }
        let shell = &workspace.shell;
        let files = shell.cmd("git").args(["ls-files", "-co", "--exclude-standard", "-z"]).quiet().read()?;
        for file in files.split('\0').filter(|file| !file.is_empty()) {
            let to = root.join(file);
            let from = workspace.root.join(file);
            if !from.is_file() {
                continue;
            }
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::copy(from, to)?;
        }
        let target = workspace.target_dir.join("fuzz-host/faulted-target");
        Ok(Copy { workspace, root, target })
    }

    /// The compiler with `fault`.
    fn compiler(&self, fault: &Fault) -> Result<PathBuf> {
        let file = file_of(&self.root, fault)?;
        let text = fs::read_to_string(&file)?;
        fs::write(&file, text.replace(fault.find, fault.replace))?;
        let built = self.build();
        fs::write(&file, text)?;
        built?;
        let built = self.target.join("release/offload-fuzz-compiler");
        // The next one is built while nothing runs, but under the same name.
        let compiler = self.target.join(format!("compiler-{}", fault.name));
        fs::copy(built, &compiler)?;
        Ok(compiler)
    }

    fn build(&self) -> Result<()> {
        let manifest = self.root.join("Cargo.toml");
        let cargo = self.workspace.cargo().args(["build", "--quiet", "--release", "--manifest-path"]);
        let cargo = cargo.arg(manifest).args(["--package", "offload-fuzz-compiler"]);
        // Faults leave parts of the code without a use.
        let cargo = cargo.env("CARGO_TARGET_DIR", &self.target).env("RUSTFLAGS", "--cap-lints=allow");
        // One file changes from fault to fault.
        let cargo = cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1").env("CARGO_INCREMENTAL", "1");
        cargo.quiet().run()?;
        Ok(())
    }
}

/// The file of the checkout at `root` that has the text of `fault`.
fn file_of(root: &Path, fault: &Fault) -> Result<PathBuf> {
    let mut files = Vec::new();
    find_sources(&root.join(SOURCES), &mut files)?;
    let mut found = Vec::new();
    for file in files {
        let count = fs::read_to_string(&file)?.matches(fault.find).count();
        found.extend(std::iter::repeat_n(file, count));
    }
    match found.as_slice() {
        [file] => Ok(file.clone()),
        other => {
            let error = Error::new(format!(
                "the text of the fault `{}` stands {} times below {SOURCES}",
                fault.name,
                other.len()
            ));
            Err(error.hint("say in the table of faults how the condition is written now"))
        }
    }
}

fn find_sources(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find_sources(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_each_fault_stands_once_in_the_sources() {
        let workspace = Workspace::find().unwrap();
        for fault in FAULTS {
            assert!(file_of(&workspace.root, &fault).is_ok(), "{}", fault.name);
        }
    }
}
