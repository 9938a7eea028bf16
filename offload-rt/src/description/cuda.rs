//! The description of a CUDA device: which images it takes depends on its architecture and on its driver's version.

use std::fmt;

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

impl CudaVersion {
    pub(crate) const fn new(version: u32) -> CudaVersion {
        CudaVersion(version)
    }

    fn parts(self) -> (u32, u32) {
        (self.0 / 1000, self.0 % 1000 / 10)
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
    fn words_of_packs_are_read() {
        assert_eq!(PtxVersion::from_word(0), None);
        assert_eq!(PtxVersion::from_word(0x0007_0800), Some(PtxVersion(7, 8)));
        assert!(PtxVersion::from_word(0x000a_0000) > PtxVersion::from_word(0x0009_0300));
        assert_eq!(CudaVersion::new(12080).to_string(), "12.8");
    }
}
