//! Tables for people, as wide as the terminal.

use std::io;

use super::text::escaped;

/// Whether headings and the like stand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Never,
    Ansi,
}

/// Columns between two cells.
const GAP: usize = 2;
/// No cell is made shorter than this many characters.
const SHORTEST: usize = 16;

/// Rows of cells under a heading.
#[derive(Debug)]
pub(crate) struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Debug)]
struct Cell {
    text: String,
    look: Look,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Plain,
    /// Somebody has to do something about it.
    Problem,
}

impl Table {
    pub(crate) fn new(heading: &[&'static str]) -> Table {
        Table { heading: heading.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        let cell = |text: &String| Cell { text: escaped(text), look: Look::Plain };
        self.rows.push(cells.iter().map(cell).collect());
    }

    /// The cell under `heading` in the last row tells a problem.
    pub(crate) fn problem(&mut self, heading: &str) {
        let column = self.heading.iter().position(|other| *other == heading);
        let row = self.rows.last_mut();
        if let Some(cell) = row.zip(column).and_then(|(row, column)| row.get_mut(column)) {
            cell.look = Look::Problem;
        }
    }

    /// As a table. Where its lines would be broken, empty columns go, then the middle of long names; if that is not
    /// enough, each row becomes lines of heading and cell.
    pub(super) fn fitted(&self, width: Option<usize>, colour: Colour) -> Vec<String> {
        let Some(width) = width.filter(|width| self.width() > *width) else { return self.lines(colour) };
        let filled = self.without_empty_columns();
        let narrow = filled.shortened(width);
        if narrow.width() <= width { narrow.lines(colour) } else { self.blocks(colour) }
    }

    /// Of the widest line.
    fn width(&self) -> usize {
        let gaps = self.heading.len().saturating_sub(1).saturating_mul(GAP);
        self.widths().iter().sum::<usize>().saturating_add(gaps)
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| {
            let cells =
                self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.chars().count());
            let heading = self.heading.get(column).map_or(0, |text| text.chars().count());
            cells.chain([heading]).max().unwrap_or(0)
        };
        (0..self.heading.len()).map(width).collect()
    }

    fn without_empty_columns(&self) -> Table {
        let says = |cell: &Cell| !matches!(cell.text.as_str(), "" | "-");
        let kept: Vec<bool> = (0..self.heading.len())
            .map(|column| self.rows.iter().filter_map(|row| row.get(column)).any(says))
            .collect();
        let is_kept = |column: usize| kept.get(column).copied().unwrap_or(true);
        let cells = |row: &Vec<Cell>| {
            let kept = row.iter().enumerate().filter(|(column, _)| is_kept(*column));
            kept.map(|(_, cell)| cell.clone()).collect()
        };
        let heading = self.heading.iter().enumerate().filter(|(column, _)| is_kept(*column));
        Table {
            heading: heading.map(|(_, text)| *text).collect(),
            rows: self.rows.iter().map(cells).collect(),
        }
    }

    /// With `…` in the middle of the longest cells, as far as is needed for `width`.
    fn shortened(&self, width: usize) -> Table {
        let mut limits = self.widths();
        let mut excess = self.width().saturating_sub(width);
        while excess > 0 {
            let Some((column, widest)) = limits.iter().copied().enumerate().max_by_key(|(_, width)| *width)
            else {
                break;
            };
            // Down to the next widest column, so that one long name is shortened before many short ones.
            let others = limits.iter().enumerate().filter(|(other, _)| *other != column);
            let next = others.map(|(_, width)| *width).max().unwrap_or(0).max(SHORTEST);
            let step = excess.min(widest.saturating_sub(next).max(1));
            let Some(limit) = limits.get_mut(column).filter(|_| widest > SHORTEST) else { break };
            *limit = limit.saturating_sub(step);
            excess = excess.saturating_sub(step);
        }
        let cell = |(cell, limit): (&Cell, &usize)| Cell { text: fitting(&cell.text, *limit), ..*cell };
        let row = |row: &Vec<Cell>| row.iter().zip(&limits).map(cell).collect();
        Table { heading: self.heading.clone(), rows: self.rows.iter().map(row).collect() }
    }

    fn blocks(&self, colour: Colour) -> Vec<String> {
        let column = self.heading.iter().map(|heading| heading.len()).max().unwrap_or(0);
        let line = |(heading, cell): (&&str, &Cell)| {
            format!("{}  {}", bold(&format!("{heading:<column$}"), colour), cell.drawn(colour))
        };
        // What a row does not have needs no line.
        let said = |(_, cell): &(&&str, &Cell)| !cell.text.is_empty();
        let block = |row: &Vec<Cell>| self.heading.iter().zip(row).filter(said).map(line).collect::<Vec<_>>();
        let blocks: Vec<Vec<String>> = self.rows.iter().map(block).collect();
        blocks.join(&String::new())
    }

    fn lines(&self, colour: Colour) -> Vec<String> {
        let widths = self.widths();
        let cell = |text: &&str| Cell { text: text.to_string(), look: Look::Plain };
        let heading: Vec<Cell> = self.heading.iter().map(cell).collect();
        let heading = bold(&aligned(&heading, &widths, colour), colour);
        std::iter::once(heading).chain(self.rows.iter().map(|row| aligned(row, &widths, colour))).collect()
    }
}

impl Cell {
    fn drawn(&self, colour: Colour) -> String {
        match (self.look, colour) {
            (Look::Problem, Colour::Ansi) => format!("\x1b[31m{}\x1b[0m", self.text),
            _ => self.text.clone(),
        }
    }

