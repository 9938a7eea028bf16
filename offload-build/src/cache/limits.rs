//! How large and how old a cache may grow.

use std::ffi::OsString;
use std::time::Duration;

use super::DAY;
use crate::env::CargoEnv;
use crate::error::{Error, Result};

/// What eviction keeps; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Bytes of all entries together.
    pub(super) size: Option<u64>,
    /// Time since the last use.
    pub(super) age: Option<Duration>,
}

const DEFAULT_SIZE: u64 = 5 << 30;
const DEFAULT_DAYS: u32 = 90;

impl Limits {
    /// `OFFLOAD_CACHE_SIZE` and `OFFLOAD_CACHE_AGE`. They change no output, so a change of them reruns nothing.
    pub(super) fn read(env: &CargoEnv) -> Result<Limits> {
        Limits::parse(env.setting("OFFLOAD_CACHE_SIZE"), env.setting("OFFLOAD_CACHE_AGE"))
    }

    fn parse(size: Option<OsString>, age: Option<OsString>) -> Result<Limits> {
        let size = number(size, "OFFLOAD_CACHE_SIZE", bytes, "5G")?.unwrap_or(DEFAULT_SIZE);
        let days = number(age, "OFFLOAD_CACHE_AGE", days, "90")?.unwrap_or(DEFAULT_DAYS);
        Ok(Limits { size: (size > 0).then_some(size), age: (days > 0).then(|| DAY * days) })
    }
}

fn number<T>(
    value: Option<OsString>,
    name: &str,
    parse: fn(&str) -> Option<T>,
    example: &str,
) -> Result<Option<T>> {
    let Some(value) = value else { return Ok(None) };
    let text = value.to_string_lossy();
    parse(text.trim()).map(Some).ok_or_else(|| {
        Error::new(format!("the value `{}` of `{name}` is not understood", text.escape_default()))
            .with_hint(format!("write {name}={example}, or 0 for no limit"))
    })
}

/// A number of bytes, or with a suffix of KiB, MiB, GiB.
fn bytes(text: &str) -> Option<u64> {
    let shift = match text.bytes().last()? {
        b'K' | b'k' => 10,
        b'M' | b'm' => 20,
        b'G' | b'g' => 30,
        _ => return text.parse().ok(),
    };
    let digits = text.get(..text.len().checked_sub(1)?)?;
    digits.trim_end().parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// More days than any clock counts are no limit either, but none that overflows.
fn days(text: &str) -> Option<u32> {
    text.parse().ok().filter(|days| *days <= 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(size: &str, age: &str) -> Result<Limits> {
        let given = |text: &str| (!text.is_empty()).then(|| OsString::from(text));
        Limits::parse(given(size), given(age))
    }

    #[test]
    fn sizes_and_ages() {
        assert_eq!(parse("", "").unwrap(), Limits { size: Some(5 << 30), age: Some(DAY * 90) });
        assert_eq!(parse("0", "0").unwrap(), Limits { size: None, age: None });
        for (text, size) in [("1000", 1000), ("3K", 3072), ("2m", 2 << 20), ("7 G", 7 << 30)] {
            assert_eq!(parse(text, "1").unwrap(), Limits { size: Some(size), age: Some(DAY) }, "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for text in ["lots", "5T", "-1", "G", "5GB", "99999999999G"] {
            let error = parse(text, "").unwrap_err().to_string();
            assert!(error.contains(text) && error.contains("hint: write OFFLOAD_CACHE_SIZE=5G"), "{error}");
        }
        for text in ["never", "1.5", "4294967295"] {
            assert!(parse("", text).unwrap_err().to_string().contains("OFFLOAD_CACHE_AGE=90"), "{text}");
        }
    }
}
