//! A table of text whose columns are aligned.

use std::fmt;

/// Rows under a heading; the last column is as wide as it is.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// No rows yet.
    pub fn new<const N: usize>(heading: [&str; N]) -> Table {
        Table { rows: vec![heading.map(str::to_string).to_vec()] }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }

    /// Adds a row whose cells go on in further lines, after a word, where they are longer than `width` characters.
    pub fn wrapped_row<const N: usize>(&mut self, cells: [String; N], width: usize) {
        let mut columns = cells.map(|cell| wrapped(&cell, width).into_iter());
        loop {
            let line = columns.each_mut().map(Iterator::next);
            if line.iter().all(Option::is_none) {
                return;
            }
            self.row(line.map(Option::unwrap_or_default));
        }
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

/// Lines of whole words, none longer than `width` but for longer words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            let cells = row.iter().enumerate().map(|(column, cell)| format!("{cell:0$}", self.width(column)));
            let line = cells.collect::<Vec<_>>().join("  ");
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(["row", "task"]);
        table.row(["R1".to_string(), "malformed".to_string()]);
        assert_eq!(table.to_string(), "row  task\nR1   malformed\n");
    }

    #[test]
    fn long_cells_go_on_below() {
        let mut table = Table::new(["row", "found"]);
        table.wrapped_row(["R4".to_string(), "0 died, 12 wrong".to_string()], 8);
        table.wrapped_row(["R5".to_string(), String::new()], 8);
        assert_eq!(table.to_string(), "row  found\nR4   0 died,\n     12 wrong\nR5\n");
    }
}
