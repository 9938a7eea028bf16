//! File names that are valid on every file system and in every command.

/// Makes `stem` a safe start of a file name. A dot would hide the file or name the parent directory; `-` would make
/// it an option of whatever is called with it.
pub(crate) fn sound(stem: &str) -> String {
    match stem.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None if stem.is_empty() => "image".to_string(),
        None if stem.starts_with('-') || is_device(stem) => format!("_{stem}"),
        None => stem.to_string(),
    }
}

/// Names that are devices on Windows, whatever follows their first point
/// (<https://learn.microsoft.com/windows/win32/fileio/naming-a-file>).
fn is_device(word: &str) -> bool {
    let stem = word.split('.').next().unwrap_or_default().to_ascii_lowercase();
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul")
        || stem
            .strip_prefix("com")
            .or_else(|| stem.strip_prefix("lpt"))
            .is_some_and(|stem| matches!(stem.as_bytes(), [b'0'..=b'9']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_options_and_no_devices() {
        for (stem, expected) in [
            ("-rf", "_-rf"),
            ("..x", "_.x"),
            ("", "image"),
            ("con", "_con"),
            ("Lpt9.x", "_Lpt9.x"),
            ("a-b", "a-b"),
        ] {
            assert_eq!(sound(stem), expected);
        }
    }
}