    /// Numbers stand to the right, everything else to the left.
    fn is_number(&self) -> bool {
        let ends = |c: char| c.is_ascii_digit() || c == '%' || c == 'B';
        let starts = |c: char| c.is_ascii_digit() || "+-~".contains(c);
        self.text.len() < 12 && self.text.starts_with(starts) && self.text.ends_with(ends)
    }
}

/// `text` in `limit` characters: its start and its end tell more than its middle.
fn fitting(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_string();
    }
    let left = limit.saturating_sub(1);
    let end = left.div_ceil(2);
    let start = left.saturating_sub(end);
    let (first, last) = (text.chars().take(start), text.chars().skip(count.saturating_sub(end)));
    first.chain(['…']).chain(last).collect()
}

fn bold(text: &str, colour: Colour) -> String {
    if colour == Colour::Ansi { format!("\x1b[1m{text}\x1b[0m") } else { text.to_string() }
}

/// Columns of the terminal on standard output, if it is one.
pub(super) fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(terminal_size::Width(width), _)| width.into())
}

fn aligned(cells: &[Cell], widths: &[usize], colour: Colour) -> String {
    let cell = |(cell, width): (&Cell, &usize)| {
        // A terminal shows no column for what sets colours.
        let room = " ".repeat(width.saturating_sub(cell.text.chars().count()));
        let text = cell.drawn(colour);
        if cell.is_number() { room + &text } else { text + &room }
    };
    cells.iter().zip(widths).map(cell).collect::<Vec<_>>().join("  ").trim_end().to_string()
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
    fn problems_are_red_and_in_line() {
        let mut table = Table::new(&["target", "spilled", "worst"]);
        table.row(vec!["a".into(), "64".into(), "spilled".into()]);
        table.problem("spilled");
        table.row(vec!["b".into(), "100".into(), "-".into()]);
        let lines = table.lines(Colour::Ansi);
        assert_eq!(lines[1], "a            \x1b[31m64\x1b[0m  spilled");
        assert_eq!(lines[2], "b           100  -");
        assert_eq!(table.lines(Colour::Never)[1], "a            64  spilled");
    }

    #[test]
    fn one_wide_row_is_shortened_in_the_middle() {
        let mut table = Table::new(&["name", "part", "file"]);
        table.row(vec!["a".into(), "-".into(), "/usr/lib/x86_64-linux-gnu/of/some/library.so".into()]);
        table.row(vec!["b".into(), String::new(), "short".into()]);
        // A column that says nothing goes first.
        let lines = table.fitted(Some(30), Colour::Never);
        assert_eq!(lines, ["name  file", "a     /usr/lib/x8…e/library.so", "b     short"]);
        // Nothing is lost where there is room, or nobody who sees lines break.
        assert_eq!(table.fitted(None, Colour::Never), table.lines(Colour::Never));
        assert!(table.fitted(Some(80), Colour::Never)[0].contains("part"));
        assert_eq!(fitting("äöüß", 3), "ä…ß");
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
}
