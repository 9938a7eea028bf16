//! The description of a CUDA device: which images it takes depends on its architecture and on its driver's version.

mod release;
mod toolkit;

use std::fmt;

use offload_format::{Aspects, SmArch};

use self::release::DriverRelease;
pub(crate) use self::toolkit::{CudaVersion, PtxVersion};
use crate::text::escape;

/// The description of a CUDA device.
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
    /// The driver's version; `None` refuses nothing.
    pub(crate) driver: Option<CudaVersion>,
    /// The release that was named. The driver of a device of this machine supports it, whatever its release.
    release: Option<DriverRelease>,
}

impl CudaDescription {
    /// A device of this compute capability
    /// (<https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#compute-capability>), as `[9, 0]`, with a
    /// driver of unknown version.
    pub fn new(name: &str, compute_capability: [u32; 2]) -> CudaDescription {
        CudaDescription { name: name.to_string(), compute_capability, driver: None, release: None }
    }

    /// Its driver is of this version of CUDA, counted as CUDA does: 12080 is 12.8.
    #[must_use]
    pub fn driver_version(mut self, version: u32) -> CudaDescription {
        self.driver = Some(CudaVersion::new(version));
        self.release = None;
        self
    }

    /// Its driver is this release of NVIDIA's for Linux, as `550.54.14`, or the newest of a branch, as `550`
    /// (<https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/index.html#cuda-driver>). `None` if the text is no release, or
    /// one before those with CUDA 8.0. A driver of a branch that does not support the device's architecture takes no image.
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
        let release = DriverRelease::parse(release)?;
        Some(CudaDescription { driver: Some(release.cuda()), release: Some(release), ..self })
    }

    /// The last branch of NVIDIA's driver that this release of offload-rt knows, if the one that was named is of a later
    /// branch: it is taken for this one.
    ///
    /// ```
    /// let device = offload_rt::CudaDescription::new("H200", [9, 0]);
    /// assert!(device.clone().driver_release("999").is_some_and(|device| device.taken_for_branch().is_some()));
    /// assert!(device.driver_release("550").is_some_and(|device| device.taken_for_branch().is_none()));
    /// ```
    pub fn taken_for_branch(&self) -> Option<u32> {
        self.release.and_then(DriverRelease::taken_for)
    }

    /// Why the driver does not support the device, if it is of a release that was named.
    pub(crate) fn unsupported(&self) -> Option<String> {
        self.release.and_then(|release| release.refusal(self.sm()))
    }

    /// The aspects of the device: every device since 2014 has 64-bit floating point and atomics, 16-bit floating point came with
    /// compute capability 5.3 and bfloat16 with 8.0. The driver links for all of them
    /// (<https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#features-and-technical-specifications>).
    pub(crate) fn aspects(&self) -> Aspects {
        let mut aspects = Aspects::FP64 | Aspects::ATOMIC64 | Aspects::LINKER;
        if self.sm() >= 53 {
            aspects = aspects | Aspects::FP16;
        }
        if self.sm() >= 80 {
            aspects = aspects | Aspects::BF16;
        }
        aspects
    }

    /// The newest architecture whose PTX the device takes, as far as its driver knows the language that it needs.
    pub(crate) fn newest_ptx_target(&self) -> Option<SmArch> {
        let portable =
            SmArch::known().filter(|sm| sm.suffix().is_none() && u32::from(sm.number()) <= self.sm());
        portable.filter(|sm| self.compiles_for(sm)).last()
    }

    /// Whether the driver compiles the first PTX version for `sm`.
    fn compiles_for(&self, sm: &SmArch) -> bool {
        match (self.driver.map(PtxVersion::newest_taken_by), sm.min_ptx()) {
            (Some(Some(newest)), Some(needed)) => {
                PtxVersion(needed.major.into(), needed.minor.into()) <= newest
            }
            (Some(None), _) | (_, None) => false,
            (None, Some(_)) => true,
        }
    }

    /// The number in the name of the architecture: 90 for compute capability 9.0.
    pub(crate) fn sm(&self) -> u32 {
        let [major, minor] = self.compute_capability;
        major.saturating_mul(10).saturating_add(minor)
    }
}

impl fmt::Display for CudaDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = escape(&self.name);
        let sm = self.sm();
        let Some(driver) = self.driver else { return write!(f, "CUDA device {name} (sm_{sm})") };
        write!(f, "CUDA device {name} (sm_{sm}, CUDA driver {driver}, takes ")?;
        match PtxVersion::newest_taken_by(driver) {
            Some(version) => write!(f, "PTX up to {version})"),
            None => f.write_str("no PTX)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_ptx_target_is_one_that_the_driver_compiles() {
        fn target(capability: [u32; 2], driver: u32) -> Option<String> {
            let device = CudaDescription::new("d", capability).driver_version(driver);
            device.newest_ptx_target().map(|sm| sm.to_string())
        }
        assert_eq!(target([9, 0], 13000).as_deref(), Some("sm_90"));
        // PTX 7.4 has no sm_90.
        assert_eq!(target([9, 0], 11040).as_deref(), Some("sm_87"));
        assert_eq!(target([7, 5], 12000).as_deref(), Some("sm_75"));
        assert_eq!((target([3, 5], 12000), target([9, 0], 7050)), (None, None));
        assert_eq!(CudaDescription::new("d", [12, 1]).newest_ptx_target().unwrap().to_string(), "sm_121");
    }
}
