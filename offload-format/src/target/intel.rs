//! Intel GPU architectures, by ocloc's names and by IP version.

use std::fmt;

/// Intel GPUs as `ocloc -device` knows them: a name (`pvc`, `acm-g10`), an IP version (`12.60.7`), a device ID
/// (`0x56a0`), a family or release (`xe`, `xe-hpg`), or a range (`dg1:acm-g10`, `dg1:`, `:pvc`), whose ends belong to
/// it. The image of a family or a range is an archive with a member for each device.
///
/// The installed ocloc decides which of them it can compile for.
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

/// Devices that run images of another one: Intel's driver looks for these where it finds none of the device itself. By
/// IP version, those of later revisions included
/// (<https://github.com/intel/compute-runtime>, `compatProdConfPairs` of each product family).
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

    /// Every single device that this release knows by name; those of several names once.
    pub fn devices() -> impl Iterator<Item = IntelArch> {
        let first = |(index, (_, ip)): &(usize, &(&str, [u32; 3]))| {
            DEVICES.iter().take(*index).all(|(_, earlier)| earlier != ip)
        };
        DEVICES.iter().enumerate().filter(first).map(|(_, (name, _))| IntelArch((*name).to_string()))
    }

    /// Whether the name is of several devices, so that its image is an archive.
    pub fn is_group(&self) -> bool {
        self.0.contains(':') || self.0 == "*" || GROUPS.iter().any(|(name, ..)| *name == self.0)
    }

    /// Whether a device of the IP version `device` belongs to this group.
    pub fn covers(&self, device: [u32; 3]) -> bool {
        if let Some((from, to)) = self.0.split_once(':') {
            let after = from.is_empty() || edge(from, Edge::First).is_some_and(|first| first <= device);
            let before = to.is_empty() || edge(to, Edge::Last).is_some_and(|last| device <= last);
            return after && before;
        }
        let [architecture, release, _] = device;
        self.0 == "*"
            || self.ip_version() == Some(device)
            || GROUPS.iter().any(|(name, of, [first, last])| {
                *name == self.0 && *of == architecture && (*first..=*last).contains(&release)
            })
    }

    /// Whether the driver takes the image of this device for `device` too, which is another one of its family.
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

    /// Architecture, release and revision of the device, if the name is of one device.
    pub fn ip_version(&self) -> Option<[u32; 3]> {
        let named = DEVICES.iter().find(|(name, _)| *name == self.0).map(|(_, ip)| *ip);
        named.or_else(|| ip_version(&self.0))
    }

    pub(super) fn parse(text: &str) -> Option<IntelArch> {
        let one = |text: &str| Self::known().any(|name| name == text) || ip_version(text).is_some();
        let known = match text.split_once(':') {
            Some((from, to)) => (from.is_empty() || one(from)) && (to.is_empty() || one(to)) && text != ":",
            None => one(text) || text == "*" || is_device_id(text),
        };
        known.then(|| IntelArch(text.to_string()))
    }
}

#[derive(Clone, Copy)]
enum Edge {
    First,
    Last,
}

/// The first or last IP version of what `text` names.
fn edge(text: &str, which: Edge) -> Option<[u32; 3]> {
    let group = GROUPS.iter().find(|(name, ..)| *name == text);
    match (group, which) {
        (Some((_, of, [first, _])), Edge::First) => Some([*of, *first, 0]),
        (Some((_, of, [_, last])), Edge::Last) => Some([*of, *last, u32::MAX]),
        (None, _) => IntelArch(text.to_string()).ip_version(),
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
        let covers = |text: &str, device| IntelArch::parse(text).unwrap().covers(device);
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
