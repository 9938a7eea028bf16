//! Verification that workers have the same programs as this machine.
//!
//! A result of a different compiler must never be taken for a local one. So a worker hashes its files once, and the identity
//! of the local files is the salt of each action, part of its cache key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use offload_protocol::remote::{Action, FileIdentity, Program, Variable};
use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;

use super::refusal::Refusal;
use super::remote_action::RemoteAction;
use super::runner::Runner;
use crate::digest::unhex;
use crate::fault::Fault;
use crate::identity::identify;
use crate::notes::Topic;
use crate::store::Lookup;
use crate::sync::locked;

/// Verified programs of workers.
#[derive(Debug, Default)]
pub(super) struct Workers {
    verdicts: Mutex<BTreeMap<Program, Arc<OnceCell<Verdict>>>>,
    /// Verified files. Programs share large libraries, so one program is verified at a time.
    files: tokio::sync::Mutex<BTreeSet<(String, [u8; 32])>>,
    failures: Mutex<Failures>,
}

/// Failed verifications.
#[derive(Debug, Default)]
struct Failures {
    count: u64,
    last: Option<Fault>,
}

/// The salt of a program, or the reason not to use it.
type Verdict = Result<Vec<u8>, Refusal>;

const SHA256SUM: &str = "/usr/bin/sha256sum";
/// The timeout for hashing every file of a compiler.
const HASH_TIMEOUT: u64 = 120;

impl Workers {
    /// The salt of actions that use `programs`; empty without programs. Each program is verified once, unless the call fails.
    ///
    /// # Errors
    /// If the worker has different files, or none, or the call fails.
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

    /// Verifies a program. `failures` is the count when the caller started to wait.
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

    /// Verifies the files of `here` that are not verified yet.
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
        // Callers that waited for a failed verification do not wait for another one.
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

/// The local files of a program.
async fn identified(runner: &Runner, program: Program) -> Result<Vec<FileIdentity>, Fault> {
    let files = Arc::clone(&runner.files);
    let here = tokio::task::spawn_blocking(move || {
        let mut here = identify(&program, &files)?;
        // By its uncanonicalized path, which may be a link to another file on the worker.
        let sha256 = files.digest(program.path.as_ref())?.digest.sha256;
        here.push(FileIdentity { path: program.path, sha256 });
        Ok(here)
    });
    here.await.unwrap_or_else(|error| Err(Fault::lasting(error.to_string())))
}

/// Hashes files on a worker, and returns the first difference.
async fn ask(runner: &Runner, here: &[FileIdentity]) -> Result<Option<String>, Fault> {
    let paths = here.iter().map(|file| file.path.clone());
    let action = Action {
        arguments: std::iter::once(SHA256SUM.to_string()).chain(paths).collect(),
        variables: vec![Variable { name: "LC_ALL".into(), value: "C".into() }],
        directory: String::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        programs: Vec::new(),
        seconds: HASH_TIMEOUT,
    };
    // An earlier answer may be that of a worker as it was.
    let options = runner.options(Vec::new(), Lookup::Never);
    let prepared = RemoteAction::build(action, options, &runner.files).await?;
    let server = runner.remote.stores.server.as_ref().ok_or_else(|| Fault::lasting("no server"))?;
    let answer = runner.outcome(server, &prepared).await?;
    Ok(difference(here, &answer.stdout, &answer.stderr))
}

fn difference(here: &[FileIdentity], stdout: &[u8], stderr: &[u8]) -> Option<String> {
    let stdout = String::from_utf8_lossy(stdout);
    let there: BTreeMap<&str, [u8; 32]> = stdout.lines().filter_map(line).collect();
    if there.is_empty() {
        let stderr = String::from_utf8_lossy(stderr);
        let line = stderr.lines().next().unwrap_or("no output");
        return Some(format!("no worker reports the SHA-256 of `{}` ({line})", here.first()?.path));
    }
    here.iter().find_map(|file| match there.get(file.path.as_str()) {
        Some(sha256) if *sha256 == file.sha256 => None,
        Some(_) => Some(format!("the worker's `{}` is another one", file.path)),
        None => Some(format!("the worker has no `{}`", file.path)),
    })
}

/// Parses a line of sha256sum: a digest, two characters, and the path.
fn line(line: &str) -> Option<(&str, [u8; 32])> {
    let (digits, rest) = line.split_at_checked(64)?;
    Some((rest.get(2..)?, unhex(digits)?))
}

/// The salt of files, by name and content; directories do not matter.
fn salt(here: &[FileIdentity]) -> Vec<u8> {
    let mut files = Vec::new();
    for file in here {
        files.push((file.path.rsplit('/').next().unwrap_or_default(), file.sha256));
    }
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
                sha256: crate::digest::Digest::from_bytes(path.as_bytes()).sha256,
            })
            .into()
    }

    fn sha256sum_output(files: &[FileIdentity]) -> String {
        files.iter().map(|file| format!("{}  {}\n", crate::digest::hex(&file.sha256), file.path)).collect()
    }

    #[test]
    fn a_worker_with_the_same_files_has_no_difference() {
        assert_eq!(difference(&files(), sha256sum_output(&files()).as_bytes(), b""), None);
    }

    #[test]
    fn the_first_other_file_is_named() {
        let mut other = files();
        other[1].sha256[0] ^= 1;
        let found = difference(&files(), sha256sum_output(&other).as_bytes(), b"").unwrap();
        assert_eq!(found, "the worker's `/usr/lib/libLLVM.so` is another one");
        let found =
            difference(&files(), sha256sum_output(&files()[1..]).as_bytes(), b"no such file").unwrap();
        assert_eq!(found, "the worker has no `/usr/bin/clang-22`");
        let found = difference(&files(), b"", b"sha256sum: not found\nx").unwrap();
        assert_eq!(found, "no worker reports the SHA-256 of `/usr/bin/clang-22` (sha256sum: not found)");
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
