//! The description of a CUDA device: which images it takes depends on its architecture and on its driver's version.

use std::fmt;

use offload_format::{Aspects, SmArch};

use crate::text::escape;

/// What a CUDA device accepts.
///
/// ```
/// use offload_rt::{CudaDescription, DeviceDescription};
///
/// let device = DeviceDescription::from(CudaDescription::new("H200", [9, 0]).driver_version(12080));
/// assert_eq!(device.to_string(), "CUDA device H200 (sm_90, CUDA driver 12.8, takes PTX up to 8.7)");
/// ```
#[derive(Clone, Debug)]
pub struct CudaDescription {
    pub(crate) name: String,
    pub(crate) compute_capability: [u32; 2],
    /// What the driver says; `None` refuses nothing.
    pub(crate) driver: Option<CudaVersion>,
}

impl CudaDescription {
    /// A device of this compute capability
    /// (<https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#compute-capability>), as `[9, 0]`, with a
    /// driver of unknown version.
    pub fn new(name: &str, compute_capability: [u32; 2]) -> CudaDescription {
        CudaDescription { name: name.to_string(), compute_capability, driver: None }
    }

    /// Its driver is of this version of CUDA, counted as CUDA does: 12080 is 12.8.
    #[must_use]
    pub fn driver_version(mut self, version: u32) -> CudaDescription {
        self.driver = Some(CudaVersion::new(version));
        self
    }

    /// Its driver is this release of NVIDIA's for Linux, as `550.54.14`, or the newest of a branch, as `550`
    /// (<https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html#cuda-driver>). `None` if the text is no release, or
    /// one before those with CUDA 8.0.
    ///
    /// ```
    /// use offload_rt::{CudaDescription, DeviceDescription};
    ///
    /// let device = CudaDescription::new("H200", [9, 0]).driver_release("550.54.14").expect("a known release");
    /// assert!(DeviceDescription::from(device).to_string().contains("CUDA driver 12.4"));
    /// assert!(CudaDescription::new("H200", [9, 0]).driver_release("newest").is_none());
    /// ```
    #[must_use]
    pub fn driver_release(self, release: &str) -> Option<CudaDescription> {
        let driver = CudaVersion::of_release(release)?;
        Some(CudaDescription { driver: Some(driver), ..self })
    }

    /// What images may use: every device since 2014 has 64-bit floating point and atomics, 16-bit floating point came with
    /// compute capability 5.3 and bfloat16 with 8.0. The driver links for all of them
    /// (<https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#features-and-technical-specifications>).
    pub(crate) fn aspects(&self) -> Aspects {
        let always = Aspects::FP64 | Aspects::ATOMIC64 | Aspects::LINKER;
        let since = |sm: u32, aspect: Aspects| if self.sm() >= sm { aspect } else { Aspects::default() };
        always | since(53, Aspects::FP16) | since(80, Aspects::BF16)
    }

    /// The newest architecture whose PTX the device takes, as far as its driver knows the language that it needs.
    pub(crate) fn newest_ptx_target(&self) -> Option<SmArch> {
        let newest = self.driver.map(PtxVersion::newest_taken_by);
        let known = |sm: &SmArch| match (newest, sm.min_ptx()) {
            (Some(Some(newest)), Some(needed)) => {
                PtxVersion(needed.major.into(), needed.minor.into()) <= newest
            }
            (Some(None), _) | (_, None) => false,
            (None, Some(_)) => true,
        };
        let portable =
            SmArch::known().filter(|sm| sm.suffix().is_none() && u32::from(sm.number()) <= self.sm());
        portable.filter(known).last()
    }

    /// The number in the name of the architecture: 90 for compute capability 9.0.
    pub(crate) fn sm(&self) -> u32 {
        let [major, minor] = self.compute_capability;
        major.saturating_mul(10).saturating_add(minor)
    }
}

impl fmt::Display for CudaDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, sm) = (escape(&self.name), self.sm());
        let Some(driver) = self.driver else { return write!(f, "CUDA device {name} (sm_{sm})") };
        write!(f, "CUDA device {name} (sm_{sm}, CUDA driver {driver}, takes ")?;
        match PtxVersion::newest_taken_by(driver) {
            Some(version) => write!(f, "PTX up to {version})"),
            None => f.write_str("no PTX)"),
        }
    }
}

