//! Intel GPU architectures, by ocloc's names and by IP version.

use std::collections::BTreeSet;
use std::fmt;

/// Intel GPUs in the notation of `ocloc -device`: a name (`pvc`, `acm-g10`), an IP version (`12.60.7`), a device ID
/// (`0x56a0`), a family or release (`xe`, `xe-hpg`), or an inclusive range (`dg1:acm-g10`, `dg1:`, `:pvc`). The image of a
/// family or range is an archive with a member per device.
///
/// The installed ocloc may support fewer of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IntelArch(String);

/// Names with the IP version (architecture, release, revision) that `ocloc ids NAME` gives.
const DEVICES: [(&str, [u32; 3]); 46] = [
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
    ("dg2-g10", [12, 55, 8]),
    ("dg2-g11", [12, 56, 5]),
    ("dg2-g12", [12, 57, 0]),
    ("mtl", [12, 70, 4]),
    ("bmg", [20, 1, 0]),
];

/// Families and releases, by `ocloc ids GROUP`: architecture, first and last release.
const GROUPS: [(&str, u32, [u32; 2]); 12] = [
    ("dg2", 12, [55, 57]),
    ("gen8", 8, [0, u32::MAX]),
    ("gen9", 9, [0, u32::MAX]),
    ("gen11", 11, [0, u32::MAX]),
    ("gen12lp", 12, [0, 10]),
    ("xe", 12, [0, u32::MAX]),
    ("xe-lp", 12, [0, 10]),
    ("xe-hpg", 12, [55, 57]),
    ("xe-hpc", 12, [60, 61]),
    ("xe2-lpg", 20, [3, 4]),
    ("xe2-hpg", 20, [1, 2]),
    ("xe3-lpg", 30, [0, u32::MAX]),
];

/// Devices that are compatible with images of another one: Intel's driver falls back to these. By IP version, later
/// revisions included (<https://github.com/intel/compute-runtime>, `compatProdConfPairs` of each product family).
const COMPATIBLE: [([u32; 3], &[[u32; 3]]); 4] = [
    ([12, 55, 8], &[[12, 56, 5], [12, 57, 0]]),
    ([12, 70, 4], &[[12, 71, 4]]),
    ([20, 1, 0], &[[20, 2, 0], [20, 4, 4]]),
    ([30, 0, 4], &[[30, 1, 0], [30, 3, 1], [30, 4, 4], [30, 5, 4]]),
];

