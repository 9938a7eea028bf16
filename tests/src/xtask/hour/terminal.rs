//! Headless terminal: tmux runs one command in it and captures the screen.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use offload_tests::error::{Error, Result};

/// How many lines a screen has; what goes beyond is kept above it.
const LINES: &str = "40";

/// Long output is kept whole, and colours are those of a usual terminal.
const SETTINGS: &str =
    "set -g history-limit 20000\nset -g default-terminal xterm-256color\nset -g status off\n";

/// A terminal of some width.
#[derive(Clone, Debug)]
pub(super) struct Terminal {
    /// Where commands start.
    directory: PathBuf,
    width: u16,
    variables: Vec<(String, OsString)>,
}

/// What was on it when a command had ended.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) exit_code: i32,
    /// Line by line as the program wrote it: what the terminal wrapped is one line again.
    pub(super) text: String,
    /// The same as the terminal shows it, with the sequences for colours.
    pub(super) coloured: String,
}

impl Terminal {
    /// One whose commands start in `directory` and see `variables` beside those of this process.
    pub(super) fn new(directory: &Path, width: u16, variables: Vec<(String, OsString)>) -> Terminal {
        Terminal { directory: directory.to_path_buf(), width, variables }
    }

    /// The same in another directory, with an installed tool chain of its own, where cargo builds into `target`.
    pub(super) fn elsewhere(&self, directory: &Path, target: &Path) -> Terminal {
        let mut other = Terminal { directory: directory.to_path_buf(), ..self.clone() };
        other.variables.retain(|(name, _)| name != "OFFLOAD_TOOLCHAIN");
        other.variables.push(("OFFLOAD_TOOLCHAIN".to_string(), directory.join("toolchain").into()));
        other.variables.push(("CARGO_TARGET_DIR".to_string(), target.into()));
        other
    }

    /// Runs a line of the shell in a directory below the terminal's own, to its end.
    ///
    /// # Errors
    /// tmux does not start, or cannot tell what it shows.
    pub(super) fn run(&self, line: &str, directory: &str) -> Result<Shown> {
        let scratch = tempfile::tempdir()?;
        fs::write(scratch.path().join("settings"), SETTINGS)?;
        // The screen is read before the shell ends, because it goes with it.
        let script = format!("{line}\necho $? > \"$HOUR/code\"\ntmux wait-for -S ended\ncat > /dev/null\n");
        fs::write(scratch.path().join("script"), script)?;
        let tmux = Tmux { socket: scratch.path().join("socket"), settings: scratch.path().join("settings") };
        let mut start = tmux.command();
        start.args(["new-session", "-d", "-x", &self.width.to_string(), "-y", LINES, "-c"]);
        start.arg(self.directory.join(directory)).arg("sh \"$HOUR/script\"");
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_ours(&name.to_string_lossy())) {
            start.env_remove(name);
        }
        start.env("HOUR", scratch.path());
        start.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let shown = run_tmux(&mut start).and_then(|_| tmux.shown(&scratch.path().join("code")));
        // Without a session the server ends by itself.
        let _ = tmux.command().arg("kill-server").output();
        shown
    }
}

/// A server of tmux for one command.
struct Tmux {
    socket: PathBuf,
    settings: PathBuf,
}

impl Tmux {
    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).arg("-f").arg(&self.settings);
        command
    }

    /// Waits for the end of the command.
    fn shown(&self, code: &Path) -> Result<Shown> {
        run_tmux(self.command().args(["wait-for", "ended"]))?;
        let code = fs::read_to_string(code)?;
        let exit_code = code.trim().parse().map_err(|_| Error::new(format!("no exit code: `{code}`")))?;
        let captured =
            |how: &[&str]| run_tmux(self.command().args(["capture-pane", "-p", "-S", "-"]).args(how));
        Ok(Shown { exit_code, text: captured(&["-J"])?, coloured: captured(&["-e"])? })
    }
}

/// Whether a variable is for this task, and none that a user would have: cargo sets many for a program that it runs.
fn is_ours(name: &str) -> bool {
    let of_cargo = name.starts_with("CARGO") && name != "CARGO_HOME";
    of_cargo || name.starts_with("OFFLOAD_") || ["CI", "NO_COLOR", "TMUX"].contains(&name)
}

/// Runs tmux and returns its standard output.
fn run_tmux(command: &mut Command) -> Result<String> {
    let output = command.output().map_err(|error| Error::new(format!("cannot run tmux: {error}")))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr).trim().to_string();
        return Err(Error::new(format!("tmux failed: {stderr}")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
