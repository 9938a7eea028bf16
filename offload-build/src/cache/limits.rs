//! Limits of the compile cache in environment variables.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use offload_cache::Limits;
use offload_protocol::variable;

use crate::env::CargoEnv;
use crate::error::{Error, Result};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The variables that override the default limits.
const LIMITS: [&str; 2] = [variable::CACHE_SIZE, variable::CACHE_AGE];

/// What eviction keeps. Limits change no output, so a change of them reruns nothing.
pub(super) fn for_environment(env: &CargoEnv) -> Result<Limits> {
    parse(LIMITS.map(|name| env.setting(name)))
}

/// The limits in the values of [`LIMITS`], completed by the default ones.
fn parse([size, age]: [Option<OsString>; 2]) -> Result<Limits> {
    let [size_name, age_name] = LIMITS;
    let mut limits = Limits::USUAL;
    if let Some(text) = size {
        let size = text.to_str().and_then(|text| bytes(text.trim()));
        limits.size = Some(size.ok_or_else(|| misspelt(&text, size_name, "5G"))?).filter(|size| *size > 0);
    }
    if let Some(text) = age {
        let days = text.to_str().and_then(|text| days(text.trim()));
        let days = days.ok_or_else(|| misspelt(&text, age_name, "90"))?;
        limits.age = (days > 0).then(|| DAY * days);
    }
    Ok(limits)
}

fn misspelt(value: &OsStr, name: &str, example: &str) -> Error {
    let text = value.to_string_lossy();
    Error::new(format!("the value `{}` of `{name}` is not understood", text.escape_default()))
        .with_hint(format!("write {name}={example}, or 0 for no limit"))
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

    /// An empty value stands for a variable that is not set.
    fn parsed(size: &str, age: &str) -> Result<Limits> {
        parse([size, age].map(|text| (!text.is_empty()).then(|| OsString::from(text))))
    }

    #[test]
    fn sizes_and_ages() {
        assert_eq!(parsed("", "").unwrap(), Limits { size: Some(5 << 30), age: Some(DAY * 90) });
        assert_eq!(parsed("0", "0").unwrap(), Limits { size: None, age: None });
        for (text, size) in [("1000", 1000), ("3K", 3072), ("2m", 2 << 20), ("7 G", 7 << 30)] {
            assert_eq!(parsed(text, "1").unwrap(), Limits { size: Some(size), age: Some(DAY) }, "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for text in ["lots", "5T", "-1", "G", "5GB", "99999999999G"] {
            let error = parsed(text, "").unwrap_err().to_string();
            assert!(error.contains(text) && error.contains("hint: write OFFLOAD_CACHE_SIZE=5G"), "{error}");
        }
        for text in ["never", "1.5", "4294967295"] {
            assert!(parsed("", text).unwrap_err().to_string().contains("OFFLOAD_CACHE_AGE=90"), "{text}");
        }
    }
}
