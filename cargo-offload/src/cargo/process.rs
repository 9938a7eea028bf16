//! Invocations of cargo.

#![allow(clippy::disallowed_methods, reason = "reads the environment and starts processes")]

use std::ffi::{OsStr, OsString};
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use offload_protocol::variable;

use crate::cargo::watch::{self, Watch};
use crate::cli::MessageFormat;
use crate::error::{Error, IoContext, Result};
use crate::print::choice::Verbosity;
use crate::print::output::Output;

/// A run of cargo in the making.
#[derive(Debug)]
pub(crate) struct Cargo {
    command: Command,
    verb: &'static str,
}

impl Cargo {
    /// The cargo that runs this subcommand, or else the one in `PATH`.
    pub(crate) fn new(verb: &'static str) -> Cargo {
        let mut command = Command::new(std::env::var_os(variable::CARGO).unwrap_or_else(|| "cargo".into()));
        command.arg(verb);
        // Build scripts reach other machines through it.
        if let (None, Ok(program)) = (std::env::var_os(variable::CARGO_OFFLOAD), std::env::current_exe()) {
            command.env(variable::CARGO_OFFLOAD, program);
        }
        command.env(variable::RUN_ID, watch::value_for_children());
        Cargo { command, verb }
    }

    /// Passes the options for color and verbosity to cargo.
    pub(crate) fn spoken_as(self, output: &Output) -> Cargo {
        self.speaking(output, output.color_argument())
    }

    /// Passes the message format for a build whose messages are the output of this command.
    pub(crate) fn messages_as(self, output: &Output) -> Cargo {
        match output.format() {
            MessageFormat::Human => self,
            MessageFormat::Json => self.args(["--message-format", "json"]),
        }
    }

    /// As [`Cargo::spoken_as`], where what cargo says goes through this process to a terminal.
    pub(crate) fn on_terminal(self, output: &Output) -> Cargo {
        self.speaking(output, output.terminal_color_argument())
    }

    fn speaking(mut self, output: &Output, color: &str) -> Cargo {
        self.command.args(["--color", color]);
        match output.verbosity() {
            Verbosity::Quiet => self.command.arg("--quiet"),
            Verbosity::Normal => &mut self.command,
            // Cargo does not tell build scripts.
            Verbosity::Verbose => self.command.arg("--verbose").env(variable::TERM_VERBOSE, "true"),
        };
        self
    }

