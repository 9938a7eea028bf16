//! Tables for people, as wide as the terminal.

use std::io;

use super::text::escaped;

/// Whether headings and the like stand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Never,
    Ansi,
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
    pub(super) fn fitted(&self, width: Option<usize>, colour: Colour) -> Vec<String> {
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
pub(super) fn terminal_width() -> Option<usize> {
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
}
