//! How a command prints: what its options, cargo's variables and the terminal say of colours, words and progress.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::io::{self, IsTerminal};

use anstream::ColorChoice;
use offload_protocol::variable;

use crate::cli::{Color, Options};

/// How much is said beside what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Hidden,
    Bar,
    /// A line for each step, where there is no terminal.
    Lines,
}

/// How progress is shown on standard error, by the variable that says so to cargo too.
pub(super) fn progress(verbosity: Verbosity) -> Progress {
    let when = std::env::var(variable::TERM_PROGRESS_WHEN);
    let dumb = std::env::var(variable::TERM).is_ok_and(|term| term == "dumb");
    match (verbosity, when.as_deref(), io::stderr().is_terminal() && !dumb) {
        (Verbosity::Quiet, ..) | (_, Ok("never"), _) => Progress::Hidden,
        (_, _, true) => Progress::Bar,
        (_, Ok("always"), false) => Progress::Lines,
        _ => Progress::Hidden,
    }
}

/// The option, then cargo's variable, then what the terminal and its variables say.
pub(super) fn color(options: &Options) -> ColorChoice {
    let variable = std::env::var(variable::TERM_COLOR);
    match (options.color, variable.as_deref()) {
        (Some(Color::Always), _) | (None, Ok("always")) => ColorChoice::Always,
        (Some(Color::Never), _) | (None, Ok("never")) => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}

pub(super) fn verbosity(options: &Options) -> Verbosity {
    let set = |name| std::env::var(name).is_ok_and(|value| value == "true");
    match (options.quiet, options.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, 1..) => Verbosity::Verbose,
        _ if set(variable::TERM_QUIET) => Verbosity::Quiet,
        _ if set(variable::TERM_VERBOSE) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    }
}
