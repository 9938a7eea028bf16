//! Text in TOML.

use std::fmt::Write as _;

/// `text` as a basic string of TOML (<https://toml.io/en/v1.0.0#string>).
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        let _ = match char {
            '"' | '\\' => write!(quoted, "\\{char}"),
            '\0'..='\x1f' | '\x7f' => write!(quoted, "\\u{:04X}", u32::from(char)),
            _ => write!(quoted, "{char}"),
        };
    }
    quoted.push('"');
    quoted
}
