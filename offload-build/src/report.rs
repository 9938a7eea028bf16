//! Output of a build script: directives and errors for cargo, diagnostics for its user.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::diagnostics::{Colour, View};
use crate::error::Error;
use crate::variable;

/// Whether this process has sent lines to cargo. Standard output is the process's own, and so is this.
static HAS_SENT: AtomicBool = AtomicBool::new(false);

/// Shows `error` and ends the build script, as `cc` does: no panic, no backtrace.
pub(crate) fn exit_with(error: &Error) -> ! {
    let view = view(Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()));
    let text = view.text(&error.to_string());
    if HAS_SENT.load(Ordering::Relaxed) && cargo_waits() && print(&error_lines(&text)).is_ok() {
        // Of a script that exits with another code cargo shows all output, and the error below it. It fails the build
        // for the error's sake (<https://doc.rust-lang.org/cargo/reference/build-scripts.html#cargo-error>).
        std::process::exit(0)
    }
    let word = match view.colour {
        Colour::Ansi => "\x1b[1;31merror\x1b[0m",
        Colour::Never => "error",
    };
    // Where it cannot be written either, the exit code says all.
    let _ = writeln!(io::stderr(), "\n{word}: {text}\n");
    std::process::exit(1)
}

/// `text` as an error that cargo shows, and for which it fails the build whatever the exit code says.
fn error_lines(text: &str) -> String {
    text.lines().map(|line| format!("cargo::error={line}\n")).collect()
}

/// Notes that lines were sent to cargo.
pub(crate) fn note_sent() {
    HAS_SENT.store(true, Ordering::Relaxed);
}

/// Writes to standard output, which cargo reads.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// How this build script shows the diagnostics of the package in `directory`. Cargo takes colours out where they are
/// not wanted, and in captured output.
pub(crate) fn view(directory: &Path) -> View {
    let never = env::var_os(variable::NO_COLOR).is_some_and(|value| !value.is_empty());
    let colour = if never { Colour::Never } else { Colour::Ansi };
    View { package: directory.into(), cargo: cargo_directory(), colour }
}

/// The current directory of the cargo that runs this build script, which has one of its own.
pub(crate) fn cargo_directory() -> Option<PathBuf> {
    if let Some(directory) = env::var_os(variable::CARGO_DIRECTORY).filter(|directory| !directory.is_empty())
    {
        return Some(PathBuf::from(directory));
    }
    #[cfg(target_os = "linux")]
    {
        let cargo = format!("/proc/{}/cwd", std::os::unix::process::parent_id());
        std::fs::read_link(cargo).ok().or_else(shell_directory)
    }
    #[cfg(not(target_os = "linux"))]
    shell_directory()
}

/// The shell's directory, where the system does not tell that of another process.
fn shell_directory() -> Option<PathBuf> {
    env::var_os(variable::PWD).map(PathBuf::from).filter(|dir| dir.is_absolute())
}

/// Whether cargo itself reads what this build script prints: other build systems that run build scripts may look at
/// the exit code alone. Every cargo that compiles this crate knows `cargo::error`, which came with Rust 1.84.
fn cargo_waits() -> bool {
    let named = env::var_os(variable::CARGO).map(PathBuf::from).and_then(|cargo| cargo.canonicalize().ok());
    #[cfg(target_os = "linux")]
    let parent = std::fs::read_link(format!("/proc/{}/exe", std::os::unix::process::parent_id())).ok();
    #[cfg(not(target_os = "linux"))]
    let parent: Option<PathBuf> = None;
    named.is_some() && named == parent
}