/// A version of CUDA, counted as the driver does: 12080 is 12.8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CudaVersion(u32);

/// A version of the PTX language: major and minor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PtxVersion(u32, u32);

/// Versions of CUDA with the oldest driver that has them.
const DRIVERS: [(u32, &str); 27] = [
    (8000, "367.48"),
    (9000, "384.81"),
    (9010, "390.46"),
    (9020, "396.26"),
    (10000, "410.48"),
    (10010, "418.39"),
    (10020, "440.33"),
    (11000, "450.36.06"),
    (11010, "455.23"),
    (11020, "460.27.03"),
    (11030, "465.19.01"),
    (11040, "470.42.01"),
    (11050, "495.29.05"),
    (11060, "510.39.01"),
    (11070, "515.43.04"),
    (11080, "520.61.05"),
    (12000, "525.60.13"),
    (12010, "530.30.02"),
    (12020, "535.54.03"),
    (12030, "545.23.06"),
    (12040, "550.54.14"),
    (12050, "555.42.02"),
    (12060, "560.28.03"),
    (12080, "570.26"),
    (12090, "575.51.03"),
    (13000, "580.65.06"),
    (13010, "590.44.01"),
];

impl CudaVersion {
    pub(crate) const fn new(version: u32) -> CudaVersion {
        CudaVersion(version)
    }

    fn parts(self) -> (u32, u32) {
        (self.0 / 1000, self.0 % 1000 / 10)
    }

    /// The version of CUDA that a release of NVIDIA's driver has; a part that is not given may be any.
    fn of_release(release: &str) -> Option<CudaVersion> {
        let release = Release::parse(release, u32::MAX)?;
        let has = |(_, first): &&(u32, &str)| Release::parse(first, 0).is_some_and(|first| first <= release);
        DRIVERS.iter().rev().find(has).map(|(version, _)| CudaVersion(*version))
    }

    /// The first release of NVIDIA's driver for Linux that has this version or a later one, as NVIDIA's table tells; `None`
    /// for one that the table does not have yet.
    ///
    /// <https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html#cuda-driver>, of CUDA 13.1.
    pub(crate) fn first_driver(self) -> Option<&'static str> {
        DRIVERS.iter().find(|(version, _)| *version >= self.0 / 10 * 10).map(|(_, driver)| *driver)
    }
}

/// A release of NVIDIA's driver: the parts of `550.54.14`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Release([u32; 3]);

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
}

impl PtxVersion {
    /// The version in the word that packs have of a PTX image, `0x00070800` for 7.8; `None` for 0, which is unknown.
    pub(crate) fn from_word(word: u32) -> Option<PtxVersion> {
        (word != 0).then_some(PtxVersion(word >> 16, word >> 8 & 0xff))
    }

    /// The newest PTX that a driver of this version compiles; `None` before CUDA 8.0.
    ///
    /// <https://docs.nvidia.com/cuda/parallel-thread-execution/#release-notes-ptx-release-history> has the pairs; that
    /// of 13.0 to 13.4 is taken for the rule of later ones.
    pub(crate) fn newest_taken_by(driver: CudaVersion) -> Option<PtxVersion> {
        let (major, minor) = driver.parts();
        match major {
            0..=7 => None,
            8 => Some(PtxVersion(5, 0)),
            9 => Some(PtxVersion(6, minor)),
            10 => Some(PtxVersion(6, minor.saturating_add(3))),
            // CUDA 12.6 brought no new PTX.
            12 if minor >= 6 => Some(PtxVersion(8, minor.saturating_sub(1))),
            _ => Some(PtxVersion(major.saturating_sub(4), minor)),
        }
    }
}

