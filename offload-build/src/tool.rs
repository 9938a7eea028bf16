//! What every step of a build uses, and running tools: the only module that starts processes.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::UNIX_EPOCH;

use crate::cache::Cache;
use crate::env::CargoEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::jobs::Jobs;

/// What every step of a build uses; made once for a build script.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) env: CargoEnv,
    pub(crate) cache: Cache,
    pub(crate) jobs: Jobs,
}

impl Context {
    /// That of this build script.
    pub(crate) fn of_build_script() -> Result<Context> {
        let jobs = Jobs::from_env();
        let env = CargoEnv::read()?;
        let cache = Cache::open(&env)?;
        Ok(Context { env, cache, jobs })
    }

    /// That of a program that is no build script, see [`CargoEnv::of_machine`].
    pub(crate) fn of_machine(directory: &Path, scratch: &Path) -> Result<Context> {
        let env = CargoEnv::of_machine(directory, scratch);
        let cache = Cache::open(&env)?;
        Ok(Context { env, cache, jobs: Jobs::alone() })
    }
}

/// A program, resolved once to an absolute path.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    pub(crate) path: PathBuf,
    /// What `--version` printed, or empty where the tool has no such option.
    pub(crate) version: String,
}

/// One run of a tool.
#[derive(Debug)]
pub(crate) struct Invocation<'a> {
    pub(crate) program: &'a Path,
    pub(crate) args: Vec<OsString>,
    pub(crate) directory: &'a Path,
    pub(crate) input: Option<&'a str>,
}

/// What a successful run printed.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Tool {
    /// What changes when the tool does: part of every cache key.
    pub(crate) fn identity(&self) -> Result<String> {
        Ok(format!("{}\n{}", file_stamp(&self.path)?, self.version))
    }
}

/// A file's path, size and time of change: enough to notice that another one was installed there.
pub(crate) fn file_stamp(path: &Path) -> Result<String> {
    let failed = |error| Error::io("inspect", path, error);
    let data = path.metadata().map_err(failed)?;
    let modified = data.modified().map_err(failed)?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{} {} {}", path.display(), data.len(), modified.as_nanos()))
}

/// Processes: as many at once as cargo allows, with a clean environment.
impl Context {
    /// Runs a tool to its end.
    ///
    /// # Errors
    /// If it cannot be started or does not exit with 0; the error holds all that it printed.
    pub(crate) fn run(&self, invocation: &Invocation<'_>) -> Result<Output> {
        let (status, result) = self.finish(invocation)?;
        if status.success() {
            return Ok(result);
        }
        // ocloc reports on standard output, everything else on standard error.
        let said = [result.stderr, result.stdout].join("\n");
        let said = dedup_lines(said.trim());
        let ended = format!("{status} ({invocation})");
        let error = if said.is_empty() { Error::new(ended) } else { Error::new(said).note(ended) };
        Err(error.with_kind(ErrorKind::Tool))
    }

    /// What a tool prints, however it ends: ocloc shows its help and fails.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn said(&self, invocation: &Invocation<'_>) -> Result<String> {
        let (_, result) = self.finish(invocation)?;
        Ok([result.stdout, result.stderr].join("\n"))
    }

    fn finish(&self, invocation: &Invocation<'_>) -> Result<(ExitStatus, Output)> {
        let token = self.jobs.token();
        let output = self.spawn(invocation).map_err(|error| {
            Error::io("run", invocation.program, error).with_hint("check that the file is executable")
        })?;
        drop(token);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_string();
        Ok((output.status, Output { stdout: text(&output.stdout), stderr: text(&output.stderr) }))
    }

    /// Programs that were unpacked into a folder have their libraries there, where no loader looks.
    fn environment_of(&self, program: &Path) -> Vec<(&'static str, OsString)> {
        const NAME: &str = "LD_LIBRARY_PATH";
        let mut variables = self.env.child_environment();
        let mut paths: Vec<OsString> =
            self.env.toolchain_libraries(program).into_iter().map(PathBuf::into_os_string).collect();
        if !paths.is_empty() {
            paths.extend(variables.iter().find(|(name, _)| *name == NAME).map(|(_, value)| value.clone()));
            variables.retain(|(name, _)| *name != NAME);
            // The separator of such lists on the systems that have such libraries.
            variables.push((NAME, paths.join(OsStr::new(":"))));
        }
        variables
    }

    fn spawn(&self, invocation: &Invocation<'_>) -> std::io::Result<std::process::Output> {
        let mut child = Command::new(invocation.program)
            .args(&invocation.args)
            .current_dir(invocation.directory)
            .env_clear()
            .envs(self.environment_of(invocation.program))
            .stdin(if invocation.input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take();
        thread::scope(|scope| {
            if let (Some(mut pipe), Some(text)) = (stdin, invocation.input) {
                // A tool that stops reading says why itself; the broken pipe is no news.
                scope.spawn(move || pipe.write_all(text.as_bytes()));
            }
            child.wait_with_output()
        })
    }
}

impl fmt::Display for Invocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program.display())?;
        self.args.iter().try_for_each(|arg| write!(f, " {}", quoted(arg)))
    }
}

fn quoted(arg: &OsStr) -> String {
    let text = arg.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// ocloc repeats each error up to six times.
fn dedup_lines(text: &str) -> String {
    let mut seen = std::collections::BTreeSet::new();
    // Only messages: the source lines and carets below them may well be equal.
    let message = |line: &str| line.contains("error:") || line.starts_with("in kernel");
    let keep = |line: &&str| !line.is_empty() && (!message(line) || seen.insert(line.to_string()));
    text.lines().filter(keep).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted() {
        let args = ["-O2", "a b", "it's", ""].map(OsString::from).into();
        let invocation =
            Invocation { program: Path::new("clang"), args, directory: Path::new("."), input: None };
        assert_eq!(invocation.to_string(), r"clang -O2 'a b' 'it'\''s' ''");
    }

    #[test]
    fn repeated_errors_are_said_once() {
        assert_eq!(dedup_lines("error: a\n  ^\nerror: a\n  ^\nerror: b"), "error: a\n  ^\n  ^\nerror: b");
    }
}
