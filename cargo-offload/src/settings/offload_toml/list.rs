//! List in a TOML file as lines, whose comments stay with their elements.

use toml_edit::{Array, RawString, Value};

/// A list, taken apart.
#[derive(Debug)]
pub(super) struct Lines {
    /// Text after the opening bracket on its line.
    open: String,
    lines: Vec<Line>,
    /// Text before the closing bracket.
    end: String,
    trailing_comma: bool,
}

/// An element, the lines above it, and the comment behind it.
#[derive(Debug)]
struct Line {
    above: String,
    value: Value,
    behind: String,
}

impl Lines {
    /// Takes `list` apart.
    pub(super) fn from_array(list: &Array) -> Lines {
        let trailing_comma = list.trailing_comma();
        let mut lines = Lines { open: String::new(), lines: Vec::new(), end: String::new(), trailing_comma };
        for value in list {
            let (behind, above) = split(text(value.decor().prefix()));
            lines.behind_last(behind);
            lines.lines.push(Line { above, value: value.clone(), behind: String::new() });
        }
        let suffix = list.iter().last().filter(|_| !trailing_comma).map(|last| text(last.decor().suffix()));
        let (behind, end) = split(&[suffix.unwrap_or_default(), text(Some(list.trailing()))].concat());
        lines.behind_last(behind);
        lines.end = end;
        lines
    }

    fn behind_last(&mut self, text: String) {
        match self.lines.last_mut() {
            // Only white space is generated.
            Some(line) if text.contains('#') => line.behind = text,
            Some(_) => {}
            None => self.open = text,
        }
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.lines.iter().map(|line| &line.value)
    }

    /// Appends an element, on a line of its own if others have one.
    pub(super) fn push(&mut self, value: Value) {
        let broken = self.lines.iter().find_map(|line| Some(line.above.rsplit_once('\n')?.1));
        let above = broken.map_or_else(String::new, |indent| format!("\n{indent}"));
        self.lines.push(Line { above, value, behind: String::new() });
    }

    /// Keeps the elements that `keep` keeps.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&Value) -> bool) {
        self.lines.retain(|line| keep(&line.value));
    }

    /// Brings the elements into the order of `key`.
    pub(super) fn sort_by_key<K: Ord>(&mut self, mut key: impl FnMut(&Value) -> K) {
        self.lines.sort_by_key(|line| key(&line.value));
    }

    /// Puts the list together again.
    pub(super) fn into_array(self) -> Array {
        let mut array = Array::new();
        let mut behind = self.open;
        for (number, Line { above, mut value, behind: next }) in self.lines.into_iter().enumerate() {
            let above = match (above.contains('\n'), behind.contains('#'), number) {
                (true, ..) => above,
                (_, true, _) => "\n    ".to_string(),
                (_, _, 0) => String::new(),
                _ => " ".to_string(),
            };
            value.decor_mut().set_prefix(behind + &above);
            value.decor_mut().set_suffix("");
            array.push_formatted(value);
            behind = next;
        }
        let end = if behind.contains('#') && self.end.is_empty() { "\n" } else { self.end.as_str() };
        array.set_trailing_comma(!array.is_empty() && (self.trailing_comma || end.contains('\n')));
        array.set_trailing(behind + end);
        array
    }
}

fn text(text: Option<&RawString>) -> &str {
    text.and_then(RawString::as_str).unwrap_or_default()
}

/// Splits the text before an element into the rest of the previous line, and the lines after it.
fn split(text: &str) -> (String, String) {
    let at = text.find('\n').unwrap_or(text.len());
    let (line, rest) = text.split_at(at);
    (line.to_string(), rest.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, edit: impl FnOnce(&mut Lines)) -> String {
        let document: toml_edit::DocumentMut = format!("a = {text}\n").parse().unwrap();
        let mut lines = Lines::from_array(document["a"].as_array().unwrap());
        edit(&mut lines);
        lines.into_array().to_string().trim().to_string()
    }

    fn without(name: &'static str) -> impl FnOnce(&mut Lines) {
        move |lines| lines.retain(|value| value.as_str() != Some(name))
    }

    const LINES: &str = "[ # all\n    # of every CPU\n    \"a\", # fast\n    \"b\", # slow\n    # the end\n]";

    #[test]
    fn comments_stay_with_their_elements() {
        assert_eq!(edited(LINES, |_| ()), LINES);
        assert_eq!(edited(LINES, without("a")), "[ # all\n    \"b\", # slow\n    # the end\n]");
        assert_eq!(
            edited(LINES, without("b")),
            "[ # all\n    # of every CPU\n    \"a\", # fast\n    # the end\n]"
        );
        let more = edited(LINES, |lines| lines.push("c".into()));
        assert_eq!(more, LINES.replace("# slow\n", "# slow\n    \"c\",\n"));
        let other = edited(LINES, |lines| lines.sort_by_key(|value| value.as_str() != Some("b")));
        assert_eq!(
            other,
            "[ # all\n    \"b\", # slow\n    # of every CPU\n    \"a\", # fast\n    # the end\n]"
        );
    }

    #[test]
    fn a_list_on_one_line_stays_on_it() {
        assert_eq!(edited("[\"a\", \"b\"]", without("a")), "[\"b\"]");
        assert_eq!(edited("[\"a\", \"b\"]", without("b")), "[\"a\"]");
        assert_eq!(edited("[\"a\"]", |lines| lines.push("b".into())), "[\"a\", \"b\"]");
        assert_eq!(edited("[]", |lines| lines.push("b".into())), "[\"b\"]");
        assert_eq!(
            edited("[\n    \"a\" # last\n]", |lines| lines.push("b".into())),
            "[\n    \"a\", # last\n    \"b\",\n]"
        );
    }
}
