//! Tables that fit the terminal.

use std::io;

use super::text::{escaped, fitting, wrapped};

/// Whether headings and the like stand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Never,
    Ansi,
}

/// Columns between two cells.
const GAP: usize = 2;
/// No cell is made shorter than this many characters.
const SHORT: usize = 16;
/// The same where a table would be none otherwise.
const SHORTEST: usize = 12;
/// A table of several rows may lack so many columns, and keeps at least as many.
const DROPPED: usize = 3;

/// Rows of cells under a heading.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
    long_cells: LongCells,
}

/// Treatment of cells that are too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LongCells {
    /// They are names, of which the start and the end tell most.
    Shortened,
    /// They are sentences, and go on in the next line.
    Wrapped,
}

/// Width limits of a table.
#[derive(Clone, Copy, Debug)]
struct Available {
    width: usize,
    /// No cell is made shorter.
    shortest: usize,
}

#[derive(Clone, Debug)]
struct Cell {
    text: String,
    look: CellStyle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellStyle {
    Plain,
    /// A problem, which is highlighted.
    Problem,
}

impl Table {
    pub(crate) fn new(heading: &[&'static str]) -> Table {
        Table { heading: heading.to_vec(), rows: Vec::new(), long_cells: LongCells::Shortened }
    }

    /// A table of sentences: long ones go on in the next line.
    pub(crate) fn with_wrapped_cells(heading: &[&'static str]) -> Table {
        Table { long_cells: LongCells::Wrapped, ..Table::new(heading) }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows
            .push(cells.iter().map(|text| Cell { text: escaped(text), look: CellStyle::Plain }).collect());
    }

    /// The cell under `heading` in the last row tells a problem.
    pub(crate) fn problem(&mut self, heading: &str) {
        let column = self.heading.iter().position(|other| *other == heading);
        let row = self.rows.last_mut();
        if let Some(cell) = row.zip(column).and_then(|(row, column)| row.get_mut(column)) {
            cell.look = CellStyle::Problem;
        }
    }

    /// As a table. Where its lines would be broken, empty columns go, then the middle of long names, or sentences go on in
    /// the next line; then what all rows have in common stands above, names get shorter still, and the last columns go. If
    /// that is not enough, each row becomes lines of heading and cell.
    pub(super) fn fitted(&self, width: Option<usize>, colour: Colour) -> Vec<String> {
        let Some(width) = width.filter(|width| self.width() > *width) else { return self.lines(colour) };
        let filled = self.without_empty_columns();
        let narrow = filled.shortened(Available { width, shortest: SHORT });
        if narrow.width() <= width {
            return narrow.lines(colour);
        }
        let (common, others) = filled.without_common_columns();
        let most = match self.rows.len() {
            0 | 1 => 0,
            _ => others.heading.len().saturating_sub(DROPPED).min(DROPPED),
        };
        let narrow = (0..=most).find_map(|count| others.without_last(count).fitting_in(width));
        let Some(table) = narrow else { return self.blocks(colour) };
        let left_out = others.heading.get(table.heading.len()..).unwrap_or_default();
        let remark = (!left_out.is_empty())
            .then(|| format!("hidden columns: {}; use a wider terminal or --json", left_out.join(", ")));
        common.into_iter().chain(table.lines(colour)).chain(remark).collect()
    }

    /// Of the widest line.
    fn width(&self) -> usize {
        let gaps = self.heading.len().saturating_sub(1).saturating_mul(GAP);
        self.widths().iter().sum::<usize>().saturating_add(gaps)
    }

    fn widths(&self) -> Vec<usize> {
        (0..self.heading.len())
            .map(|column| {
                let cells =
                    self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.chars().count());
                let heading = self.heading.get(column).map_or(0, |text| text.chars().count());
                cells.chain([heading]).max().unwrap_or(0)
            })
            .collect()
    }

    fn without_empty_columns(&self) -> Table {
        let kept: Vec<bool> = (0..self.heading.len())
            .map(|column| {
                self.rows
                    .iter()
                    .filter_map(|row| row.get(column))
                    .any(|cell| !matches!(cell.text.as_str(), "" | "-"))
            })
            .collect();
        Table {
            heading: kept_columns(&self.heading, &kept),
            rows: self.rows.iter().map(|row| kept_columns(row, &kept)).collect(),
            long_cells: self.long_cells,
        }
    }

    /// The texts of a column.
    fn column(&self, column: usize) -> Vec<&str> {
        self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.as_str()).collect()
    }

