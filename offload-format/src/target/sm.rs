//! NVIDIA architectures.

use std::fmt;

/// An NVIDIA architecture: `sm_90`, or `sm_90a` with features of that one architecture only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SmArch {
    number: u16,
    suffix: Option<char>,
}

impl SmArch {
    pub(super) const KNOWN: [&'static str; 19] = [
        "50", "52", "53", "60", "61", "62", "70", "72", "75", "80", "86", "87", "89", "90", "90a", "100",
        "103", "120", "121",
    ];

    /// The compute capability, as `90` for 9.0.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// `a` (this architecture only) or `f` (its family), if given.
    pub fn suffix(&self) -> Option<char> {
        self.suffix
    }

    pub(super) fn parse(text: &str) -> Option<SmArch> {
        let digits = text.strip_prefix("sm_")?;
        let (digits, suffix) = match digits.chars().last()? {
            last @ ('a' | 'f') => (digits.strip_suffix(last)?, Some(last)),
            _ => (digits, None),
        };
        let plain = digits.len() >= 2 && digits.bytes().all(|b| b.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| plain && !digits.starts_with('0'))?;
        Some(SmArch { number, suffix })
    }
}

impl fmt::Display for SmArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number)?;
        self.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}
