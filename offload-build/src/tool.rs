//! The context of a build step, and execution of tools. No other module starts processes.

#![allow(clippy::disallowed_methods, reason = "starts processes")]

mod wait;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use offload_jobs::{Jobs, Token};
use offload_protocol::variable;

use self::wait::{End, Finished};
use crate::cache::{self, Cache};
use crate::diagnostics;
use crate::env::CargoEnv;
use crate::error::{Error, ErrorKind, Result};
use crate::jobs;
use offload_cache::Tally;

/// What every step of a build uses; made once for a build script.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) env: CargoEnv,
    pub(crate) cache: Cache,
    pub(crate) jobs: Jobs,
    pub(crate) tool_limit: ToolLimit,
    /// A directory where programs look for their libraries, beside the usual ones.
    pub(crate) libraries: Option<PathBuf>,
    pub(crate) tally: Tally,
}

/// How long a run of a tool may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolLimit(Option<Duration>);

impl Default for ToolLimit {
    /// An hour: longer than any kernel that was seen, shorter than what CI services allow a job.
    fn default() -> ToolLimit {
        ToolLimit(Some(Duration::from_secs(60 * 60)))
    }
}

impl ToolLimit {
    const VAR: &str = variable::TOOL_TIMEOUT;

    /// In seconds; 0 is none.
    pub(crate) fn seconds(self) -> u64 {
        self.0.map_or(0, |limit| limit.as_secs())
    }

    /// That of the variable. It changes no output, so a change of it reruns nothing.
    fn read(env: &CargoEnv) -> Result<ToolLimit> {
        let Some(value) = env.setting(ToolLimit::VAR) else { return Ok(ToolLimit::default()) };
        let text = value.to_string_lossy();
        match text.trim().parse() {
            Ok(0) => Ok(ToolLimit(None)),
            Ok(seconds) => Ok(ToolLimit(Some(Duration::from_secs(seconds)))),
            Err(_) => {
                let error = format!(
                    "the value `{}` of `{}` is not understood",
                    text.escape_default(),
                    ToolLimit::VAR
                );
                Err(Error::new(error)
                    .with_hint(format!("write {}=3600 for an hour, or 0 for no limit", ToolLimit::VAR)))
            }
        }
    }
}

impl Context {
    /// That of this build script.
    pub(crate) fn for_build_script() -> Result<Context> {
        let jobs = jobs::from_env();
        let env = CargoEnv::read()?;
        env.depends_on_compiler();
        let cache = cache::open(&env)?;
        let tool_limit = ToolLimit::read(&env)?;
        Ok(Context { env, cache, jobs, tool_limit, libraries: None, tally: Tally::default() })
    }

    /// That of a program that is no build script, see [`CargoEnv::for_machine`].
    pub(crate) fn for_machine(directory: &Path, scratch: &Path) -> Result<Context> {
        let env = CargoEnv::for_machine(directory, scratch);
        let cache = cache::open(&env)?;
        let tool_limit = ToolLimit::read(&env)?;
        let jobs = Jobs::new(None);
        let tally = Tally::default();
        Ok(Context { env, cache, jobs, tool_limit, libraries: None, tally })
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

/// A process that goes on when the build script has ended.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct Server<'a> {
    pub(crate) program: &'a Path,
    pub(crate) args: Vec<OsString>,
    /// The file that gets what it prints as errors.
    pub(crate) log: &'a Path,
}

#[cfg(unix)]
impl Server<'_> {
    /// Starts it. Cargo waits for the ends of a build script's pipes, so that it gets none of them, and interrupts what is
    /// in the terminal's group of processes, so that it has another.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn start(&self) -> Result<Child> {
        let log = std::fs::File::create(self.log).map_err(|error| Error::io("write", self.log, error))?;
        let mut command = Command::new(self.program);
        command.args(&self.args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        // Other builds use it too, so that it does not end with this one.
        command.env(variable::RUN_ID, "");
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map_err(|error| Error::io("run", self.program, error))
    }
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
    let (size, modified) = size_and_time(path).map_err(|error| Error::io("inspect", path, error))?;
    let modified = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{} {size} {}", path.display(), modified.as_nanos()))
}

fn size_and_time(path: &Path) -> io::Result<(u64, SystemTime)> {
    let data = path.metadata()?;
    Ok((data.len(), data.modified()?))
}

/// Processes: as many at once as cargo allows, with a clean environment.
impl Context {
    /// Runs a tool to its end.
    ///
    /// # Errors
    /// If it cannot be started, does not exit with 0, or takes longer than a tool may; the error holds all that it
    /// printed.
    pub(crate) fn run(&self, invocation: &Invocation<'_>) -> Result<Output> {
        self.run_with(&self.jobs.token(), invocation)
    }

    /// As [`Context::run`], with a right to run that is there already.
    pub(crate) fn run_with(&self, token: &Token<'_>, invocation: &Invocation<'_>) -> Result<Output> {
        let finished = self.finish(token, invocation)?;
        self.successful(&finished, Output::from_finished(&finished), invocation)
    }

    /// As [`Context::run`], for a tool whose standard error is also for programs: `read` takes its part, and leaves what is
    /// for people.
    pub(crate) fn run_and_read<T>(
        &self,
        invocation: &Invocation<'_>,
        read: impl FnOnce(&str) -> (T, String),
    ) -> Result<(T, Output)> {
        let finished = self.finish(&self.jobs.token(), invocation)?;
        let Output { stdout, stderr } = Output::from_finished(&finished);
        let (value, stderr) = read(&stderr);
        let output = self.successful(&finished, Output { stdout, stderr }, invocation)?;
        Ok((value, output))
    }

