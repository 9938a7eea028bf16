//! Compression settings of a command line.

use offload_packer::{Mode, Settings};

use crate::error::{Error, Result};

/// One word of the user's: a mode, or a level of zstd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Mode(Mode),
    Level(i32),
}

/// Reads `balanced` or `19`.
pub(crate) fn parse(text: &str) -> Result<Word> {
    match (text.parse(), text.parse()) {
        (Ok(mode), _) => Ok(Word::Mode(mode)),
        (_, Ok(level @ 1..=22)) => Ok(Word::Level(level)),
        _ => Err(Error::usage(format!("`{}` is not a compression setting", text.escape_default()))
            .hint("use `none`, `fast`, `balanced`, `max`, `archive`, or a level from 1 to 22")),
    }
}

/// The settings of the packer.
pub(crate) fn settings(text: &str) -> Result<Settings> {
    Ok(match parse(text)? {
        Word::Mode(mode) => Settings { mode, level: mode.default_level() },
        Word::Level(level) => Settings { mode: Mode::Balanced, level },
    })
}

/// The mode and the level that a file names, as far as it does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Words<'a> {
    pub(crate) mode: Option<&'a str>,
    pub(crate) level: Option<i64>,
}

/// The same for what a file says; `None` if it says nothing.
pub(crate) fn settings_of(words: Words<'_>) -> Result<Option<Settings>> {
    let level = words.level.map(|level| settings(&level.to_string())).transpose()?;
    let mode = words.mode.map(settings).transpose()?;
    Ok(match (mode, level) {
        (Some(mode), Some(Settings { level, .. })) => Some(Settings { level, ..mode }),
        (mode, level) => mode.or(level),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_modes_or_levels() {
        assert_eq!(settings("max").unwrap(), Settings { mode: Mode::Max, level: 22 });
        assert_eq!(settings("7").unwrap(), Settings { mode: Mode::Balanced, level: 7 });
        for text in ["0", "23", "lots", "", "-3"] {
            assert!(settings(text).unwrap_err().to_string().contains("from 1 to 22"), "{text}");
        }
    }
}
