//! Printing: aligned tables and sentences, or JSON lines.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use serde::Serialize;

use crate::cli::{Color, MessageFormat, Options};
use crate::error::{Error, Result};

/// Where and how a command prints.
#[derive(Debug)]
pub(crate) struct Output {
    format: MessageFormat,
    color: ColorChoice,
    verbosity: Verbosity,
}

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    Never,
    Ansi,
}

impl Output {
    pub(crate) fn new(options: &Options) -> Output {
        Output { format: options.format(), color: color(options), verbosity: verbosity(options) }
    }

    pub(crate) fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    /// What `--color` of cargo takes.
    pub(crate) fn color_argument(&self) -> &'static str {
        match self.color {
            ColorChoice::Always | ColorChoice::AlwaysAnsi => "always",
            ColorChoice::Never => "never",
            ColorChoice::Auto => "auto",
        }
    }

    /// How progress is shown on standard error, by the variable that says so to cargo too.
    pub(crate) fn progress(&self) -> Progress {
        let when = std::env::var("CARGO_TERM_PROGRESS_WHEN");
        let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
        match (self.verbosity, when.as_deref(), io::stderr().is_terminal() && !dumb) {
            (Verbosity::Quiet, ..) | (_, Ok("never"), _) => Progress::Hidden,
            (_, _, true) => Progress::Bar,
            (_, Ok("always"), false) => Progress::Lines,
            _ => Progress::Hidden,
        }
    }

    /// As [`Output::color_argument`], for a program that writes into a pipe which ends at a terminal.
    pub(crate) fn terminal_color_argument(&self) -> &'static str {
        let auto = AutoStream::choice(&io::stderr());
        let choice = if self.color == ColorChoice::Auto { auto } else { self.color };
        if choice == ColorChoice::Never { "never" } else { "always" }
    }

    /// What cargo's `--message-format` takes beside nothing.
    pub(crate) fn format(&self) -> MessageFormat {
        self.format
    }

    /// Shows why a command failed.
    pub(crate) fn error(&self, error: &Error) {
        let mut stderr = AutoStream::new(io::stderr(), self.color);
        // There is nobody to tell if the terminal is gone.
        let _ = writeln!(stderr, "\x1b[1;31merror\x1b[0m: {}", escaped(&error.to_string()));
    }

    fn colour(&self) -> Colour {
        let choice = match self.color {
            ColorChoice::Auto => AutoStream::choice(&io::stdout()),
            choice => choice,
        };
        if choice == ColorChoice::Never { Colour::Never } else { Colour::Ansi }
    }

    /// A message: an object as JSON, or `text` for people.
    pub(crate) fn message(&self, object: &impl Serialize, text: &str) -> Result<()> {
        match self.format {
            MessageFormat::Json => self.json(object),
            MessageFormat::Human => write_line(&escaped(text)),
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
        self.message(&Written { reason: "written", file }, &text)
    }

    /// Something for people alone.
    pub(crate) fn remark(&self, text: &str) -> Result<()> {
        if self.format == MessageFormat::Human { write_line(&escaped(text)) } else { Ok(()) }
    }

    /// What is being done, on standard error, unless somebody wants quiet.
    pub(crate) fn status(&self, text: &str) {
        if self.verbosity != Verbosity::Quiet {
            // There is nobody to tell if the terminal is gone.
            let _ = writeln!(io::stderr(), "{}", escaped(text));
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
            MessageFormat::Human => {
                table.fitted(terminal_width(), self.colour()).iter().try_for_each(|line| write_line(line))
            }
        }
    }

    fn json(&self, object: &impl Serialize) -> Result<()> {
        let text =
            serde_json::to_string(object).map_err(|error| Error::usage(format!("cannot print: {error}")))?;
        write_line(&text)
    }
}

/// The option, then cargo's variable, then what the terminal and its variables say.
fn color(options: &Options) -> ColorChoice {
    let variable = std::env::var("CARGO_TERM_COLOR");
    match (options.color, variable.as_deref()) {
        (Some(Color::Always), _) | (None, Ok("always")) => ColorChoice::Always,
        (Some(Color::Never), _) | (None, Ok("never")) => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}

fn verbosity(options: &Options) -> Verbosity {
    let set = |name| std::env::var(name).is_ok_and(|value| value == "true");
    match (options.quiet, options.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, 1..) => Verbosity::Verbose,
        _ if set("CARGO_TERM_QUIET") => Verbosity::Quiet,
        _ if set("CARGO_TERM_VERBOSE") => Verbosity::Verbose,
        _ => Verbosity::Normal,
    }
}

