//! Output of a command: tables and text, or JSON objects, one per line.

use std::io::{self, Write};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use offload_format::Limits;
use serde::Serialize;

use super::choice::{self, Progress, Verbosity};
use super::mark::marked;
use super::table::{Colour, Table, terminal_width};
use super::text::{escaped_lines, plain_json};
use crate::cli::{MessageFormat, Options};
use crate::error::{Error, Result};

/// Output of a command: format, color, verbosity and limits.
#[derive(Debug)]
pub(crate) struct Output {
    format: MessageFormat,
    color: ColorChoice,
    verbosity: Verbosity,
    limits: Limits,
}

impl Output {
    pub(crate) fn new(options: &Options) -> Output {
        Output {
            format: options.format(),
            color: choice::color(options),
            verbosity: choice::verbosity(options),
            limits: options.limits(),
        }
    }

    /// The decoding limits for untrusted files.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    /// The value for cargo's `--color`.
    pub(crate) fn color_argument(&self) -> &'static str {
        match self.color {
            ColorChoice::Always | ColorChoice::AlwaysAnsi => "always",
            ColorChoice::Never => "never",
            ColorChoice::Auto => "auto",
        }
    }

    /// The form of progress on standard error.
    pub(crate) fn progress(&self) -> Progress {
        choice::progress(self.verbosity)
    }

    /// As [`Output::color_argument`], for a program that writes into a pipe which ends at a terminal.
    pub(crate) fn terminal_color_argument(&self) -> &'static str {
        match self.stderr_colour() {
            Colour::Never => "never",
            Colour::Ansi => "always",
        }
    }

    pub(crate) fn stderr_colour(&self) -> Colour {
        self.colour_of(AutoStream::choice(&io::stderr()))
    }

    /// The output format.
    pub(crate) fn format(&self) -> MessageFormat {
        self.format
    }

    /// Shows why a command failed.
    pub(crate) fn error(&self, error: &Error) {
        let mut stderr = AutoStream::new(io::stderr(), self.color);
        // Nothing can be reported if the terminal is gone.
        let _ = writeln!(stderr, "{}", marked(&escaped_lines(&format!("error: {error}"))));
    }

    fn stdout_colour(&self) -> Colour {
        self.colour_of(AutoStream::choice(&io::stdout()))
    }

    /// `auto` is what the terminal says.
    fn colour_of(&self, auto: ColorChoice) -> Colour {
        let choice = if self.color == ColorChoice::Auto { auto } else { self.color };
        if choice == ColorChoice::Never { Colour::Never } else { Colour::Ansi }
    }

    /// A message: an object as JSON, or `text` for people.
    pub(crate) fn message(&self, object: &impl Serialize, text: &str) -> Result<()> {
        match self.format {
            MessageFormat::Json => self.json(object),
            MessageFormat::Human => self.sentence(text),
        }
    }

    /// As [`Output::message`], of what went as it was asked for: nothing for people who want quiet.
    pub(crate) fn done(&self, object: &impl Serialize, text: &str) -> Result<()> {
        match (self.format, self.verbosity) {
            (MessageFormat::Human, Verbosity::Quiet) => Ok(()),
            _ => self.message(object, text),
        }
    }

    /// Says that a file was written.
    pub(crate) fn wrote(&self, file: &Path) -> Result<()> {
        #[derive(Serialize)]
        struct Written {
            reason: &'static str,
            file: String,
        }
        let file = file.display().to_string();
        let text = format!("wrote {file}");
        self.done(&Written { reason: "written", file }, &text)
    }

    /// Something for people alone.
    pub(crate) fn remark(&self, text: &str) -> Result<()> {
        if self.format == MessageFormat::Human { self.sentence(text) } else { Ok(()) }
    }

    fn sentence(&self, text: &str) -> Result<()> {
        let text = escaped_lines(text);
        write_line(&if self.stdout_colour() == Colour::Ansi { marked(&text) } else { text })
    }

    /// Prints a status line on standard error, unless output is quiet.
    pub(crate) fn status(&self, text: &str) {
        if self.verbosity != Verbosity::Quiet {
            // Nothing can be reported if the terminal is gone.
            let _ = writeln!(io::stderr(), "{}", escaped_lines(text));
        }
    }

    /// An empty line between two tables.
    pub(crate) fn space(&self) -> Result<()> {
        self.remark("")
    }

    /// Objects that people see in another form.
    pub(crate) fn objects<T: Serialize>(&self, objects: &[T]) -> Result<()> {
        match self.format {
            MessageFormat::Json => objects.iter().try_for_each(|object| self.json(object)),
            MessageFormat::Human => Ok(()),
        }
    }

    /// A file for another program, as it is.
    pub(crate) fn document(&self, bytes: &[u8]) -> Result<()> {
        written(io::stdout().write_all(bytes))
    }

    /// Objects as JSON, or a table for people.
    pub(crate) fn table<T: Serialize>(&self, objects: &[T], table: &Table) -> Result<()> {
        match self.format {
            MessageFormat::Json => objects.iter().try_for_each(|object| self.json(object)),
            MessageFormat::Human => table
                .fitted(terminal_width(), self.stdout_colour())
                .iter()
                .try_for_each(|line| write_line(line)),
        }
    }

    fn json(&self, object: &impl Serialize) -> Result<()> {
        let text =
            serde_json::to_string(object).map_err(|error| Error::usage(format!("cannot print: {error}")))?;
        write_line(&plain_json(&text))
    }
}

fn write_line(text: &str) -> Result<()> {
    written(writeln!(io::stdout(), "{text}"))
}

fn written(outcome: io::Result<()>) -> Result<()> {
    match outcome {
        // `| head` has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Error::io("write to", Path::new("standard output"), &error)),
        Ok(()) => Ok(()),
    }
}
