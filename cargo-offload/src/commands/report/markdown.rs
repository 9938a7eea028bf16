//! The report as a comment on a change (<https://github.github.com/gfm/>).

use super::baseline::{Finding, Verdict};
use super::row::columns;
use super::summary::Judged;

/// What changed, then everything, folded.
pub(super) fn comment(judged: &Judged<'_>) -> String {
    let Judged { rows, findings } = judged;
    let mut text = format!("### Kernels\n\n{}\n", judged.summary());
    for (verdict, heading) in [
        (Verdict::Worse, "Worse"),
        (Verdict::Better, "Better"),
        (Verdict::New, "New"),
        (Verdict::Gone, "Gone"),
    ] {
        let found: Vec<&Finding> = findings.iter().filter(|finding| finding.verdict == verdict).collect();
        if !found.is_empty() {
            text.push_str(&format!("\n#### {heading}\n\n{}", changes(&found)));
        }
    }
    text.push_str(&format!("\n<details><summary>All {} kernels</summary>\n\n", rows.len()));
    let (headings, cells) = columns(rows);
    text.push_str(&table(&headings, cells));
    text.push_str("\n</details>");
    text
}

/// A table with these headings.
pub(super) fn table<T: ToString>(headings: &[T], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = line(headings.iter().map(ToString::to_string));
    text.push_str(&line(headings.iter().map(|_| "---".to_string())));
    rows.into_iter().for_each(|row| text.push_str(&line(row)));
    text
}

fn changes(findings: &[&Finding]) -> String {
    let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
    let row = |finding: &&Finding| {
        let Finding { kernel, number: which, before, now, .. } = finding;
        vec![kernel.clone(), which.to_string(), number(*before), number(*now)]
    };
    table(&["kernel", "number", "before", "now"], findings.iter().map(row))
}

/// Names come from files: nothing in them ends a cell, makes a link, names a person or is HTML.
fn line(cells: impl IntoIterator<Item = String>) -> String {
    let escaped = |cell: String| {
        let sign = |c: char| match c {
            '\n' | '\r' => " ".to_string(),
            '_' => "\\_".to_string(),
            '-' | '.' | ',' | '+' | ':' => c.to_string(),
            c if c.is_ascii_punctuation() => format!("&#{};", c as u32),
            c => c.to_string(),
        };
        cell.chars().map(sign).collect::<String>()
    };
    format!("| {} |\n", cells.into_iter().map(escaped).collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_cells() {
        let cells = ["a|b", "<img src=x>", "@someone [x](y)", "k\nnext", "a_b_"].map(str::to_string);
        let line = line(cells);
        assert_eq!(line.matches('|').count(), 6, "{line}");
        assert!(
            !line.contains('<')
                && !line.contains('@')
                && !line.contains("](")
                && line.ends_with("a\\_b\\_ |\n")
        );
        assert_eq!(line.lines().count(), 1);
    }
}
