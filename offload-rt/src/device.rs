//! What a device accepts: data alone, so that selection can be tested for any device.

mod cuda;
mod ptx;

use std::fmt;

use offload_format::{Aspects, HostLevel, SpirvVersion};

pub use self::cuda::CudaDevice;
pub(crate) use self::ptx::{CudaVersion, PtxVersion};
use crate::entry::LoadedImage;
use crate::error::Error;
use crate::launch::{Program, SelectedProgram};
use crate::select::Selection;
use crate::text::escape;

/// A device that kernels can be launched on, or the description of one.
///
/// ```
/// use offload_rt::{Device, OpenClDevice, SpirvVersion};
///
/// let host = Device::host();
/// let gpu = Device::from(OpenClDevice::new("Arc A770", "Intel").spirv(&[SpirvVersion::V1_2]).intel_ip([12, 55, 8]));
/// assert_eq!(gpu.name(), "Arc A770");
/// assert!(gpu.description().contains("SPIR-V v1.2"));
/// # let _ = host;
/// ```
#[derive(Clone, Debug)]
pub struct Device {
    kind: DeviceKind,
}

/// Room for HIP devices: each kind gets its description here and its rules in `select::rules`.
#[derive(Clone, Debug)]
pub(crate) enum DeviceKind {
    Host(HostLevel),
    OpenCl(OpenClDevice),
    Cuda(CudaDevice),
}

/// What an OpenCL device accepts.
#[derive(Clone, Debug)]
pub struct OpenClDevice {
    pub(crate) name: String,
    pub(crate) vendor: String,
    pub(crate) spirv: Vec<SpirvVersion>,
    pub(crate) opencl_c: bool,
    pub(crate) intel_ip: Option<[u32; 3]>,
    pub(crate) aspects: Aspects,
    #[cfg(feature = "opencl")]
    pub(crate) handle: Option<crate::opencl::Handle>,
}

impl Device {
    /// The CPU that runs this program, with the level of x86-64 that it has.
    pub fn host() -> Device {
        Device::host_with_level(detected_level())
    }

    /// A CPU like the program's own with the instructions of `level`.
    pub fn host_with_level(level: HostLevel) -> Device {
        Device { kind: DeviceKind::Host(level) }
    }

    /// The name, as the driver gives it.
    pub fn name(&self) -> &str {
        match &self.kind {
            DeviceKind::Host(_) => "host CPU",
            DeviceKind::OpenCl(device) => &device.name,
            DeviceKind::Cuda(device) => &device.name,
        }
    }

    /// What the device is and which images it takes, in words.
    pub fn description(&self) -> String {
        match &self.kind {
            DeviceKind::Host(level) => format!("host CPU ({} {level})", std::env::consts::ARCH),
            DeviceKind::OpenCl(device) => device.description(),
            DeviceKind::Cuda(device) => device.description(),
        }
    }

    /// Makes one program of all images of `selection`.
    ///
    /// A selection of one image is opened now. Of several, each is loaded and opened when one of its kernels is used for
    /// the first time, so that parts of a split module that are not used cost nothing.
    ///
    /// # Errors
    /// As [`Entry::load`](crate::Entry::load) and [`Device::open`], if there is one image.
    pub fn open_selection(&self, selection: &Selection) -> Result<Box<dyn Program>, Error> {
        Ok(Box::new(SelectedProgram::new(self, selection)?))
    }

    /// Hands `image` to the device's driver.
    ///
    /// # Errors
    /// The driver refuses the image (the message holds its build log), the device was only described, or the
    /// crate feature for it is not enabled.
    pub fn open(&self, image: &LoadedImage) -> Result<Box<dyn Program>, Error> {
        match &self.kind {
            #[cfg(all(feature = "host", unix))]
            DeviceKind::Host(_) => Ok(Box::new(crate::host::HostProgram::new(image)?)),
            #[cfg(feature = "opencl")]
            DeviceKind::OpenCl(device) => Ok(Box::new(crate::opencl::ClProgram::new(device, image)?)),
            #[cfg(feature = "cuda")]
            DeviceKind::Cuda(device) => Ok(Box::new(crate::cuda::CudaProgram::new(device, image)?)),
            #[allow(unreachable_patterns, reason = "depends on the features that are enabled")]
            _ => {
                let problem = format!("cannot open {}: this build has no support for it", image.entry());
                Err(Error::device(&self.description(), problem)
                    .hint("enable the feature `host`, `opencl` or `cuda` of the crate offload-rt"))
            }
        }
    }

