//! Printing: aligned tables and sentences, or JSON lines.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::cli::MessageFormat;
use crate::error::{Error, Result};

/// Where and how a command prints.
#[derive(Debug)]
pub(crate) struct Output {
    format: MessageFormat,
    colour: Colour,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    Never,
    Ansi,
}

impl Output {
    pub(crate) fn new(format: MessageFormat) -> Output {
        let wanted = match std::env::var("CARGO_TERM_COLOR").as_deref() {
            Ok("always") => true,
            Ok("never") => false,
            _ => io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        };
        Output { format, colour: if wanted { Colour::Ansi } else { Colour::Never } }
    }

    /// A message: an object as JSON, or `text` for people.
    pub(crate) fn message(&self, object: &impl Serialize, text: &str) -> Result<()> {
        match self.format {
            MessageFormat::Json => self.json(object),
            MessageFormat::Human => write_line(&escaped(text)),
        }
    }

    /// Something for people alone.
    pub(crate) fn remark(&self, text: &str) -> Result<()> {
        if self.format == MessageFormat::Human { write_line(&escaped(text)) } else { Ok(()) }
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

    /// Objects as JSON, or a table for people.
    pub(crate) fn table<T: Serialize>(&self, objects: &[T], table: &Table) -> Result<()> {
        match self.format {
            MessageFormat::Json => objects.iter().try_for_each(|object| self.json(object)),
            MessageFormat::Human => table.lines(self.colour).iter().try_for_each(|line| write_line(line)),
        }
    }

    fn json(&self, object: &impl Serialize) -> Result<()> {
        let text =
            serde_json::to_string(object).map_err(|error| Error::usage(format!("cannot print: {error}")))?;
        write_line(&text)
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

    fn lines(&self, colour: Colour) -> Vec<String> {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
            let heading = self.heading.get(column).map_or(0, |text| text.chars().count());
            cells.chain([heading]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.heading.len()).map(width).collect();
        let heading: Vec<String> = self.heading.iter().map(|text| text.to_string()).collect();
        let heading = aligned(&heading, &widths);
        let heading = if colour == Colour::Ansi { format!("\x1b[1m{heading}\x1b[0m") } else { heading };
        std::iter::once(heading).chain(self.rows.iter().map(|row| aligned(row, &widths))).collect()
    }
}

/// Numbers to the right, everything else to the left.
fn aligned(cells: &[String], widths: &[usize]) -> String {
    let cell = |(text, width): (&String, &usize)| {
        let ends = |c: char| c.is_ascii_digit() || c == '%' || c == 'B';
        let number =
            text.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c)) && text.ends_with(ends);
        if number && text.len() < 12 { format!("{text:>width$}") } else { format!("{text:<width$}") }
    };
    cells.iter().zip(widths).map(cell).collect::<Vec<_>>().join("  ").trim_end().to_string()
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

/// Bytes as people read them.
pub(crate) fn human_size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, unit)) => format!("{:.1} {unit}", bytes as f64 / f64::from(1u32 << shift)),
        None => format!("{bytes} B"),
    }
}

fn write_line(text: &str) -> Result<()> {
    match writeln!(io::stdout(), "{text}") {
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
    fn terminals_are_not_steered() {
        assert_eq!(escaped("a\u{1b}[2Jb\u{202e}"), "a\\u{1b}[2Jb\\u{202e}");
    }
}