impl PtxVersion {
    /// The first version of CUDA that compiles it: the inverse of [`PtxVersion::newest_taken_by`].
    pub(crate) fn first_cuda(self) -> CudaVersion {
        let PtxVersion(major, minor) = self;
        let parts = match (major, minor) {
            (0..=5, _) => (8, 0),
            (6, 0..=2) => (9, minor),
            (6, _) => (10, minor.saturating_sub(3)),
            (8, 6..) => (12, minor.saturating_add(1)),
            _ => (major.saturating_add(4), minor),
        };
        CudaVersion(parts.0.saturating_mul(1000).saturating_add(parts.1.saturating_mul(10)))
    }
}

impl fmt::Display for CudaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.parts();
        write!(f, "{major}.{minor}")
    }
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_take_the_ptx_of_their_release() {
        let taken = |version| PtxVersion::newest_taken_by(CudaVersion::new(version));
        assert_eq!(taken(7050), None);
        for (driver, ptx) in [
            (8000, "5.0"),
            (9020, "6.2"),
            (10000, "6.3"),
            (10020, "6.5"),
            (11000, "7.0"),
            (11080, "7.8"),
            (12000, "8.0"),
            (12050, "8.5"),
            (12060, "8.5"),
            (12070, "8.6"),
            (12080, "8.7"),
            (12090, "8.8"),
            (13000, "9.0"),
            (13040, "9.4"),
            (14010, "10.1"),
        ] {
            assert_eq!(taken(driver).map(|ptx| ptx.to_string()).as_deref(), Some(ptx), "{driver}");
        }
    }

    #[test]
    fn the_first_release_for_a_ptx_takes_it_and_the_one_before_does_not() {
        let versions = [
            (8, 0),
            (9, 0),
            (9, 2),
            (10, 0),
            (10, 2),
            (11, 0),
            (11, 8),
            (12, 0),
            (12, 5),
            (12, 7),
            (13, 0),
            (13, 4),
        ];
        for (major, minor) in versions {
            let cuda = CudaVersion(major * 1000 + minor * 10);
            let ptx = PtxVersion::newest_taken_by(cuda).unwrap();
            assert_eq!(ptx.first_cuda(), cuda, "PTX {ptx}");
        }
        let driver = |cuda| CudaVersion::new(cuda).first_driver();
        assert_eq!((driver(12080), driver(12070)), (Some("570.26"), Some("570.26")));
        assert_eq!(
            (driver(13000), driver(13010), driver(14000)),
            (Some("580.65.06"), Some("590.44.01"), None)
        );
        assert!(DRIVERS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn a_release_of_the_driver_has_a_version_of_cuda() {
        let cuda = |release| CudaVersion::of_release(release).map(|cuda| cuda.to_string());
        for (release, expected) in [
            ("367.48", Some("8.0")),
            ("550", Some("12.4")),
            ("550.54.14", Some("12.4")),
            ("550.40.07", Some("12.3")),
            ("580.159.04", Some("13.0")),
            ("999", Some("13.1")),
            ("340.108", None),
            ("12.x", None),
            ("1.2.3.4", None),
            ("", None),
        ] {
            assert_eq!(cuda(release).as_deref(), expected, "{release}");
        }
    }

    #[test]
    fn the_newest_ptx_target_is_one_that_the_driver_compiles() {
        let target = |capability, driver| {
            let device = CudaDescription::new("d", capability).driver_version(driver);
            device.newest_ptx_target().map(|sm| sm.to_string())
        };
        assert_eq!(target([9, 0], 13000).as_deref(), Some("sm_90"));
        // PTX 7.4 has no sm_90.
        assert_eq!(target([9, 0], 11040).as_deref(), Some("sm_87"));
        assert_eq!(target([7, 5], 12000).as_deref(), Some("sm_75"));
        assert_eq!((target([3, 5], 12000), target([9, 0], 7050)), (None, None));
        assert_eq!(CudaDescription::new("d", [12, 1]).newest_ptx_target().unwrap().to_string(), "sm_121");
    }

    #[test]
    fn words_of_packs_are_read() {
        assert_eq!(PtxVersion::from_word(0), None);
        assert_eq!(PtxVersion::from_word(0x0007_0800), Some(PtxVersion(7, 8)));
        assert!(PtxVersion::from_word(0x000a_0000) > PtxVersion::from_word(0x0009_0300));
        assert_eq!(CudaVersion::new(12080).to_string(), "12.8");
    }
}
