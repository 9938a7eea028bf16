//! Results as JUnit XML for CI servers, with a suite per program and device.
//!
//! There is no standard; this is what <https://github.com/testmoapp/junitxml> describes as common.

use std::collections::BTreeMap;

use super::outcome::{Outcome, Row};

/// The document.
pub(super) fn document(rows: &[Row]) -> String {
    let mut suites: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let on = row.device.as_ref().map(|device| format!(" on {device}")).unwrap_or_default();
        suites.entry(format!("{}, {}{on}", row.package, row.program)).or_default().push(row);
    }
    let suites: String = suites.iter().map(|(name, rows)| suite(name, rows)).collect();
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n{suites}</testsuites>\n")
}

fn suite(name: &str, rows: &[&Row]) -> String {
    let seconds: f64 = rows.iter().map(|row| row.seconds).sum();
    let cases: String = rows.iter().map(|row| case(name, row)).collect();
    format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.6}\">\n{cases}  </testsuite>\n",
        escaped(name),
        rows.len(),
        count(rows, is_failure),
        count(rows, is_error),
        count(rows, is_skipped),
    )
}

fn count(rows: &[&Row], is: fn(Outcome) -> bool) -> usize {
    rows.iter().filter(|row| is(row.end.outcome)).count()
}

fn is_failure(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Wrong | Outcome::Failed)
}

fn is_error(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Hung | Outcome::Crashed)
}

fn is_skipped(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Ignored | Outcome::Refused)
}

fn case(suite: &str, row: &Row) -> String {
    let outcome = row.end.outcome;
    let problem = escaped(row.end.problem.as_deref().unwrap_or_default());
    let element = match outcome {
        _ if is_failure(outcome) => Some("failure"),
        _ if is_error(outcome) => Some("error"),
        _ if is_skipped(outcome) => Some("skipped"),
        _ => None,
    };
    let result = element.map(|element| match element {
        "skipped" => format!("      <skipped message=\"{problem}\"/>\n"),
        _ => format!("      <{element} type=\"{}\" message=\"{problem}\"/>\n", outcome.word()),
    });
    let output =
        row.output.as_ref().map(|text| format!("      <system-out>{}</system-out>\n", escaped(text)));
    format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.6}\">\n{}{}    </testcase>\n",
        escaped(suite),
        escaped(&row.test),
        row.seconds,
        result.unwrap_or_default(),
        output.unwrap_or_default()
    )
}

/// Text and attributes of XML 1.0, which has no other control characters (<https://www.w3.org/TR/xml/#charsets>).
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push('\t'),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::test::outcome::TestResult;

    fn row(test: &str, device: Option<&str>, end: TestResult) -> Row {
        Row {
            package: "p".into(),
            program: "p (lib)".into(),
            test: test.into(),
            device: device.map(Into::into),
            output: end.outcome.is_bad().then(|| "output \u{1b}[1m<&>\n".to_string()),
            end,
            seconds: 0.5,
        }
    }

    #[test]
    fn each_device_is_a_suite() {
        let rows = [
            row("a", Some("host"), TestResult::new(Outcome::Right)),
            row("a", Some("cuda:0"), TestResult::because(Outcome::Wrong, "1 < \"2\"\nand more")),
            row("b", Some("host"), TestResult::because(Outcome::Refused, "no image")),
            row("c", Some("host"), TestResult::because(Outcome::Crashed, "by signal")),
            row("d", None, TestResult::new(Outcome::Passed)),
        ];
        let text = document(&rows);
        assert!(text.contains("<testsuite name=\"p, p (lib) on host\" tests=\"3\" failures=\"0\" errors=\"1\" skipped=\"1\" time=\"1.500000\">"), "{text}");
        assert!(
            text.contains("<failure type=\"wrong\" message=\"1 &lt; &quot;2&quot;&#10;and more\"/>"),
            "{text}"
        );
        assert!(text.contains("<system-out>output \u{fffd}[1m&lt;&amp;&gt;&#10;</system-out>"), "{text}");
        assert!(text.contains("<testsuite name=\"p, p (lib)\" tests=\"1\""), "{text}");
    }
}