    /// Whether several rows have the same text in a column.
    fn is_common(&self, column: usize) -> bool {
        let cells = self.column(column);
        cells.len() > 1 && cells.iter().all(|text| Some(text) == cells.first())
    }

    /// Without the last `count` columns.
    fn without_last(&self, count: usize) -> Table {
        let kept = self.heading.len().saturating_sub(count);
        let heading = self.heading.iter().take(kept).copied().collect();
        Table {
            heading,
            rows: self.rows.iter().map(|row| row.iter().take(kept).cloned().collect()).collect(),
            long_cells: self.long_cells,
        }
    }

    /// With short names, if it is then as narrow as that.
    fn fitting_in(&self, width: usize) -> Option<Table> {
        let narrow = self.shortened(Available { width, shortest: SHORTEST });
        (narrow.width() <= width).then_some(narrow)
    }

    /// The columns in which all rows say the same, as a line, and the table of the others.
    fn without_common_columns(&self) -> (Option<String>, Table) {
        let (common, kept): (Vec<usize>, Vec<usize>) =
            (0..self.heading.len()).partition(|column| self.is_common(*column));
        if common.is_empty() || kept.is_empty() {
            return (None, self.clone());
        }
        let line: Vec<String> = common
            .iter()
            .filter_map(|column| {
                let text = self.column(*column).first().copied().unwrap_or_default();
                Some(format!("{} {text}", self.heading.get(*column)?))
            })
            .collect();
        let others = Table {
            heading: kept.iter().filter_map(|column| self.heading.get(*column).copied()).collect(),
            rows: self
                .rows
                .iter()
                .map(|row| kept.iter().filter_map(|at| row.get(*at).cloned()).collect())
                .collect(),
            long_cells: self.long_cells,
        };
        (Some(line.join(", ")), others)
    }

    /// With `…` in the middle of the longest cells, or with these in several lines, as far as is needed.
    fn shortened(&self, available: Available) -> Table {
        let limits = self.limits(available);
        let rows = match self.long_cells {
            LongCells::Shortened => self.rows.iter().map(|row| shortened_row(row, &limits)).collect(),
            LongCells::Wrapped => self.rows.iter().flat_map(|row| wrapped_row(row, &limits)).collect(),
        };
        Table { heading: self.heading.clone(), rows, long_cells: self.long_cells }
    }

    /// The maximum widths of the columns.
    fn limits(&self, Available { width, shortest }: Available) -> Vec<usize> {
        let mut limits = self.widths();
        let mut excess = self.width().saturating_sub(width);
        while excess > 0 {
            let Some((column, widest)) = limits.iter().copied().enumerate().max_by_key(|(_, width)| *width)
            else {
                break;
            };
            // Down to the next widest column, so that one long name is shortened before many short ones.
            let others = limits.iter().enumerate().filter(|(other, _)| *other != column);
            let next = others.map(|(_, width)| *width).max().unwrap_or(0).max(shortest);
            let step = excess.min(widest.saturating_sub(next).max(1));
            let Some(limit) = limits.get_mut(column).filter(|_| widest > shortest) else { break };
            *limit = limit.saturating_sub(step);
            excess = excess.saturating_sub(step);
        }
        limits
    }

    fn blocks(&self, colour: Colour) -> Vec<String> {
        let column = self.heading.iter().map(|heading| heading.len()).max().unwrap_or(0);
        let mut blocks = Vec::new();
        for row in &self.rows {
            let mut block = Vec::new();
            for (heading, cell) in self.heading.iter().zip(row) {
                if !cell.text.is_empty() {
                    let heading = bold(&format!("{heading:<column$}"), colour);
                    block.push(format!("{heading}  {}", cell.drawn(colour)));
                }
            }
            blocks.push(block);
        }
        blocks.join(&String::new())
    }

    fn lines(&self, colour: Colour) -> Vec<String> {
        let widths = self.widths();
        let heading: Vec<Cell> =
            self.heading.iter().map(|text| Cell { text: text.to_string(), look: CellStyle::Plain }).collect();
        let heading = bold(&aligned(&heading, &widths, colour), colour);
        std::iter::once(heading).chain(self.rows.iter().map(|row| aligned(row, &widths, colour))).collect()
    }
}

impl Cell {
    fn drawn(&self, colour: Colour) -> String {
        match (self.look, colour) {
            (CellStyle::Problem, Colour::Ansi) => format!("\x1b[31m{}\x1b[0m", self.text),
            _ => self.text.clone(),
        }
    }