/// Rows of cells under a heading.
#[derive(Debug)]
pub(crate) struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(heading: &[&'static str]) -> Table {
        Table { heading: heading.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.iter().map(|cell| escaped(cell)).collect());
    }

    /// As a table, or, where its lines would be broken, each row as lines of heading and cell.
    fn fitted(&self, width: Option<usize>, colour: Colour) -> Vec<String> {
        let widest = self.lines(Colour::Never).iter().map(|line| line.chars().count()).max().unwrap_or(0);
        if width.is_none_or(|width| widest <= width) {
            return self.lines(colour);
        }
        let column = self.heading.iter().map(|heading| heading.len()).max().unwrap_or(0);
        let line = |(heading, cell): (&&str, &String)| {
            format!("{}  {cell}", bold(&format!("{heading:<column$}"), colour))
        };
        // What a row does not have needs no line.
        let said = |(_, cell): &(&&str, &String)| !cell.is_empty();
        let block =
            |row: &Vec<String>| self.heading.iter().zip(row).filter(said).map(line).collect::<Vec<_>>();
        let blocks: Vec<Vec<String>> = self.rows.iter().map(block).collect();
        blocks.join(&String::new())
    }

    fn lines(&self, colour: Colour) -> Vec<String> {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
            let heading = self.heading.get(column).map_or(0, |text| text.chars().count());
            cells.chain([heading]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.heading.len()).map(width).collect();
        let heading: Vec<String> = self.heading.iter().map(|text| text.to_string()).collect();
        let heading = bold(&aligned(&heading, &widths), colour);
        std::iter::once(heading).chain(self.rows.iter().map(|row| aligned(row, &widths))).collect()
    }
}

fn bold(text: &str, colour: Colour) -> String {
    if colour == Colour::Ansi { format!("\x1b[1m{text}\x1b[0m") } else { text.to_string() }
}

/// Columns of the terminal on standard output, if it is one.
fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(terminal_size::Width(width), _)| width.into())
}

/// Numbers to the right, everything else to the left.
fn aligned(cells: &[String], widths: &[usize]) -> String {
    let cell = |(text, width): (&String, &usize)| {
        let ends = |c: char| c.is_ascii_digit() || c == '%' || c == 'B';
        let number =
            text.starts_with(|c: char| c.is_ascii_digit() || "+-~".contains(c)) && text.ends_with(ends);
        if number && text.len() < 12 { format!("{text:>width$}") } else { format!("{text:<width$}") }
    };
    cells.iter().zip(widths).map(cell).collect::<Vec<_>>().join("  ").trim_end().to_string()
}

/// Bytes as people read them.
pub(crate) fn human_size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, unit)) => format!("{:.1} {unit}", bytes as f64 / f64::from(1u32 << shift)),
        None => format!("{bytes} B"),
    }
}

/// A number of things in a sentence, as `1 image`, `2 images` and `2 entries`.
pub(crate) fn counted(number: u64, what: &str) -> String {
    match (number, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {what}s"),
    }
}

/// How many things of a kind a sentence names.
const LISTED: usize = 12;

/// Names one after another, and how many more there are; `None` if there are none.
pub(crate) fn listed(names: impl Iterator<Item = String>) -> Option<String> {
    let mut names: Vec<String> = names.collect();
    let more = names.len().saturating_sub(LISTED);
    names.truncate(LISTED);
    let more = if more > 0 { format!(" and {more} others") } else { String::new() };
    (!names.is_empty()).then(|| format!("{}{more}", names.join(", ")))
}

/// Names come from files: nothing in them may move a terminal's cursor or reverse its writing.
pub(crate) fn escaped(text: &str) -> String {
    let steering = |c: char| {
        (c.is_control() && c != '\n')
            || ('\u{202a}'..='\u{202e}').contains(&c)
            || ('\u{2066}'..='\u{2069}').contains(&c)
    };
    text.chars().map(|c| if steering(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

fn write_line(text: &str) -> Result<()> {
    written(writeln!(io::stdout(), "{text}"))
}

fn written(outcome: io::Result<()>) -> Result<()> {
    match outcome {
        // `| head` has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Error::io("write to", std::path::Path::new("standard output"), &error)),
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["name", "size"]);
        table.row(vec!["a".into(), "1000".into()]);
        table.row(vec!["longer".into(), "7".into()]);
        assert_eq!(table.lines(Colour::Never), ["name    size", "a       1000", "longer     7"]);
    }

    #[test]
    fn a_table_that_is_too_wide_becomes_blocks() {
        let mut table = Table::new(&["name", "codec"]);
        table.row(vec!["a".into(), "zstd".into()]);
        table.row(vec!["longer".into(), "raw".into()]);
        assert_eq!(table.fitted(Some(13), Colour::Never), table.lines(Colour::Never));
        let narrow = ["name   a", "codec  zstd", "", "name   longer", "codec  raw"];
        assert_eq!(table.fitted(Some(12), Colour::Never), narrow);
        assert_eq!(table.fitted(None, Colour::Never), table.lines(Colour::Never));
        table.row(vec!["b".into(), String::new()]);
        assert_eq!(table.fitted(Some(12), Colour::Never), [&narrow[..], &["", "name   b"]].concat());
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!([0, 1, 2].map(|number| counted(number, "file")), ["0 files", "1 file", "2 files"]);
    }

    #[test]
    fn terminals_are_not_steered() {
        assert_eq!(escaped("a\u{1b}[2Jb\u{202e}"), "a\\u{1b}[2Jb\\u{202e}");
    }
}
