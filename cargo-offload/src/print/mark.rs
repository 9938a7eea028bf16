//! Colors of the words `error:`, `warning:` and `hint:`.

/// The words, and how each is drawn: red, yellow, cyan.
const WORDS: [(&str, &str); 4] =
    [("error", "1;31"), ("worse", "1;31"), ("warning", "1;33"), ("hint", "1;36")];

/// `text` with these words in colour where they start a line.
pub(super) fn marked(text: &str) -> String {
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn line(line: &str) -> String {
    let word = WORDS.iter().find(|(word, _)| {
        let rest = line.strip_prefix(word);
        rest.is_some_and(|rest| rest.starts_with(": "))
    });
    match word {
        Some((word, colour)) => {
            let rest = line.get(word.len()..).unwrap_or_default();
            format!("\x1b[{colour}m{word}\x1b[0m{rest}")
        }
        None => line.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::marked;

    #[test]
    fn words_at_the_start_of_a_line_are_marked() {
        assert_eq!(
            marked("error: no error: x\nhint: `a`\n hint: b\nhints"),
            "\x1b[1;31merror\x1b[0m: no error: x\n\x1b[1;36mhint\x1b[0m: `a`\n hint: b\nhints"
        );
    }
}