impl IntelArch {
    pub(super) fn known() -> impl Iterator<Item = &'static str> {
        DEVICES.iter().map(|(name, _)| *name).chain(GROUPS.iter().map(|(name, ..)| *name))
    }

    /// Every known device by its first name.
    pub fn devices() -> impl Iterator<Item = IntelArch> {
        let mut devices = Vec::new();
        let mut versions = BTreeSet::new();
        for (name, ip) in DEVICES {
            if versions.insert(ip) {
                devices.push(IntelArch(name.to_string()));
            }
        }
        devices.into_iter()
    }

    /// Whether the name stands for a family or range, so that its image is an archive.
    pub fn is_group(&self) -> bool {
        self.0.contains(':') || self.0 == "*" || GROUPS.iter().any(|(name, ..)| *name == self.0)
    }

    /// Whether this name, family or range includes the device with the IP version `device`.
    pub fn covers(&self, device: [u32; 3]) -> bool {
        if let Some((from, to)) = self.0.split_once(':') {
            let is_above = from.is_empty() || first_version(from).is_some_and(|first| first <= device);
            let is_below = to.is_empty() || last_version(to).is_some_and(|last| device <= last);
            return is_above && is_below;
        }
        if self.0 == "*" || self.ip_version() == Some(device) {
            return true;
        }
        let [device_architecture, release, _] = device;
        GROUPS.iter().any(|(name, architecture, [first, last])| {
            *name == self.0 && *architecture == device_architecture && (*first..=*last).contains(&release)
        })
    }

    /// Whether the driver accepts the image of this device for `device`, another one of its family.
    ///
    /// ```
    /// use offload_format::Target;
    ///
    /// let Target::Intel(g10) = "intel:acm-g10".parse()? else { panic!() };
    /// assert!(g10.is_taken_by([12, 56, 5]) && !g10.is_taken_by([12, 60, 7]));
    /// # Ok::<(), offload_format::UnknownTarget>(())
    /// ```
    pub fn is_taken_by(&self, device: [u32; 3]) -> bool {
        let Some([architecture, release, revision]) = self.ip_version() else { return false };
        COMPATIBLE.iter().any(|([a, r, v], others)| {
            (architecture, release) == (*a, *r) && revision >= *v && others.contains(&device)
        })
    }

    /// ocloc's name or IP version.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Architecture, release and revision of a single device; `None` for a family or range.
    pub fn ip_version(&self) -> Option<[u32; 3]> {
        match DEVICES.iter().find(|(name, _)| *name == self.0) {
            Some((_, ip)) => Some(*ip),
            None => ip_version(&self.0),
        }
    }

    pub(super) fn parse(text: &str) -> Option<IntelArch> {
        let is_valid = match text.split_once(':') {
            Some((from, to)) => is_range_end(from) && is_range_end(to) && text != ":",
            None => is_name(text) || text == "*" || is_device_id(text),
        };
        is_valid.then(|| IntelArch(text.to_string()))
    }
}

/// Whether `text` is a known name or an IP version.
fn is_name(text: &str) -> bool {
    IntelArch::known().any(|name| name == text) || ip_version(text).is_some()
}

fn is_range_end(text: &str) -> bool {
    text.is_empty() || is_name(text)
}

/// The lowest IP version of a device, family or release.
fn first_version(name: &str) -> Option<[u32; 3]> {
    match GROUPS.iter().find(|(group, ..)| *group == name) {
        Some((_, architecture, [first, _])) => Some([*architecture, *first, 0]),
        None => IntelArch(name.to_string()).ip_version(),
    }
}

/// The highest IP version of a device, family or release.
fn last_version(name: &str) -> Option<[u32; 3]> {
    match GROUPS.iter().find(|(group, ..)| *group == name) {
        Some((_, architecture, [_, last])) => Some([*architecture, *last, u32::MAX]),
        None => IntelArch(name.to_string()).ip_version(),
    }
}

fn is_device_id(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    (3..=4).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
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

    #[test]
    fn ranges_and_families_cover_devices() {
        fn covers(text: &str, device: [u32; 3]) -> bool {
            IntelArch::parse(text).unwrap().covers(device)
        }
        assert!(covers("xe-hpg", [12, 56, 5]) && !covers("xe-hpg", [12, 60, 7]));
        assert!(covers("dg1:acm-g10", [12, 10, 0]) && covers("dg1:acm-g10", [12, 55, 8]));
        assert!(!covers("dg1:acm-g10", [12, 56, 5]) && !covers("dg1:", [12, 4, 0]));
        assert!(
            covers(":xe-hpg", [9, 0, 9]) && covers(":xe-hpg", [12, 57, 0]) && !covers(":xe-hpg", [12, 60, 7])
        );
        assert!(covers("*", [30, 0, 4]));
        for text in ["dg1:nothing", ":", "0x", "0x56A0", "a:b:c"] {
            assert!(IntelArch::parse(text).is_none(), "{text}");
        }
        assert!(IntelArch::parse("0x56a0").is_some_and(|arch| !arch.is_group()));
    }

    #[test]
    fn devices_are_named_once() {
        let names: Vec<String> = IntelArch::devices().map(|arch| arch.to_string()).collect();
        assert!(
            names.contains(&"acm-g10".to_string()) && !names.contains(&"ats-m150".to_string()),
            "{names:?}"
        );
    }
}
