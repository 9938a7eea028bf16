//! Releases of NVIDIA's driver for Linux: the CUDA of each, and the architectures that it supports.

use super::toolkit::{CudaVersion, TOOLKITS};

/// A release of NVIDIA's driver, of which the version of CUDA is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct DriverRelease {
    release: Release,
    cuda: CudaVersion,
}

/// The parts of `550.54.14`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Release([u32; 3]);

/// The drivers that support an architecture.
struct Support {
    sm: u32,
    first: &'static str,
    /// The last branch, where there are later ones.
    last: Option<u32>,
}

const fn support(sm: u32, first: &'static str, last: Option<u32>) -> Support {
    Support { sm, first, last }
}

/// GPUs of computers, by architecture; those of Jetson come with drivers of their own.
///
/// - First: the driver of the first CUDA that compiles for the architecture
///   (<https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html#cuda-driver>), and of `sm_103` and `sm_121`,
///   which came later than their compiler, <https://docs.nvidia.com/datacenter/tesla/drivers/index.html> and
///   <https://docs.nvidia.com/dgx/dgx-spark/index.html>.
/// - Last: <https://forums.developer.nvidia.com/t/unix-graphics-feature-deprecation-schedule/60588> and "Deprecated
///   Architectures" of CUDA 13.0: R580 is the last branch for Maxwell, Pascal and Volta.
const SUPPORT: [Support; 16] = [
    support(50, "367.48", Some(580)),
    support(52, "367.48", Some(580)),
    support(60, "367.48", Some(580)),
    support(61, "367.48", Some(580)),
    support(70, "384.81", Some(580)),
    support(75, "410.48", None),
    support(80, "450.36.06", None),
    support(86, "455.23", None),
    support(89, "520.56.06", None),
    support(90, "520.61.05", None),
    support(100, "570.26", None),
    support(103, "580.65.06", None),
    support(107, "615", None),
    support(110, "580.65.06", None),
    support(120, "570.26", None),
    support(121, "580.65.06", None),
];

impl DriverRelease {
    /// A part that is not given may be any. `None` for what is no release, or one before those with CUDA 8.0.
    pub(super) fn parse(text: &str) -> Option<DriverRelease> {
        let release = Release::parse(text, u32::MAX)?;
        let known = TOOLKITS.iter().rev().find(|toolkit| Release::first(toolkit.driver) <= release)?;
        Some(DriverRelease { release, cuda: known.cuda })
    }

    /// The version of CUDA that it has: of a release after the last that is known, that one's.
    pub(super) fn cuda(self) -> CudaVersion {
        self.cuda
    }

    /// The last branch that is known, if this release is of a later one.
    pub(super) fn taken_for(self) -> Option<u32> {
        let last = TOOLKITS.last().map(|toolkit| Release::first(toolkit.driver).branch())?;
        (self.release.branch() > last).then_some(last)
    }

    /// Why it does not support GPUs of the architecture `sm`.
    pub(super) fn refusal(self, sm: u32) -> Option<String> {
        let support = SUPPORT.iter().find(|support| support.sm == sm)?;
        let branch = self.release.branch();
        match support.last {
            Some(last) if branch > last => Some(format!(
                "the driver R{branch} does not support sm_{sm}: R{last} is the last branch that does"
            )),
            _ if self.release < Release::first(support.first) => {
                let first = support.first;
                Some(format!("the driver R{branch} does not support sm_{sm}: {first} is the first that does"))
            }
            _ => None,
        }
    }
}

impl Release {
    /// `text` with `rest` for the parts that it does not have.
    fn parse(text: &str, rest: u32) -> Option<Release> {
        let mut release = Release([rest; 3]);
        let mut parts = text.split('.');
        for slot in &mut release.0 {
            let Some(part) = parts.next() else { break };
            *slot = part.parse().ok()?;
        }
        parts.next().is_none().then_some(release)
    }

    /// A release of a table.
    fn first(text: &str) -> Release {
        Release::parse(text, 0).unwrap_or(Release([u32::MAX; 3]))
    }

    fn branch(self) -> u32 {
        let Release([branch, ..]) = self;
        branch
    }
}

#[cfg(test)]
mod tests {
    use offload_format::SmArch;

    use super::*;

    #[test]
    fn a_release_of_the_driver_has_a_version_of_cuda() {
        fn cuda(release: &str) -> Option<String> {
            DriverRelease::parse(release).map(|release| release.cuda().to_string())
        }
        for (release, expected) in [
            ("367.48", Some("8.0")),
            ("550", Some("12.4")),
            ("550.54.14", Some("12.4")),
            ("550.40.07", Some("12.3")),
            ("580.159.04", Some("13.0")),
            ("590", Some("13.1")),
            ("595", Some("13.2")),
            ("595.45.04", Some("13.2")),
            ("595.10", Some("13.1")),
            ("610", Some("13.3")),
            ("615.71.09", Some("13.4")),
            ("620", Some("13.5")),
            ("999", Some("13.5")),
            ("340.108", None),
            ("12.x", None),
            ("1.2.3.4", None),
            ("", None),
        ] {
            assert_eq!(cuda(release).as_deref(), expected, "{release}");
        }
        assert!(TOOLKITS.windows(2).all(|pair| pair[0].cuda < pair[1].cuda));
        assert!(
            TOOLKITS.windows(2).all(|pair| Release::first(pair[0].driver) < Release::first(pair[1].driver))
        );
    }

    #[test]
    fn a_later_branch_is_taken_for_the_last_one() {
        fn taken(release: &str) -> Option<u32> {
            DriverRelease::parse(release).unwrap().taken_for()
        }
        assert_eq!((taken("620.99.99"), taken("621"), taken("999.1")), (None, Some(620), Some(620)));
    }

    #[test]
    fn branches_support_architectures() {
        fn supports(release: &str, sm: u32) -> bool {
            DriverRelease::parse(release).unwrap().refusal(sm).is_none()
        }
        for (sm, yes, no) in [
            (50, "580.159.04", "590"),
            (52, "450", "595.45.04"),
            (61, "580", "590.44.01"),
            (70, "384.81", "610"),
            (70, "580", "375"),
            (75, "999", "390"),
            (80, "450.36.06", "440"),
            (86, "470", "450"),
            (89, "525", "515"),
            (90, "525", "515"),
            (100, "570", "565"),
            (103, "580", "570"),
            (120, "570.86.16", "550"),
            (121, "590", "575"),
            (107, "615.71.09", "610"),
        ] {
            assert!(supports(yes, sm) && !supports(no, sm), "sm_{sm}");
        }
        // Tegra's drivers are others, and nothing is known of what is newer.
        assert!(supports("550", 87) && supports("620", 130));
    }

    /// A driver compiles PTX for what it supports: the two tables are of different pages.
    #[test]
    fn what_a_driver_supports_is_in_its_ptx() {
        for support in &SUPPORT {
            let sm: SmArch = SmArch::known()
                .find(|sm| sm.suffix().is_none() && u32::from(sm.number()) == support.sm)
                .unwrap();
            let needed = sm.min_ptx().unwrap();
            let cuda = DriverRelease::parse(support.first).unwrap().cuda();
            let taken = crate::description::PtxVersion::newest_taken_by(cuda).unwrap();
            let needed = crate::description::PtxVersion::from_word(needed.word()).unwrap();
            // CUDA 11.8 brought sm_89; a driver of its branch supports it before.
            assert!(taken >= needed || support.sm == 89, "sm_{}", support.sm);
        }
    }
}
