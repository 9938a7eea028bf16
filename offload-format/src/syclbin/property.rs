//! Property sets: the text in which SYCLBIN keeps its metadata.
//!
//! `[set]` lines, then `name=1|NUMBER` or `name=2|BYTES`. Bytes are written in a variant of base64: groups of six bits,
//! least significant bit first, over the length in bits as u64 and the bytes, without padding
//! (<https://github.com/intel/llvm/blob/sycl/llvm/lib/Support/PropertySetIO.cpp>).

use std::fmt;
use std::str::FromStr;

use crate::{Error, ErrorKind};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Sets of properties, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PropertySets {
    sets: Vec<(String, Vec<(String, PropertyValue)>)>,
}

/// The value of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PropertyValue {
    /// Type 1.
    Number(u32),
    /// Type 2.
    Bytes(Vec<u8>),
}

impl PropertySets {
    /// Starts a set.
    #[must_use]
    pub fn set(mut self, name: &str) -> PropertySets {
        self.sets.push((name.to_string(), Vec::new()));
        self
    }

    /// Adds a property to the set started last.
    #[must_use]
    pub fn property(mut self, name: &str, value: PropertyValue) -> PropertySets {
        if let Some((_, properties)) = self.sets.last_mut() {
            properties.push((name.to_string(), value));
        }
        self
    }

    /// The value of a property.
    pub fn get(&self, set: &str, name: &str) -> Option<&PropertyValue> {
        let mut sets = self.sets.iter().filter(|(other, _)| other == set);
        sets.find_map(|(_, properties)| properties.iter().find(|(other, _)| other == name))
            .map(|(_, value)| value)
    }

    /// The names of a set's properties.
    pub fn names(&self, set: &str) -> impl Iterator<Item = &str> {
        let sets = self.sets.iter().filter(move |(other, _)| other == set);
        sets.flat_map(|(_, properties)| properties).map(|(name, _)| name.as_str())
    }
}

impl fmt::Display for PropertySets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, properties) in &self.sets {
            writeln!(f, "[{name}]")?;
            for (name, value) in properties {
                match value {
                    PropertyValue::Number(number) => writeln!(f, "{name}=1|{number}")?,
                    PropertyValue::Bytes(bytes) => writeln!(f, "{name}=2|{}", encode(bytes))?,
                }
            }
        }
        Ok(())
    }
}

impl FromStr for PropertySets {
    type Err = Error;

    fn from_str(text: &str) -> Result<PropertySets, Error> {
        let mut sets = PropertySets::default();
        let mut offset = 0u64;
        for line in text.lines() {
            let malformed = || Error::from(ErrorKind::Text { what: "property", offset });
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                sets = sets.set(name);
            } else {
                let (name, value) =
                    line.split_once('=').filter(|_| !sets.sets.is_empty()).ok_or_else(malformed)?;
                let value = match value.split_once('|') {
                    Some(("1", number)) => PropertyValue::Number(number.parse().map_err(|_| malformed())?),
                    Some(("2", bytes)) => PropertyValue::Bytes(decode(bytes).ok_or_else(malformed)?),
                    _ => return Err(malformed()),
                };
                sets = sets.property(name, value);
            }
            offset = offset.saturating_add(line.len() as u64).saturating_add(1);
        }
        Ok(sets)
    }
}

fn encode(bytes: &[u8]) -> String {
    let bits = (bytes.len() as u64).saturating_mul(8);
    let all = [&bits.to_le_bytes(), bytes].concat();
    let bit = |index: usize| all.get(index / 8).map_or(0, |byte| byte >> (index % 8) & 1);
    let groups = (all.len() * 8).div_ceil(6);
    (0..groups)
        .filter_map(|group| {
            let value = (0..6).fold(0, |value, at| value | bit(group * 6 + at) << at);
            ALPHABET.get(usize::from(value)).copied().map(char::from)
        })
        .collect()
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![0u8; text.len() * 6 / 8];
    for (group, char) in text.bytes().enumerate() {
        let value = ALPHABET.iter().position(|other| *other == char)?;
        for at in 0..6 {
            let index = group * 6 + at;
            if let Some(byte) = bytes.get_mut(index / 8) {
                *byte |= ((value >> at & 1) as u8) << (index % 8);
            }
        }
    }
    let (length, content) = bytes.split_at_checked(8)?;
    let bits = u64::from_le_bytes(length.try_into().ok()?);
    // A length beyond the text would be read out of bounds by others.
    let size = usize::try_from(bits.checked_div(8)?).ok().filter(|_| bits.is_multiple_of(8))?;
    Some(content.get(..size)?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the runtime of oneAPI 2026.2 writes them.
    #[test]
    fn check_values() {
        for (bytes, text) in [
            (b"x86_64".as_slice(), "wAAAAAAAAAAe4YzX2QD"),
            (b"", "AAAAAAAAAAA"),
            (b"spir64-unknown-unknown", "wCAAAAAAAAwcwlmc2QTL152au92du1Sdutmbvdnb"),
            (&[6, 0, 0, 0], "gAAAAAAAAAgBAAAA"),
        ] {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text).unwrap(), bytes);
        }
    }

    #[test]
    fn text_round_trips_and_nonsense_is_refused() {
        let text = "[SYCL/kernel names]\nk=1|1\n[x]\ny=2|gAAAAAAAAAgBAAAA\n";
        assert_eq!(text.parse::<PropertySets>().unwrap().to_string(), text);
        for bad in [
            "k=1|1\n",
            "[s]\nk\n",
            "[s]\nk=1|x\n",
            "[s]\nk=3|1\n",
            "[s]\nk=2|A\n",
            "[s]\nk=2|wAAAAAAAAAA\n",
            "[s]\nk=2|=\n",
        ] {
            assert!(bad.parse::<PropertySets>().is_err(), "{bad:?}");
        }
    }
}
