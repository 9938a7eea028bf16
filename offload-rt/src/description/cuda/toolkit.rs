//! Releases of CUDA: the driver that each came with, and the newest PTX that it compiles.

use std::fmt;

/// A version of CUDA, counted as the driver does: 12080 is 12.8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CudaVersion(u32);

/// A version of the PTX language: major and minor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PtxVersion(pub(super) u32, pub(super) u32);

/// A release of CUDA.
pub(super) struct Toolkit {
    pub(super) cuda: CudaVersion,
    ptx: PtxVersion,
    /// The first driver for Linux that has it; a branch alone where NVIDIA names no more.
    pub(super) driver: &'static str,
}

const fn toolkit(cuda: u32, ptx: PtxVersion, driver: &'static str) -> Toolkit {
    Toolkit { cuda: CudaVersion(cuda), ptx, driver }
}

/// Every release since CUDA 8.0, oldest first; those without a driver of their own (12.7) are left out.
///
/// - Drivers: <https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html#cuda-driver>. From CUDA 13.4 on drivers
///   are released by themselves: <https://docs.nvidia.com/cuda/archive/13.4.1/cuda-toolkit-release-notes/index.html>,
///   <https://docs.nvidia.com/datacenter/tesla/drivers/620/supported-drivers-and-cuda-toolkit-versions.html>.
/// - PTX: <https://docs.nvidia.com/cuda/parallel-thread-execution/#release-notes-ptx-release-history>.
pub(super) const TOOLKITS: [Toolkit; 31] = [
    toolkit(8000, PtxVersion(5, 0), "367.48"),
    toolkit(9000, PtxVersion(6, 0), "384.81"),
    toolkit(9010, PtxVersion(6, 1), "390.46"),
    toolkit(9020, PtxVersion(6, 2), "396.26"),
    toolkit(10000, PtxVersion(6, 3), "410.48"),
    toolkit(10010, PtxVersion(6, 4), "418.39"),
    toolkit(10020, PtxVersion(6, 5), "440.33"),
    toolkit(11000, PtxVersion(7, 0), "450.36.06"),
    toolkit(11010, PtxVersion(7, 1), "455.23"),
    toolkit(11020, PtxVersion(7, 2), "460.27.03"),
    toolkit(11030, PtxVersion(7, 3), "465.19.01"),
    toolkit(11040, PtxVersion(7, 4), "470.42.01"),
    toolkit(11050, PtxVersion(7, 5), "495.29.05"),
    toolkit(11060, PtxVersion(7, 6), "510.39.01"),
    toolkit(11070, PtxVersion(7, 7), "515.43.04"),
    toolkit(11080, PtxVersion(7, 8), "520.61.05"),
    toolkit(12000, PtxVersion(8, 0), "525.60.13"),
    toolkit(12010, PtxVersion(8, 1), "530.30.02"),
    toolkit(12020, PtxVersion(8, 2), "535.54.03"),
    toolkit(12030, PtxVersion(8, 3), "545.23.06"),
    toolkit(12040, PtxVersion(8, 4), "550.54.14"),
    toolkit(12050, PtxVersion(8, 5), "555.42.02"),
    toolkit(12060, PtxVersion(8, 5), "560.28.03"),
    toolkit(12080, PtxVersion(8, 7), "570.26"),
    toolkit(12090, PtxVersion(8, 8), "575.51.03"),
    toolkit(13000, PtxVersion(9, 0), "580.65.06"),
    toolkit(13010, PtxVersion(9, 1), "590.44.01"),
    toolkit(13020, PtxVersion(9, 2), "595.45.04"),
    toolkit(13030, PtxVersion(9, 3), "610.43.02"),
    toolkit(13040, PtxVersion(9, 4), "615"),
    toolkit(13050, PtxVersion(9, 5), "620"),
];

impl CudaVersion {
    pub(crate) const fn new(version: u32) -> CudaVersion {
        CudaVersion(version)
    }

    fn parts(self) -> (u32, u32) {
        (self.0 / 1000, self.0 % 1000 / 10)
    }

    /// The first release of NVIDIA's driver for Linux that has this version or a later one; `None` for one after the
    /// table's last.
    pub(crate) fn first_driver(self) -> Option<&'static str> {
        let version = self.0 / 10 * 10;
        TOOLKITS.iter().find(|toolkit| toolkit.cuda.0 >= version).map(|toolkit| toolkit.driver)
    }
}