    /// What images may use on this device. The host and CUDA devices have every aspect, as far as the architecture that
    /// an image names allows.
    pub fn aspects(&self) -> Aspects {
        match &self.kind {
            DeviceKind::Host(_) | DeviceKind::Cuda(_) => Aspects::ALL,
            DeviceKind::OpenCl(device) => device.aspects,
        }
    }

    pub(crate) fn kind(&self) -> &DeviceKind {
        &self.kind
    }
}

impl From<OpenClDevice> for Device {
    fn from(device: OpenClDevice) -> Device {
        Device { kind: DeviceKind::OpenCl(device) }
    }
}

impl From<CudaDevice> for Device {
    fn from(device: CudaDevice) -> Device {
        Device { kind: DeviceKind::Cuda(device) }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.description())
    }
}

impl OpenClDevice {
    /// A device that accepts nothing yet.
    pub fn new(name: &str, vendor: &str) -> OpenClDevice {
        OpenClDevice {
            name: name.to_string(),
            vendor: vendor.to_string(),
            spirv: Vec::new(),
            opencl_c: false,
            intel_ip: None,
            aspects: Aspects::default(),
            #[cfg(feature = "opencl")]
            handle: None,
        }
    }

    /// It takes SPIR-V of these versions.
    #[must_use]
    pub fn spirv(mut self, versions: &[SpirvVersion]) -> OpenClDevice {
        self.spirv = versions.to_vec();
        self.spirv.sort();
        self
    }

    /// It compiles OpenCL C.
    #[must_use]
    pub fn opencl_c(mut self) -> OpenClDevice {
        self.opencl_c = true;
        self
    }

    /// It is an Intel GPU of this IP version (architecture, release, revision) and takes its native code.
    #[must_use]
    pub fn intel_ip(mut self, version: [u32; 3]) -> OpenClDevice {
        self.intel_ip = Some(version);
        self
    }

    /// It supports `aspects`: 16-bit and 64-bit floating point, 64-bit atomics.
    #[must_use]
    pub fn aspects(mut self, aspects: Aspects) -> OpenClDevice {
        self.aspects = aspects;
        self
    }

    fn description(&self) -> String {
        let mut takes = Vec::new();
        if let Some([architecture, release, revision]) = self.intel_ip {
            takes.push(format!("Intel {architecture}.{release}.{revision}"));
        }
        if let Some(highest) = self.spirv.last() {
            takes.push(format!("SPIR-V {highest}"));
        }
        if self.opencl_c {
            takes.push("OpenCL C".to_string());
        }
        let takes = if takes.is_empty() { "nothing".to_string() } else { takes.join(", ") };
        format!("OpenCL device {} by {} (takes {takes})", escape(&self.name), escape(&self.vendor))
    }
}

#[cfg(target_arch = "x86_64")]
fn detected_level() -> HostLevel {
    use std::arch::is_x86_feature_detected as has;
    // The lists of https://gitlab.com/x86-psABIs/x86-64-ABI, less LAHF and OSXSAVE, which every CPU with the others
    // has and std does not report.
    let v2 = has!("cmpxchg16b") && has!("popcnt") && has!("sse3") && has!("ssse3") && has!("sse4.2");
    let v3 = v2
        && has!("avx2")
        && has!("bmi1")
        && has!("bmi2")
        && has!("f16c")
        && has!("fma")
        && has!("lzcnt")
        && has!("movbe");
    let avx512 = has!("avx512f") && has!("avx512bw") && has!("avx512cd");
    let v4 = v3 && avx512 && has!("avx512dq") && has!("avx512vl");
    match (v2, v3, v4) {
        (_, _, true) => HostLevel::X86V4,
        (_, true, _) => HostLevel::X86V3,
        (true, ..) => HostLevel::X86V2,
        _ => HostLevel::Baseline,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detected_level() -> HostLevel {
    HostLevel::Baseline
}
