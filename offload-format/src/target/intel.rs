//! Intel GPU architectures, by ocloc's names and by IP version.

use std::fmt;

/// An Intel GPU as `ocloc -device` knows it: a name (`pvc`, `acm-g10`, `xe-hpg`) or an IP version (`12.60.7`).
///
/// The installed ocloc decides which of them it can compile for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IntelArch(String);

/// Names with the IP version (architecture, release, revision) that `ocloc ids NAME` gives.
const DEVICES: [(&str, [u32; 3]); 43] = [
    ("bdw", [8, 0, 0]),
    ("skl", [9, 0, 9]),
    ("kbl", [9, 1, 9]),
    ("cfl", [9, 2, 9]),
    ("apl", [9, 3, 0]),
    ("bxt", [9, 3, 0]),
    ("glk", [9, 4, 0]),
    ("whl", [9, 5, 0]),
    ("aml", [9, 6, 0]),
    ("cml", [9, 7, 0]),
    ("icllp", [11, 0, 0]),
    ("lkf", [11, 1, 0]),
    ("ehl", [11, 2, 0]),
    ("jsl", [11, 2, 0]),
    ("tgllp", [12, 0, 0]),
    ("rkl", [12, 1, 0]),
    ("adl-s", [12, 2, 0]),
    ("adl-p", [12, 3, 0]),
    ("adl-n", [12, 4, 0]),
    ("dg1", [12, 10, 0]),
    ("acm-g10", [12, 55, 8]),
    ("ats-m150", [12, 55, 8]),
    ("acm-g11", [12, 56, 5]),
    ("ats-m75", [12, 56, 5]),
    ("acm-g12", [12, 57, 0]),
    ("pvc-sdv", [12, 60, 1]),
    ("pvc", [12, 60, 7]),
    ("pvc-vg", [12, 61, 7]),
    ("mtl-u", [12, 70, 4]),
    ("mtl-h", [12, 71, 4]),
    ("arl-h", [12, 74, 4]),
    ("bmg-g21", [20, 1, 0]),
    ("bmg-g31", [20, 2, 0]),
    ("lnl-m", [20, 4, 4]),
    ("ptl-h", [30, 0, 4]),
    ("ptl-u", [30, 1, 0]),
    ("wcl", [30, 3, 1]),
    ("nvl-s", [30, 4, 4]),
    ("nvl-u", [30, 5, 4]),
    ("nvl-p", [35, 10, 4]),
    ("cri", [35, 11, 0]),
    ("mtl", [12, 70, 4]),
    ("bmg", [20, 1, 0]),
];

/// Names of several devices at once; their image is an archive with a member for each.
const GROUPS: [&str; 12] = [
    "dg2", "gen8", "gen9", "gen11", "gen12lp", "xe", "xe-lp", "xe-hpg", "xe-hpc", "xe2-lpg", "xe2-hpg",
    "xe3-lpg",
];

impl IntelArch {
    pub(super) fn known() -> impl Iterator<Item = &'static str> {
        DEVICES.iter().map(|(name, _)| *name).chain(GROUPS)
    }

    /// ocloc's name or IP version.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Architecture, release and revision of the device, if the name is of one device.
    pub fn ip_version(&self) -> Option<[u32; 3]> {
        let named = DEVICES.iter().find(|(name, _)| *name == self.0).map(|(_, ip)| *ip);
        named.or_else(|| ip_version(&self.0))
    }

    pub(super) fn parse(text: &str) -> Option<IntelArch> {
        let known = Self::known().any(|name| name == text) || ip_version(text).is_some();
        known.then(|| IntelArch(text.to_string()))
    }
}

fn ip_version(text: &str) -> Option<[u32; 3]> {
    let mut numbers = text.split('.').map(|part| {
        let canonical = !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_digit())
            && (part == "0" || !part.starts_with('0'));
        part.parse().ok().filter(|_| canonical)
    });
    let version = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(version)
}

impl fmt::Display for IntelArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_versions_agree() {
        assert_eq!(IntelArch::parse("pvc").unwrap().ip_version(), Some([12, 60, 7]));
        assert_eq!(IntelArch::parse("12.60.7").unwrap().ip_version(), Some([12, 60, 7]));
        assert_eq!(IntelArch::parse("xe-hpg").unwrap().ip_version(), None);
        assert!(IntelArch::parse("12.60").is_none());
        assert!(IntelArch::parse("012.60.7").is_none());
    }
}
