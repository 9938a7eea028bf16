//! Output settings from options, cargo's variables and the terminal.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::io::{self, IsTerminal};

use anstream::ColorChoice;
use offload_protocol::variable;

use crate::cli::{Color, Options};

/// Amount of additional output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

/// Form of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Hidden,
    Bar,
    /// A line for each step, where there is no terminal.
    Lines,
}

/// The form of progress on standard error, by the variable that cargo reads too.
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
    match (options.quiet, options.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, 1..) => Verbosity::Verbose,
        _ if is_set(variable::TERM_QUIET) => Verbosity::Quiet,
        _ if is_set(variable::TERM_VERBOSE) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    }
}

fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| value == "true")
}
