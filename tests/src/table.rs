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

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
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
}
