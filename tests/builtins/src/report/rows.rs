//! The rows of the table: cases that fare alike share one.

use super::super::Column;
use super::super::case::{Case, SUB_GROUPS};
use super::super::known;
use super::super::results::Verdict;
use super::problem;

/// One line.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) built_in: &'static str,
    /// Element types and address spaces.
    pub(super) labels: String,
    pub(super) bound: String,
    pub(super) cells: Vec<Cell>,
    signature: String,
}

/// One field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell(String);

impl Cell {
    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

/// Texts at the end, each once.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<String>);

impl Notes {
    fn number(&mut self, text: String) -> usize {
        let at = self.0.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.0.push(text);
            self.0.len() - 1
        });
        at + 1
    }

    pub(super) fn list(&self) -> String {
        self.0.iter().enumerate().map(|(at, text)| list_item(at + 1, text)).collect()
    }
}

/// An item of a numbered list, broken at spaces to lines of at most 120 characters where that starts no nested list.
fn list_item(number: usize, text: &str) -> String {
    let mut item = String::new();
    let mut line = format!("{number}.");
    for word in text.split(' ') {
        let starts_list = matches!(word, "-" | "+" | "*") || word.ends_with(['.', ')']);
        if line.len() + 1 + word.len() > 120 && !starts_list {
            item.push_str(&line);
            item.push('\n');
            line = "   ".to_string();
        }
        line.push(' ');
        line.push_str(word);
    }
    item.push_str(&line);
    item.push('\n');
    item
}

/// The rows of a section, in the order of the cases.
pub(super) fn section(cases: &[Case], columns: &[Column], (section, notes): (&str, &mut Notes)) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for case in cases.iter().filter(|case| case.section == section) {
        let (signature, space) = without_space(&case.signature);
        let label = format!("{space}{}", case.element);
        let bound = case.bound.to_string();
        let cells: Vec<Cell> = columns.iter().flat_map(|column| cells(case, column, notes)).collect();
        let alike = rows.iter_mut().find(|row| {
            row.built_in == case.built_in
                && row.signature == signature
                && row.bound == bound
                && row.cells == cells
        });
        match alike {
            Some(row) => row.labels = format!("{}, {label}", row.labels),
            None => rows.push(Row { built_in: case.built_in, labels: label, bound, cells, signature }),
        }
    }
    for row in &mut rows {
        row.labels = row.labels.replace("__", "").trim().to_string();
    }
    rows
}

/// Takes the address space out of a signature. The scalar forms keep what tells them apart.
fn without_space(signature: &str) -> (String, String) {
    let spaces = ["__private", "__local", "__global", "__constant"];
    let found =
        spaces.iter().find(|space| signature.contains(*space) && !signature.contains("__constant char"));
    let scalar = signature.contains("sgentype") || signature.contains(", int)");
    let mark = if scalar { "scalar argument, " } else { "" };
    let plain = found.map_or(signature.to_string(), |space| signature.replace(space, ""));
    let space = found.map_or(String::new(), |space| format!("{space} "));
    (plain, format!("{mark}{space}"))
}

/// The fields of a target: one for each device that it ran on, or one.
fn cells(case: &Case, column: &Column, notes: &mut Notes) -> Vec<Cell> {
    if let Some(error) = column.errors.get(&case.kernel) {
        let number = notes.number(format!("`{}`: {}", column.target, error_text(error, case)));
        return vec![Cell(format!("error [{number}]")); column.results.len().max(1)];
    }
    if column.results.is_empty() {
        return vec![Cell("ok".to_string())];
    }
    let mut cells = Vec::new();
    for result in &column.results {
        cells.push(match result.verdicts.get(&case.label()) {
            None => Cell("ok".to_string()),
            Some(verdict) => judged(case, (&column.target, verdict), notes),
        });
    }
    cells
}

fn judged(case: &Case, (target, verdict): (&str, &Verdict), notes: &mut Notes) -> Cell {
    let value = match (verdict.ulp, &verdict.failed) {
        (_, Some(failed)) if failed.contains("crash") => "crash".to_string(),
        (_, Some(_)) => "fails".to_string(),
        (Some(ulp), _) if ulp > 0.0 => rounded_up(ulp),
        _ if verdict.wrong > 0 => "wrong".to_string(),
        _ => "right".to_string(),
    };
    let wrong = verdict.wrong > 0 || verdict.failed.is_some();
    let flushed = if verdict.flushed { " f" } else { "" };
    let zero = if verdict.zero.is_some() { " z" } else { "" };
    if !wrong {
        return Cell(format!("{value}{zero}{flushed}"));
    }
    let cause = known::cause(target, case).map_or(String::new(), |cause| format!(" {cause}"));
    let text = format!("`{target}`, {} for {}: {}.{cause}", case.built_in, case.element, problem(verdict));
    Cell(format!("**{value}** [{}]{zero}{flushed}", notes.number(text)))
}

/// Two digits after the point; what is above a bound must not look like it.
fn rounded_up(ulp: f64) -> String {
    if ulp > 1e6 { format!("{ulp:.1e}") } else { format!("{:.2}", (ulp * 100.0 - 1e-6).ceil() / 100.0) }
}

/// The sentence of an error, the same for all element types: without the kernel's name, paths and the command.
fn error_text(error: &str, case: &Case) -> String {
    // One note for all functions that a version of SPIR-V lacks.
    if case.section == SUB_GROUPS && error.contains("use of undeclared identifier") {
        return "use of undeclared identifier, the function's name".to_string();
    }
    let lines = error.lines().filter(|line| !line.trim_start().starts_with("exit status"));
    let text: Vec<&str> = lines.map(str::trim).collect();
    let text = text.join(" ").replace(&case.kernel, "K");
    let end = text.char_indices().nth(400).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(&text).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_rounded_up() {
        assert_eq!(rounded_up(0.5), "0.50");
        assert_eq!(rounded_up(4.001), "4.01");
        assert_eq!(rounded_up(2e43), "2.0e43");
    }

    #[test]
    fn address_spaces_become_labels() {
        let (signature, space) = without_space("gentype fract(gentype, __local gentype *)");
        assert_eq!((signature.as_str(), space.as_str()), ("gentype fract(gentype,  gentype *)", "__local "));
    }
}
