//! Versions of CUDA and of PTX, and which driver takes which PTX.

use std::fmt;

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