    pub(crate) fn args<T: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = T>) -> Cargo {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Cargo {
        self.command.env(name, value.into());
        self
    }

    /// Tells build scripts of dependencies where the workspace is.
    pub(crate) fn in_workspace(self, root: &Path) -> Cargo {
        if std::env::var_os(variable::WORKSPACE).is_some() {
            return self;
        }
        // To the byte what cargo makes of the setting of `init`: another value would run build scripts again.
        self.env(variable::WORKSPACE, root.join("."))
    }

    /// The triple of this machine, as this cargo was built for it.
    #[cfg(feature = "devices")]
    pub(crate) fn host() -> Result<String> {
        let mut version = String::new();
        Cargo::new("--version").args(["--verbose"]).read(|pipe| {
            let read = pipe.read_to_string(&mut version);
            read.map(drop).io_context("read", "the output of cargo")
        })?;
        let line = version.lines().find_map(|line| line.strip_prefix("host: "));
        line.map(str::to_string)
            .ok_or_else(|| Error::usage("`cargo --version --verbose` prints no host triple"))
    }

    /// Has cargo start `runner` and the command `test-program` in place of the programs that it makes for `triple`, see
    /// <https://doc.rust-lang.org/cargo/reference/config.html#targettriplerunner>.
    #[cfg(feature = "devices")]
    pub(crate) fn run_by(self, triple: &str, runner: &Path) -> Cargo {
        let name = format!("CARGO_TARGET_{}_RUNNER", triple.to_uppercase().replace(['-', '.'], "_"));
        self.env(&name, format!("{} test-program", runner.display()))
    }

    /// Writes what cargo says to `file` instead of the terminal.
    pub(crate) fn errors_to(mut self, file: std::fs::File) -> Cargo {
        self.command.stderr(file);
        self
    }

    /// Runs cargo to its end; it shares this process's terminal.
    ///
    /// # Errors
    /// It cannot be started, or fails, and then has printed the reason.
    pub(crate) fn run(mut self) -> Result<()> {
        let mut running = self.spawn()?;
        self.end(&mut running)
    }

    /// Runs cargo to its end; how that was is for the caller to judge.
    pub(crate) fn status(mut self) -> Result<u8> {
        let mut running = self.spawn()?;
        running.child.wait().map(code).map_err(|error| self.cannot_start(&error))
    }

    /// Leaves standard output to this command's own messages, where scripts read them.
    #[cfg(feature = "devices")]
    pub(crate) fn prints_as(mut self, output: &Output) -> Cargo {
        if output.format() == MessageFormat::Json {
            self.command.stdout(std::io::stderr());
        }
        self
    }

    /// Whether cargo succeeds; nothing that it says is shown.
    #[cfg(feature = "devices")]
    pub(crate) fn succeeds_in_silence(mut self) -> bool {
        self.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.command.status().is_ok_and(|status| status.success())
    }

    /// As [`Cargo::status`]; nothing that cargo says is shown.
    #[cfg(feature = "devices")]
    pub(crate) fn status_in_silence(mut self) -> Result<u8> {
        self.command.stdout(Stdio::null()).stderr(Stdio::null());
        self.status()
    }

    /// Starts cargo, which shares this process's terminal.
    pub(crate) fn start(mut self) -> Result<Running> {
        self.spawn()
    }

    /// Runs cargo and hands its standard output to `read`.
    pub(crate) fn read<T>(mut self, read: impl FnOnce(&mut dyn Read) -> Result<T>) -> Result<T> {
        self.command.stdout(Stdio::piped());
        let mut running = self.spawn()?;
        let outcome = running.child.stdout.take().map(|pipe| read(&mut BufReader::new(pipe)));
        self.end(&mut running)?;
        outcome.unwrap_or_else(|| Err(Error::usage("cargo has no standard output")))
    }

    /// Runs cargo and hands its standard error to `watch`.
    pub(crate) fn watch(mut self, watch: impl FnOnce(&mut dyn Read)) -> Result<()> {
        self.command.stderr(Stdio::piped());
        let mut running = self.spawn()?;
        if let Some(pipe) = running.child.stderr.take() {
            watch(&mut BufReader::new(pipe));
        }
        self.end(&mut running)
    }

    fn spawn(&mut self) -> Result<Running> {
        let watch = Watch::start();
        let child = self.command.spawn().map_err(|error| self.cannot_start(&error))?;
        Ok(Running { child, _watch: watch })
    }

    fn end(&self, running: &mut Running) -> Result<()> {
        let status = running.child.wait().map_err(|error| self.cannot_start(&error))?;
        self.judge(status)
    }

    fn judge(&self, status: ExitStatus) -> Result<()> {
        if status.success() { Ok(()) } else { Err(Error::cargo(format!("`cargo {}` failed", self.verb))) }
    }

    fn cannot_start(&self, error: &std::io::Error) -> Error {
        let program = Path::new(self.command.get_program());
        Error::io("run", program, error)
    }
}

/// A program that cargo runs. It ends with this, and with this process.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    _watch: Watch,
}

impl Running {
    /// The exit code, once the process has exited.
    pub(crate) fn ended(&mut self) -> Result<Option<u8>> {
        let status = self.child.try_wait();
        let status = status.io_context("wait for", "cargo")?;
        Ok(status.map(code))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Where it has ended, there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program that a signal ended has no code.
fn code(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(101)
}
