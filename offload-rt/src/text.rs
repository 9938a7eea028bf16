//! Making text of foreign origin safe to show on a terminal.

/// One line: control characters are escaped.
pub(crate) fn escape(text: &str) -> String {
    text.chars().flat_map(|c| escaped(c, &[])).collect()
}

/// Several lines, as compilers write them: line feeds and tabs stay.
#[cfg(any(feature = "opencl", feature = "cuda", feature = "hip", test))]
pub(crate) fn escape_lines(text: &str) -> String {
    text.trim_matches(['\0', '\n']).chars().flat_map(|c| escaped(c, &['\n', '\t'])).collect()
}

fn escaped(c: char, kept: &[char]) -> impl Iterator<Item = char> + use<> {
    // Quotes would be escaped too, but they are harmless and frequent in compilers' messages.
    let plain = kept.contains(&c) || matches!(c, '"' | '\'' | '\\') || c.escape_debug().count() == 1;
    let (plain, escape) = if plain { (Some(c), None) } else { (None, Some(c.escape_default())) };
    plain.into_iter().chain(escape.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escape("a\x1b[31m\n\"ü"), "a\\u{1b}[31m\\n\"ü");
        assert_eq!(escape("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(escape_lines("x:1: error\n\t^\x07\n\0"), "x:1: error\n\t^\\u{7}");
    }
}
