//! The description of a CUDA device.

use super::ptx::{CudaVersion, PtxVersion};
use crate::text::escape;

/// What a CUDA device accepts.
///
/// ```
/// use offload_rt::{CudaDevice, Device};
///
/// let device = Device::from(CudaDevice::new("H200", (9, 0)).driver_version(12080));
/// assert_eq!(device.description(), "CUDA device H200 (sm_90, CUDA driver 12.8, takes PTX up to 8.7)");
/// ```
#[derive(Clone, Debug)]
pub struct CudaDevice {
    pub(crate) name: String,
    pub(crate) compute_capability: (u32, u32),
    /// What the driver says; `None` refuses nothing.
    pub(crate) driver: Option<CudaVersion>,
    #[cfg(feature = "cuda")]
    pub(crate) handle: Option<crate::cuda::Handle>,
}

impl CudaDevice {
    /// A device of this compute capability
    /// (<https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#compute-capability>), as `(9, 0)`, with a
    /// driver of unknown version.
    pub fn new(name: &str, compute_capability: (u32, u32)) -> CudaDevice {
        CudaDevice {
            name: name.to_string(),
            compute_capability,
            driver: None,
            #[cfg(feature = "cuda")]
            handle: None,
        }
    }

    /// Its driver is of this version of CUDA, counted as CUDA does: 12080 is 12.8.
    #[must_use]
    pub fn driver_version(mut self, version: u32) -> CudaDevice {
        self.driver = Some(CudaVersion::new(version));
        self
    }

    /// The number in the name of the architecture: 90 for compute capability 9.0.
    pub(crate) fn sm(&self) -> u32 {
        let (major, minor) = self.compute_capability;
        major.saturating_mul(10).saturating_add(minor)
    }

    pub(super) fn description(&self) -> String {
        let (name, sm) = (escape(&self.name), self.sm());
        match self.driver {
            None => format!("CUDA device {name} (sm_{sm})"),
            Some(driver) => {
                let ptx = PtxVersion::newest_taken_by(driver)
                    .map_or("no PTX".to_string(), |version| format!("PTX up to {version}"));
                format!("CUDA device {name} (sm_{sm}, CUDA driver {driver}, takes {ptx})")
            }
        }
    }
}