    /// Numbers stand to the right, everything else to the left.
    fn is_number(&self) -> bool {
        self.text.len() < 12
            && self.text.starts_with(|c: char| c.is_ascii_digit() || "+-~".contains(c))
            && self.text.ends_with(|c: char| c.is_ascii_digit() || c == '%' || c == 'B')
    }
}

/// The elements of a row in the columns that are kept.
fn kept_columns<T: Clone>(row: &[T], kept: &[bool]) -> Vec<T> {
    let mut columns = Vec::new();
    for (column, cell) in row.iter().enumerate() {
        if kept.get(column).copied().unwrap_or(true) {
            columns.push(cell.clone());
        }
    }
    columns
}

fn shortened_row(row: &[Cell], limits: &[usize]) -> Vec<Cell> {
    row.iter().zip(limits).map(|(cell, limit)| Cell { text: fitting(&cell.text, *limit), ..*cell }).collect()
}

/// `row` in as many lines as its longest cell needs.
fn wrapped_row(row: &[Cell], limits: &[usize]) -> Vec<Vec<Cell>> {
    let cells: Vec<Vec<String>> =
        row.iter().zip(limits).map(|(cell, limit)| wrapped(&cell.text, *limit)).collect();
    let lines = cells.iter().map(Vec::len).max().unwrap_or(0);
    let mut rows = Vec::new();
    for line in 0..lines {
        let mut cells_of_line = Vec::new();
        for (texts, cell) in cells.iter().zip(row) {
            let text = texts.get(line).cloned().unwrap_or_default();
            cells_of_line.push(Cell { text, ..*cell });
        }
        rows.push(cells_of_line);
    }
    rows
}

fn bold(text: &str, colour: Colour) -> String {
    if colour == Colour::Ansi { format!("\x1b[1m{text}\x1b[0m") } else { text.to_string() }
}

/// Columns of the terminal on standard output, if it is one.
pub(super) fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(terminal_size::Width(width), _)| width.into())
}

fn aligned(cells: &[Cell], widths: &[usize], colour: Colour) -> String {
    cells
        .iter()
        .zip(widths)
        .map(|(cell, width)| {
            // A terminal shows no column for what sets colours.
            let fill = " ".repeat(width.saturating_sub(cell.text.chars().count()));
            let text = cell.drawn(colour);
            if cell.is_number() { fill + &text } else { text + &fill }
        })
        .collect::<Vec<_>>()
        .join("  ")
        .trim_end()
        .to_string()
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
        // Wide terminals and files get all columns.
        assert_eq!(table.fitted(None, Colour::Never), table.lines(Colour::Never));
        assert!(table.fitted(Some(80), Colour::Never)[0].contains("part"));
        assert_eq!(fitting("äöüß", 3), "ä…ß");
    }

    #[test]
    fn sentences_go_on_in_the_next_line() {
        let mut table = Table::with_wrapped_cells(&["way", "ready"]);
        table.row(vec!["with headers of CUDA".into(), "no: lacks clang".into()]);
        table.row(vec!["alone".into(), "yes".into()]);
        let expected =
            ["way              ready", "with headers of  no: lacks clang", "CUDA", "alone            yes"];
        assert_eq!(table.fitted(Some(33), Colour::Never), expected);
        assert_eq!(table.fitted(Some(80), Colour::Never), table.lines(Colour::Never));
    }

    #[test]
    fn what_all_rows_have_in_common_stands_above() {
        let mut table = Table::new(&["package", "target", "codec", "size"]);
        table.row(vec!["hello".into(), "host".into(), "zstd".into(), "1000".into()]);
        table.row(vec!["hello".into(), "spirv64".into(), "zstd".into(), "20".into()]);
        let expected = ["package hello, codec zstd", "target   size", "host     1000", "spirv64    20"];
        assert_eq!(table.fitted(Some(20), Colour::Never), expected);
        assert_eq!(table.fitted(Some(40), Colour::Never), table.lines(Colour::Never));
        // Then names get shorter than they are elsewhere, and the last columns go.
        let mut table = Table::new(&["kernel", "target", "code", "worst"]);
        table.row(vec!["f".into(), "amdgcn:gfx1100".into(), "20".into(), "registers".into()]);
        table.row(vec!["g".into(), "host".into(), "3".into(), "code".into()]);
        let remark = "hidden columns: worst; use a wider terminal or --json";
        let expected = [
            "kernel  target        code",
            "f       amdgc…fx1100    20",
            "g       host             3",
            remark,
        ];
        assert_eq!(table.fitted(Some(26), Colour::Never), expected);
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
