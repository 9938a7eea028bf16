//! Report as Markdown for a review comment (<https://github.github.com/gfm/>).

use super::baseline::{Change, Finding};
use super::row::columns;
use super::summary::BaselineComparison;
use crate::print::text::escaped;

/// Formats the changes, and then the whole table, folded.
pub(super) fn comment(judged: &BaselineComparison<'_>) -> String {
    let BaselineComparison { rows, findings } = judged;
    let mut text = format!("### Kernels\n\n{}\n", judged.summary());
    for (verdict, heading) in
        [(Change::Worse, "Worse"), (Change::Better, "Better"), (Change::New, "New"), (Change::Gone, "Gone")]
    {
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
    table(
        &["kernel", "number", "before", "now"],
        findings.iter().map(|finding| {
            let Finding { kernel, number: which, before, now, .. } = finding;
            vec![kernel.clone(), which.to_string(), optional_number(*before), optional_number(*now)]
        }),
    )
}

fn line(cells: impl IntoIterator<Item = String>) -> String {
    format!("| {} |\n", cells.into_iter().map(cell).collect::<Vec<_>>().join(" | "))
}

/// Names come from files: nothing in them ends a cell, makes a link, names a person or is HTML. The text of a site or of
/// an address for mail is a link without any sign around it
/// (<https://github.github.com/gfm/#autolinks-extension->): a point as an entity ends the one, a comment the other.
fn cell(name: String) -> String {
    escaped(&name)
        .chars()
        .map(|c| match c {
            '_' => "\\_".to_string(),
            '@' => "&#64;<!-- -->".to_string(),
            '-' | '.' | ',' | '+' | ':' => c.to_string(),
            c if c.is_ascii_punctuation() => format!("&#{};", c as u32),
            c => c.to_string(),
        })
        .collect::<String>()
        .replace("www.", "www&#46;")
}

fn optional_number(number: Option<u64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
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
            !line.contains("<img")
                && !line.contains('@')
                && !line.contains("](")
                && line.ends_with("a\\_b\\_ |\n")
        );
        assert_eq!(line.lines().count(), 1);
    }

    #[test]
    fn sites_and_addresses_are_no_links() {
        for (name, written) in [
            ("www.example.com", "www&#46;example.com"),
            ("k_www.www.example.com", "k\\_www&#46;www&#46;example.com"),
            ("https://example.com", "https:&#47;&#47;example.com"),
            ("a@example.com", "a&#64;<!-- -->example.com"),
        ] {
            assert_eq!(cell(name.to_string()), written);
        }
    }
}
