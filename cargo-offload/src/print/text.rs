//! Texts for people: sizes, counts, lists, and names without control characters.

/// Bytes as people read them.
pub(crate) fn human_size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, unit)) => format!("{:.1} {unit}", bytes as f64 / f64::from(1u32 << shift)),
        None => format!("{bytes} B"),
    }
}

/// A number of things in a sentence, as `1 image`, `2 images` and `2 entries`.
pub(crate) fn counted(number: u64, what: &str) -> String {
    match (number, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {what}s"),
    }
}

/// Maximum number of names in a sentence.
const LISTED: usize = 12;

/// Names one after another, in one line, and how many more there are; `None` if there are none.
pub(crate) fn listed(names: impl Iterator<Item = String>) -> Option<String> {
    let mut names: Vec<String> = names.map(|name| escaped(&name)).collect();
    let more = names.len().saturating_sub(LISTED);
    names.truncate(LISTED);
    let more = if more > 0 { format!(" and {more} others") } else { String::new() };
    (!names.is_empty()).then(|| format!("{}{more}", names.join(", ")))
}

/// A name from a file, in one line: nothing in it moves a terminal's cursor, reverses its writing or starts a line.
pub(crate) fn escaped(name: &str) -> String {
    characters(name, show)
}

/// As [`escaped`], for text of several lines. Names in it have to be escaped before: their lines would stay.
pub(crate) fn escaped_lines(text: &str) -> String {
    characters(text, |out, c| if c == '\n' { out.push(c) } else { show(out, c) })
}

/// `json` with an escape for each control character of terminals; its parsed value is the same. JSON itself
/// allows DEL, the controls of C1 and marks of direction in a text (<https://www.rfc-editor.org/rfc/rfc8259#section-7>).
pub(crate) fn plain_json(json: &str) -> String {
    characters(json, |out, c| match c {
        // Only between the values of a document of several lines: within a text it is escaped already.
        '\n' => out.push(c),
        c if steers(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        c => out.push(c),
    })
}

/// Maps characters by `add` into one string, which avoids an allocation per character.
fn characters(text: &str, add: impl Fn(&mut String, char)) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| add(&mut out, c));
    out
}

fn show(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        c if steers(c) => out.extend(c.escape_unicode()),
        c => out.push(c),
    }
}

/// Whether a terminal or an editor does something else with it than to show it: controls, ends of lines, and what changes
/// the direction of writing (<https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters>).
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `text` in `limit` characters: its start and its end tell more than its middle.
pub(super) fn fitting(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_string();
    }
    let left = limit.saturating_sub(1);
    let end = left.div_ceil(2);
    let start = left.saturating_sub(end);
    let first = text.chars().take(start);
    let last = text.chars().skip(count.saturating_sub(end));
    first.chain(['…']).chain(last).collect()
}

/// `text` in lines of at most `limit` characters, broken between words; a longer word is shortened.
pub(super) fn wrapped(text: &str, limit: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').map(|word| fitting(word, limit)) {
        let Some(last) = lines.last_mut() else { break };
        if last.is_empty() {
            last.push_str(&word);
        } else if last.chars().count().saturating_add(1).saturating_add(word.chars().count()) <= limit {
            last.push(' ');
            last.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        assert_eq!([0, 1, 2].map(|number| counted(number, "file")), ["0 files", "1 file", "2 files"]);
    }

    #[test]
    fn terminals_are_not_steered() {
        assert_eq!(escaped("a\u{1b}[2Jb\u{202e}\n"), "a\\u{1b}[2Jb\\u{202e}\\n");
        assert_eq!(escaped("\u{7f}\u{9b}\u{200f}ü"), "\\u{7f}\\u{9b}\\u{200f}ü");
        assert_eq!(escaped_lines("a\r\nb"), "a\\u{d}\nb");
    }

    #[test]
    fn json_says_the_same_without_steering() {
        let text = "\"\\\u{7f}\u{80}\u{9f}\u{a0}\u{202e}\u{2067}\u{2028}\n\u{10ffff}";
        let json = plain_json(&serde_json::to_string(text).unwrap());
        assert!(!json.chars().any(steers), "{json:?}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
