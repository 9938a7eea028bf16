//! NVIDIA architectures.

use std::fmt;

/// An NVIDIA architecture: `sm_90`, or `sm_90a` with features of that one architecture only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SmArch {
    number: u16,
    suffix: Option<char>,
}

/// A version of PTX: 7.8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion {
    /// 7 of 7.8.
    pub major: u16,
    /// 8 of 7.8.
    pub minor: u8,
}

impl PtxVersion {
    /// The version in the form that SPIR-V uses: `0x00070800` for 7.8.
    pub fn word(self) -> u32 {
        u32::from(self.major) << 16 | u32::from(self.minor) << 8
    }
}

impl SmArch {
    pub(super) const KNOWN: [&'static str; 26] = [
        "50", "52", "53", "60", "61", "62", "70", "72", "75", "80", "86", "87", "88", "89", "90", "90a",
        "100", "100a", "103", "103a", "107", "110", "120", "120a", "121", "121a",
    ];

    /// Every known architecture, oldest first.
    pub fn known() -> impl Iterator<Item = SmArch> {
        SmArch::KNOWN.iter().filter_map(|name| SmArch::parse(&format!("sm_{name}")))
    }

    /// The lowest version of PTX that supports the architecture
    /// (<https://docs.nvidia.com/cuda/parallel-thread-execution/#release-notes>); `None` for an unknown one.
    ///
    /// The lower the version, the older the drivers that accept the PTX.
    pub fn min_ptx(&self) -> Option<PtxVersion> {
        let (major, minor) = match (self.number, self.suffix) {
            (50 | 52 | 53 | 60..=62, None) => (5, 0),
            (70, None) => (6, 0),
            (72, None) => (6, 1),
            (75, None) => (6, 3),
            (80, None) => (7, 0),
            (86, None) => (7, 1),
            (87, None) => (7, 4),
            (89 | 90, None) => (7, 8),
            (90, Some('a')) => (8, 0),
            (100 | 101, None | Some('a')) => (8, 6),
            (120, None | Some('a')) => (8, 7),
            (103 | 121, None | Some('a')) | (100 | 101 | 103 | 120 | 121, Some('f')) => (8, 8),
            (88, None) | (110, _) => (9, 0),
            (107, _) => (9, 4),
            _ => return None,
        };
        Some(PtxVersion { major, minor })
    }

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
        let is_canonical =
            digits.len() >= 2 && digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
        if !is_canonical {
            return None;
        }
        Some(SmArch { number: digits.parse().ok()?, suffix })
    }
}

impl fmt::Display for SmArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number)?;
        self.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_architecture_has_a_lowest_version() {
        let versions: Vec<_> = SmArch::known().map(|sm| sm.min_ptx().unwrap()).collect();
        assert_eq!(versions.len(), SmArch::KNOWN.len());
        assert_eq!(SmArch::parse("sm_80").unwrap().min_ptx(), Some(PtxVersion { major: 7, minor: 0 }));
        assert_eq!(SmArch::parse("sm_100f").unwrap().min_ptx(), Some(PtxVersion { major: 8, minor: 8 }));
        assert_eq!(SmArch::parse("sm_42").unwrap().min_ptx(), None);
    }
}
