//! The setting `compression`: how hard to try, and at which level.

use std::str::FromStr;

use offload_format::packer::{MAX_LEVEL, Mode, Settings};

use crate::env::Profile;
use crate::error::{Error, Result};
use crate::settings::Value;

/// What one place says; the rest is left to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Compression {
    mode: Option<Mode>,
    level: Option<i32>,
}

impl Compression {
    /// What the last place says that says something, completed by what is usual for the profile.
    pub(super) fn merged(places: impl Iterator<Item = Compression>, profile: &Profile) -> Result<Settings> {
        let Compression { mode, level } = places.last().unwrap_or_default();
        let mode = mode.unwrap_or(if profile.release { Mode::Balanced } else { Mode::Fast });
        if level.is_some() && matches!(mode, Mode::None | Mode::Archive) {
            return Err(Error::new(format!("the compression \"{mode}\" has no level"))
                .with_hint("leave `level` out, or choose \"fast\", \"balanced\" or \"max\""));
        }
        Ok(Settings { mode, level: level.unwrap_or(mode.usual_level()) })
    }

    /// Refuses what this build of this crate cannot do.
    pub(super) fn supported(settings: Settings) -> Result<Settings> {
        if cfg!(feature = "archive") || settings.mode != Mode::Archive {
            return Ok(settings);
        }
        let version = env!("CARGO_PKG_VERSION");
        Err(Error::new("the compression \"archive\" needs the feature `archive` of offload-build").with_hint(
            format!(
                "write offload-build = {{ version = \"{version}\", features = [\"archive\"] }} below [build-dependencies] of any package of the build, or choose \"max\""
            ),
        ))
    }

    /// `"balanced"`, `{ level = 19 }`, or `{ mode = "max", level = 20 }`.
    pub(super) fn read(value: Value<'_>) -> Result<Compression> {
        let unknown = || unknown(&value.to_string());
        if let Some(text) = value.as_str() {
            return Ok(Compression { mode: Some(text.parse().map_err(|_| unknown())?), level: None });
        }
        let table = value.as_table().ok_or_else(unknown)?;
        let mut compression = Compression::default();
        for (key, value) in table.entries() {
            match (key, value.as_str(), value.as_integer()) {
                ("mode", Some(mode), _) => compression.mode = Some(mode.parse().map_err(|_| unknown())?),
                ("level", _, Some(level)) => compression.level = Some(checked(level).ok_or_else(unknown)?),
                _ => return Err(unknown()),
            }
        }
        Ok(compression)
    }
}

/// A mode or a level.
impl FromStr for Compression {
    type Err = Error;

    fn from_str(text: &str) -> Result<Compression> {
        let level = text.parse().ok().and_then(checked);
        match (text.parse(), level) {
            (Ok(mode), _) => Ok(Compression { mode: Some(mode), level: None }),
            (_, Some(level)) => Ok(Compression { mode: None, level: Some(level) }),
            _ => Err(unknown(text)),
        }
    }
}

fn checked(level: i64) -> Option<i32> {
    i32::try_from(level).ok().filter(|level| (1..=MAX_LEVEL).contains(level))
}

fn unknown(text: &str) -> Error {
    Error::new(format!("`{text}` is no compression")).with_hint(
        "write \"none\", \"fast\", \"balanced\", \"max\" or \"archive\", or { level = 19 } with a level from 1 to 22",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Compression> {
        crate::settings::read(text, |table| Compression::read(table.required("compression")?))
    }

    fn profile(release: bool) -> Profile {
        Profile { release, optimized: release, debug_info: !release }
    }

    fn settings(text: &str, release: bool) -> Result<Settings> {
        Compression::merged(std::iter::once(parsed(text)?), &profile(release))
    }

    #[test]
    fn every_form_has_its_meaning() {
        for (text, release, mode, level) in [
            ("\"none\"", true, Mode::None, 1),
            ("\"fast\"", true, Mode::Fast, 1),
            ("\"balanced\"", false, Mode::Balanced, 19),
            ("\"max\"", false, Mode::Max, 22),
            ("\"archive\"", false, Mode::Archive, 19),
            ("{ level = 7 }", false, Mode::Fast, 7),
            ("{ level = 7 }", true, Mode::Balanced, 7),
            ("{ mode = \"max\", level = 20 }", true, Mode::Max, 20),
        ] {
            let found = settings(&format!("compression = {text}"), release).unwrap();
            assert_eq!(found, Settings { mode, level }, "{text}");
        }
        let usual = |release| Compression::merged(std::iter::empty(), &profile(release)).unwrap();
        assert_eq!(usual(true), Settings { mode: Mode::Balanced, level: 19 });
        assert_eq!(usual(false), Settings { mode: Mode::Fast, level: 1 });
    }

    #[test]
    fn lzma_is_a_feature() {
        for mode in [Mode::None, Mode::Fast, Mode::Balanced, Mode::Max] {
            let settings = Settings { mode, level: 1 };
            assert_eq!(Compression::supported(settings).unwrap(), settings);
        }
        match Compression::supported(Settings { mode: Mode::Archive, level: 19 }) {
            Ok(settings) => assert!(cfg!(feature = "archive") && settings.mode == Mode::Archive),
            Err(error) => {
                assert!(!cfg!(feature = "archive"));
                assert!(error.hint().unwrap().contains("features = [\"archive\"]"), "{error}");
            }
        }
    }

    #[test]
    fn later_places_win_whole() {
        let places =
            [parsed("compression = { mode = \"max\", level = 20 }"), "7".parse()].map(Result::unwrap);
        assert_eq!(
            Compression::merged(places.into_iter(), &profile(true)).unwrap(),
            Settings { mode: Mode::Balanced, level: 7 }
        );
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        for (text, part) in [
            ("\"lots\"", "\"archive\""),
            ("{ level = 0 }", "from 1 to 22"),
            ("{ level = 23 }", "from 1 to 22"),
            ("{ mode = \"none\", level = 3 }", "has no level"),
            ("{ mode = \"archive\", level = 3 }", "has no level"),
            ("{ levels = 3 }", "no compression"),
            ("19", "no compression"),
        ] {
            let error = settings(&format!("compression = {text}"), true).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("hint:"), "{text}: {error}");
        }
    }
}