impl PtxVersion {
    /// The version in the word that packs have of a PTX image, `0x00070800` for 7.8; `None` for 0, which is unknown.
    pub(crate) fn from_word(word: u32) -> Option<PtxVersion> {
        (word != 0).then_some(PtxVersion(word >> 16, word >> 8 & 0xff))
    }

    /// The newest PTX that a driver of this version compiles; `None` before CUDA 8.0. Of versions after the table's last it
    /// is that of the rule that all since CUDA 13.0 keep.
    pub(crate) fn newest_taken_by(driver: CudaVersion) -> Option<PtxVersion> {
        let (major, minor) = driver.parts();
        match driver {
            // It had no driver of its own.
            CudaVersion(12_070..12_080) => Some(PtxVersion(8, 6)),
            CudaVersion(14_000..) => Some(PtxVersion(major.saturating_sub(4), minor)),
            CudaVersion(13_000..) => Some(PtxVersion(9, minor)),
            _ => {
                let known = TOOLKITS.iter().rev().find(|toolkit| toolkit.cuda <= driver);
                known.map(|toolkit| toolkit.ptx)
            }
        }
    }

    /// The first version of CUDA that compiles it: the inverse of [`PtxVersion::newest_taken_by`].
    pub(crate) fn first_cuda(self) -> CudaVersion {
        if self == PtxVersion(8, 6) {
            return CudaVersion(12_070);
        }
        let known = TOOLKITS.iter().find(|toolkit| toolkit.ptx >= self).map(|toolkit| toolkit.cuda);
        let PtxVersion(major, minor) = self;
        known.unwrap_or_else(|| {
            CudaVersion(major.saturating_add(4).saturating_mul(1000).saturating_add(minor.saturating_mul(10)))
        })
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
    use offload_format::SmArch;

    use super::*;

    #[test]
    fn drivers_take_the_ptx_of_their_release() {
        fn taken(version: u32) -> Option<PtxVersion> {
            PtxVersion::newest_taken_by(CudaVersion::new(version))
        }
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

    /// The newest version that the assembler of each release takes, by its own words: `ptxas` of the wheels
    /// `nvidia-cuda-nvcc` and `nvidia-cuda-nvcc-cu11`, `-cu12` on PyPI refuses `.version 99.9` and names its own.
    #[test]
    fn the_table_has_the_versions_that_assemblers_tell() {
        for (cuda, ptx) in [
            (11_080, "7.8"),
            (12_000, "8.0"),
            (12_010, "8.1"),
            (12_020, "8.2"),
            (12_030, "8.3"),
            (12_040, "8.4"),
            (12_050, "8.5"),
            (12_060, "8.5"),
            (12_080, "8.7"),
            (12_090, "8.8"),
            (13_000, "9.0"),
            (13_010, "9.1"),
            (13_020, "9.2"),
            (13_030, "9.3"),
            (13_040, "9.4"),
            (13_050, "9.5"),
        ] {
            let taken = PtxVersion::newest_taken_by(CudaVersion::new(cuda));
            assert_eq!(taken.map(|ptx| ptx.to_string()).as_deref(), Some(ptx), "{cuda}");
        }
    }

    #[test]
    fn every_architecture_has_a_driver_that_compiles_its_ptx() {
        for sm in SmArch::known() {
            let needed = sm.min_ptx().unwrap();
            let cuda = PtxVersion(needed.major.into(), needed.minor.into()).first_cuda();
            assert!(cuda.first_driver().is_some(), "{sm}");
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
            (13, 5),
            (14, 2),
        ];
        for (major, minor) in versions {
            let cuda = CudaVersion(major * 1000 + minor * 10);
            let ptx = PtxVersion::newest_taken_by(cuda).unwrap();
            assert_eq!(ptx.first_cuda(), cuda, "PTX {ptx}");
        }
        fn driver(cuda: u32) -> Option<&'static str> {
            CudaVersion::new(cuda).first_driver()
        }
        assert_eq!((driver(12080), driver(12070)), (Some("570.26"), Some("570.26")));
        assert_eq!(
            (driver(13000), driver(13010), driver(13050), driver(14000)),
            (Some("580.65.06"), Some("590.44.01"), Some("620"), None)
        );
    }

    #[test]
    fn words_of_packs_are_read() {
        assert_eq!(PtxVersion::from_word(0), None);
        assert_eq!(PtxVersion::from_word(0x0007_0800), Some(PtxVersion(7, 8)));
        assert!(PtxVersion::from_word(0x000a_0000) > PtxVersion::from_word(0x0009_0300));
        assert_eq!(CudaVersion::new(12080).to_string(), "12.8");
    }
}
