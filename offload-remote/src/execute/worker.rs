//! Whether workers have the programs of this machine: at the same paths, with the same content.
//!
//! A result of another compiler must never be taken for one of this machine's. So a worker says once what its files are,
//! and the identity of this machine's goes into each action, by which servers find results.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use offload_format::remote::{Action, FileIdentity, Program, Variable};
use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;

use super::prepared::Prepared;
use super::refusal::Refusal;
use super::runner::Runner;
use crate::digest::unhex;
use crate::fault::Fault;
use crate::identity::identify;
use crate::notes::Topic;
use crate::store::Lookup;
use crate::sync::locked;

/// What is known of programs of workers.
#[derive(Debug, Default)]
pub(super) struct Workers {
    verdicts: Mutex<BTreeMap<Program, Arc<OnceCell<Verdict>>>>,
    /// Files that workers have. Programs share large libraries, so one program at a time is asked for.
    files: tokio::sync::Mutex<BTreeSet<(String, [u8; 32])>>,
    failures: Mutex<Failures>,
}

/// Questions that got no answer.
#[derive(Debug, Default)]
struct Failures {
    count: u64,
    last: Option<Fault>,
}

/// The part of the salt that is the program's, or why it is of no use.
type Verdict = Result<Vec<u8>, Refusal>;

const SHA256SUM: &str = "/usr/bin/sha256sum";
/// For reading every file of a compiler.
const SECONDS: u64 = 120;

impl Workers {
    /// The salt of actions that use `programs`; empty for those that use none. A worker is asked once for each program,
    /// unless the asking fails.
    ///
    /// # Errors
    /// The worker has other files, or none, or cannot be asked.
    pub(super) async fn salt(&self, runner: &Runner, programs: &[Program]) -> Result<Vec<u8>, Refusal> {
        let mut salt = Vec::new();
        for program in programs {
            salt.extend(self.salt_of(runner, program).await?);
        }
        Ok(salt)
    }

    async fn salt_of(&self, runner: &Runner, program: &Program) -> Result<Vec<u8>, Refusal> {
        let failures = locked(&self.failures).count;
        let cell = Arc::clone(locked(&self.verdicts).entry(program.clone()).or_default());
        cell.get_or_try_init(|| self.verdict(runner, program, failures))
            .await
            .cloned()
            .map_err(Refusal::from)?
    }

    /// `failures` is what there were when the caller came.
    async fn verdict(&self, runner: &Runner, program: &Program, failures: u64) -> Result<Verdict, Fault> {
        let here = identified(runner, program.clone()).await?;
        Ok(match self.difference(runner, &here, failures).await? {
            None => Ok(salt(&here)),
            Some(difference) => {
                let url = runner.remote.settings.url();
                let text = format!(
                    "commands do not run on `{url}`: {difference}\nhint: install there what is here, or set `tools = \"upload\"` in the table `remote`"
                );
                Err(Refusal::Standing(Topic::Worker(program.path.clone()), text))
            }
        })
    }

    /// Asks for those of `here` that no worker is known to have.
    async fn difference(
        &self,
        runner: &Runner,
        here: &[FileIdentity],
        failures: u64,
    ) -> Result<Option<String>, Fault> {
        let mut known = self.files.lock().await;
        let unknown: Vec<_> = here.iter().filter(|file| !known.contains(&key(file))).cloned().collect();
        if unknown.is_empty() {
            return Ok(None);
        }
        // Who waited for a question without an answer does not wait as long for another one.
        if let Some(fault) = locked(&self.failures).since(failures) {
            return Err(fault);
        }
        let difference =
            ask(runner, &unknown).await.inspect_err(|fault| locked(&self.failures).add(fault))?;
        if difference.is_none() {
            known.extend(unknown.iter().map(key));
        }
        Ok(difference)
    }
}

impl Failures {
    fn add(&mut self, fault: &Fault) {
        self.count = self.count.saturating_add(1);
        self.last = Some(fault.clone());
    }

    fn since(&self, count: u64) -> Option<Fault> {
        self.last.clone().filter(|_| self.count > count)
    }
}

fn key(file: &FileIdentity) -> (String, [u8; 32]) {
    (file.path.clone(), file.sha256)
}