    /// `result`, if the tool has ended well.
    fn successful(&self, finished: &Finished, result: Output, invocation: &Invocation<'_>) -> Result<Output> {
        let ended = match finished.end {
            End::Exited(status) if status.success() => return Ok(result),
            End::Exited(status) => format!("{status} ({invocation})"),
            End::Stopped => {
                format!("stopped, because it ran for more than {} ({invocation})", self.tool_limit)
            }
        };
        // ocloc reports on standard output, everything else on standard error.
        let printed = [result.stderr, result.stdout].join("\n");
        let printed = dedup_lines(start(printed.trim()));
        let error = if printed.is_empty() {
            Error::new(ended)
        } else if self.names_source_errors(&finished.end, invocation, &printed) {
            Error::new(printed)
        } else {
            Error::new(printed).note(ended)
        };
        let error = error.with_kind(ErrorKind::Tool);
        Err(match finished.end {
            End::Exited(_) => error,
            End::Stopped => {
                error.with_hint(format!("{}=SECONDS allows more, {0}=0 any time", ToolLimit::VAR))
            }
        })
    }

    /// Whether a front end named lines of the user's sources. The error then leaves out its command line, as rustc does.
    fn names_source_errors(&self, end: &End, invocation: &Invocation<'_>, printed: &str) -> bool {
        // Later steps run in scratch directories, on generated files.
        let reads_sources = invocation.directory == self.env.manifest_dir;
        let refused = matches!(end, End::Exited(status) if status.code() == Some(1));
        reads_sources
            && refused
            && !self.env.is_verbose()
            && diagnostics::error_files(printed).any(|path| self.env.manifest_dir.join(path).is_file())
    }

    /// The output of a tool with any exit code: ocloc prints its help and fails.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn run_for_output(&self, invocation: &Invocation<'_>) -> Result<String> {
        let result = Output::from_finished(&self.finish(&self.jobs.token(), invocation)?);
        Ok([result.stdout, result.stderr].join("\n"))
    }

    fn finish(&self, _: &Token<'_>, invocation: &Invocation<'_>) -> Result<Finished> {
        let limit = self.tool_limit.0;
        self.spawn(invocation).and_then(|child| wait::finish(child, limit)).map_err(|error| {
            Error::io("run", invocation.program, error).with_hint("check that the file is executable")
        })
    }

    /// Programs that were unpacked into a folder have their libraries there, where no loader looks.
    fn environment_of(&self, program: &Path) -> Vec<(&'static str, OsString)> {
        let mut variables = self.env.child_environment();
        let directories = self.env.toolchain_libraries(program).into_iter().chain(self.libraries.clone());
        let mut paths: Vec<OsString> = directories.map(PathBuf::into_os_string).collect();
        if !paths.is_empty() {
            paths.extend(
                variables
                    .iter()
                    .find(|(name, _)| *name == variable::LD_LIBRARY_PATH)
                    .map(|(_, value)| value.clone()),
            );
            variables.retain(|(name, _)| *name != variable::LD_LIBRARY_PATH);
            // The separator of such lists on the systems that have such libraries.
            variables.push((variable::LD_LIBRARY_PATH, paths.join(OsStr::new(":"))));
        }
        variables
    }

    fn spawn(&self, invocation: &Invocation<'_>) -> std::io::Result<Child> {
        let mut child = Command::new(invocation.program)
            .args(&invocation.args)
            .current_dir(invocation.directory)
            .env_clear()
            .envs(self.environment_of(invocation.program))
            .stdin(if invocation.input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let (Some(mut pipe), Some(text)) = (child.stdin.take(), invocation.input) {
            let text = text.to_string();
            // A tool that stops reading says why itself; the broken pipe is no news.
            thread::spawn(move || pipe.write_all(text.as_bytes()));
        }
        Ok(child)
    }
}

impl Output {
    fn from_finished(finished: &Finished) -> Output {
        let [stdout, stderr] = [&finished.stdout, &finished.stderr]
            .map(|bytes| String::from_utf8_lossy(bytes).trim_end().to_string());
        Output { stdout, stderr }
    }
}

impl fmt::Display for ToolLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(limit) => write!(f, "{} s", limit.as_secs()),
            None => f.write_str("any time"),
        }
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
    if !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_=+./:,@%".contains(c)) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// The beginning of a tool's output, of a length that can be read: 64 KiB.
fn start(text: &str) -> &str {
    const MOST: usize = 64 << 10;
    // A character has four bytes at most.
    (0..4).find_map(|less| text.get(..MOST.checked_sub(less)?)).unwrap_or(text)
}

/// ocloc repeats each error up to six times.
fn dedup_lines(text: &str) -> String {
    let mut seen = std::collections::BTreeSet::new();
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        // Only messages: the source lines and carets below them may well be equal.
        let is_message = line.contains("error:") || line.starts_with("in kernel");
        if !is_message || seen.insert(line) {
            lines.push(line);
        }
    }
    lines.join("\n")
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
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(start("short"), "short");
        let long = format!("a{}", "ö".repeat(1 << 16));
        assert_eq!(start(&long).len(), (64 << 10) - 1);
    }

    #[test]
    fn repeated_errors_are_said_once() {
        assert_eq!(dedup_lines("error: a\n  ^\nerror: a\n  ^\nerror: b"), "error: a\n  ^\n  ^\nerror: b");
    }
}