/// The files of a program on this machine.
async fn identified(runner: &Runner, program: Program) -> Result<Vec<FileIdentity>, Fault> {
    let files = Arc::clone(&runner.files);
    let here = tokio::task::spawn_blocking(move || {
        let mut here = identify(&program, &files)?;
        // As it is called; on the worker this may be a link to another file than here.
        let sha256 = files.hashed(program.path.as_ref())?.digest.sha256;
        here.push(FileIdentity { path: program.path, sha256 });
        Ok(here)
    });
    here.await.unwrap_or_else(|error| Err(Fault::lasting(error.to_string())))
}

/// What differs on a worker.
async fn ask(runner: &Runner, here: &[FileIdentity]) -> Result<Option<String>, Fault> {
    let paths = here.iter().map(|file| file.path.clone());
    let action = Action {
        arguments: std::iter::once(SHA256SUM.to_string()).chain(paths).collect(),
        variables: vec![Variable { name: "LC_ALL".into(), value: "C".into() }],
        directory: String::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        programs: Vec::new(),
        seconds: SECONDS,
    };
    // An earlier answer may be that of a worker as it was.
    let terms = runner.terms(Vec::new(), Lookup::Never);
    let prepared = Prepared::of(action, terms, &runner.files).await?;
    let server = runner.remote.stores.server.as_ref().ok_or_else(|| Fault::lasting("no server"))?;
    let answer = runner.outcome(server, &prepared).await?;
    Ok(difference(here, &answer.stdout, &answer.stderr))
}

fn difference(here: &[FileIdentity], stdout: &[u8], stderr: &[u8]) -> Option<String> {
    let stdout = String::from_utf8_lossy(stdout);
    let there: BTreeMap<&str, [u8; 32]> = stdout.lines().filter_map(line).collect();
    if there.is_empty() {
        let said = String::from_utf8_lossy(stderr);
        let said = said.lines().next().unwrap_or("it printed nothing");
        return Some(format!("no worker tells the SHA-256 of `{}` ({said})", here.first()?.path));
    }
    here.iter().find_map(|file| match there.get(file.path.as_str()) {
        Some(sha256) if *sha256 == file.sha256 => None,
        Some(_) => Some(format!("the worker's `{}` is another one", file.path)),
        None => Some(format!("the worker has no `{}`", file.path)),
    })
}

/// A digest, two characters, and the path.
fn line(line: &str) -> Option<(&str, [u8; 32])> {
    let (digits, rest) = line.split_at_checked(64)?;
    Some((rest.get(2..)?, unhex(digits)?))
}

/// Where a file lies does not matter to what it does.
fn salt(here: &[FileIdentity]) -> Vec<u8> {
    let name = |file: &FileIdentity| {
        let name = file.path.rsplit('/').next().unwrap_or_default().to_string();
        (name, file.sha256)
    };
    let mut files: Vec<_> = here.iter().map(name).collect();
    files.sort_unstable();
    let mut hash = Sha256::new();
    for (name, sha256) in files {
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update(sha256);
    }
    hash.finalize().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Vec<FileIdentity> {
        ["/usr/bin/clang-22", "/usr/lib/libLLVM.so"]
            .map(|path| FileIdentity {
                path: path.into(),
                sha256: crate::digest::Digest::of(path.as_bytes()).sha256,
            })
            .into()
    }

    fn said(files: &[FileIdentity]) -> String {
        files.iter().map(|file| format!("{}  {}\n", crate::digest::hex(&file.sha256), file.path)).collect()
    }

    #[test]
    fn a_worker_with_the_same_files_has_no_difference() {
        assert_eq!(difference(&files(), said(&files()).as_bytes(), b""), None);
    }

    #[test]
    fn the_first_other_file_is_named() {
        let mut other = files();
        other[1].sha256[0] ^= 1;
        let found = difference(&files(), said(&other).as_bytes(), b"").unwrap();
        assert_eq!(found, "the worker's `/usr/lib/libLLVM.so` is another one");
        let found = difference(&files(), said(&files()[1..]).as_bytes(), b"no such file").unwrap();
        assert_eq!(found, "the worker has no `/usr/bin/clang-22`");
        let found = difference(&files(), b"", b"sha256sum: not found\nx").unwrap();
        assert_eq!(found, "no worker tells the SHA-256 of `/usr/bin/clang-22` (sha256sum: not found)");
    }

    #[test]
    fn the_salt_goes_by_content_and_name() {
        let mut moved = files();
        moved[0].path = "/opt/clang-22".into();
        moved.reverse();
        assert_eq!(salt(&moved), salt(&files()));
        moved[0].sha256[5] ^= 1;
        assert_ne!(salt(&moved), salt(&files()));
    }
}
