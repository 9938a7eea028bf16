//! Descriptions of devices for selection: plain data, so that the rules can be tested for any device.

mod cuda;
mod hip;

use std::fmt;
use std::sync::Arc;

use offload_format::{Aspects, HostLevel, SpirvVersion};

pub use self::cuda::CudaDescription;
pub(crate) use self::cuda::{CudaVersion, PtxVersion};
pub use self::hip::HipDescription;
pub(crate) use self::hip::HipVersion;
use crate::text::escape;

/// A device as selection sees it: what it is, and which images it takes. Nothing can be opened on a description.
///
/// That of a device of this machine is [`Device::description`](crate::Device::description); others are made by hand:
///
/// ```
/// use offload_rt::{DeviceDescription, OpenClDescription, SpirvVersion};
///
/// let gpu = OpenClDescription::new("Arc A770", "Intel").spirv(&[SpirvVersion::V1_2]).intel_ip([12, 55, 8]);
/// let gpu = DeviceDescription::from(gpu);
/// assert_eq!(gpu.name(), "Arc A770");
/// assert!(gpu.to_string().contains("SPIR-V v1.2"));
/// ```
#[derive(Clone, Debug)]
pub struct DeviceDescription {
    /// Shared by clones, which each choice keeps one of.
    kind: Arc<DeviceKind>,
}

/// Each kind of device has its rules in `select::rules`.
#[derive(Clone, Debug)]
pub(crate) enum DeviceKind {
    Host(HostLevel),
    OpenCl(OpenClDescription),
    Cuda(CudaDescription),
    Hip(HipDescription),
}

/// The description of an OpenCL device.
#[derive(Clone, Debug)]
pub struct OpenClDescription {
    pub(crate) name: String,
    pub(crate) vendor: String,
    pub(crate) spirv: Vec<SpirvVersion>,
    pub(crate) opencl_c: bool,
    pub(crate) intel_ip: Option<[u32; 3]>,
    pub(crate) aspects: Aspects,
    /// None if the driver does not tell.
    pub(crate) sub_group_sizes: Vec<u32>,
    /// Work-items of the largest work-group, if that is known.
    pub(crate) max_work_group: Option<u64>,
}

impl DeviceDescription {
    /// The CPU that runs this program, with the level of x86-64 that it has.
    pub fn host() -> DeviceDescription {
        DeviceDescription::host_with_level(detected_level())
    }

    /// A CPU like the program's own with the instructions of `level`.
    pub fn host_with_level(level: HostLevel) -> DeviceDescription {
        DeviceDescription { kind: Arc::new(DeviceKind::Host(level)) }
    }

    /// The name, as the driver gives it.
    pub fn name(&self) -> &str {
        match &*self.kind {
            DeviceKind::Host(_) => "host CPU",
            DeviceKind::OpenCl(device) => &device.name,
            DeviceKind::Cuda(device) => &device.name,
            DeviceKind::Hip(device) => &device.name,
        }
    }

    /// The aspects of the device: of an OpenCL device those that its driver reports, of a CUDA or HIP device those of its
    /// architecture.
    pub fn aspects(&self) -> Aspects {
        match &*self.kind {
            // What the target's compiler makes for any CPU: bfloat16 and images it does not.
            DeviceKind::Host(_) => Aspects::FP16 | Aspects::FP64 | Aspects::ATOMIC64 | Aspects::LINKER,
            DeviceKind::Cuda(device) => device.aspects(),
            DeviceKind::Hip(device) => device.aspects(),
            DeviceKind::OpenCl(device) => device.aspects,
        }
    }

    /// The description of an OpenCL device, if it is one.
    pub fn opencl(&self) -> Option<&OpenClDescription> {
        match &*self.kind {
            DeviceKind::OpenCl(device) => Some(device),
            _ => None,
        }
    }

    /// The description of a HIP device, if it is one.
    pub fn hip(&self) -> Option<&HipDescription> {
        match &*self.kind {
            DeviceKind::Hip(device) => Some(device),
            _ => None,
        }
    }

    /// A target whose images the device takes, as `cargo offload targets add` has it; none if it takes nothing.
    pub(crate) fn suitable_target(&self) -> Option<String> {
        match &*self.kind {
            DeviceKind::Host(_) => Some("host".to_string()),
            DeviceKind::Cuda(device) => device.newest_ptx_target().map(|sm| format!("nvptx:{sm}")),
            DeviceKind::Hip(device) => {
                device.arch.as_ref().map(|arch| format!("amdgcn:{}", arch.processor()))
            }
            DeviceKind::OpenCl(device) if device.spirv.last() >= Some(&SpirvVersion::V1_2) => {
                Some("spirv64".to_string())
            }
            DeviceKind::OpenCl(device) if device.opencl_c => Some("opencl-c".to_string()),
            DeviceKind::OpenCl(device) => device.spirv.first().map(|version| format!("spirv64:{version}")),
        }
    }

    /// The feature of this crate with the driver that native images for this device need, where it is another one: OpenCL
    /// takes none of NVIDIA's and AMD's here.
    pub(crate) fn other_driver(&self) -> Option<&'static str> {
        let DeviceKind::OpenCl(device) = &*self.kind else { return None };
        if device.vendor.contains("NVIDIA Corporation") {
            return Some("cuda");
        }
        device.vendor.contains("Advanced Micro Devices").then_some("hip")
    }

    /// Work-items of the largest work-group, as far as that is known: 1,024 on NVIDIA's and AMD's GPUs
    /// (<https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#features-and-technical-specifications>,
    /// `HSA_ISA_INFO_WORKGROUP_MAX_SIZE` of ROCm).
    pub(crate) fn max_work_group(&self) -> Option<u64> {
        match &*self.kind {
            DeviceKind::Host(_) => None,
            DeviceKind::OpenCl(device) => device.max_work_group,
            DeviceKind::Cuda(_) | DeviceKind::Hip(_) => Some(1024),
        }
    }

    /// Whether it is of the host CPU.
    pub(crate) fn is_host(&self) -> bool {
        matches!(self.kind(), DeviceKind::Host(_))
    }

    pub(crate) fn kind(&self) -> &DeviceKind {
        &self.kind
    }
}

impl AsRef<DeviceDescription> for DeviceDescription {
    fn as_ref(&self) -> &DeviceDescription {
        self
    }
}

impl From<OpenClDescription> for DeviceDescription {
    fn from(device: OpenClDescription) -> DeviceDescription {
        DeviceDescription { kind: Arc::new(DeviceKind::OpenCl(device)) }
    }
}

impl From<CudaDescription> for DeviceDescription {
    fn from(device: CudaDescription) -> DeviceDescription {
        DeviceDescription { kind: Arc::new(DeviceKind::Cuda(device)) }
    }
}

impl From<HipDescription> for DeviceDescription {
    fn from(device: HipDescription) -> DeviceDescription {
        DeviceDescription { kind: Arc::new(DeviceKind::Hip(device)) }
    }
}

impl fmt::Display for DeviceDescription {
    /// The kind of the device, and the images that it takes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.kind {
            DeviceKind::Host(level) => write!(f, "host CPU ({} {level})", std::env::consts::ARCH),
            DeviceKind::OpenCl(device) => device.fmt(f),
            DeviceKind::Cuda(device) => device.fmt(f),
            DeviceKind::Hip(device) => device.fmt(f),
        }
    }
}

impl OpenClDescription {
    /// A device that accepts nothing yet.
    pub fn new(name: &str, vendor: &str) -> OpenClDescription {
        OpenClDescription {
            name: name.to_string(),
            vendor: vendor.to_string(),
            spirv: Vec::new(),
            opencl_c: false,
            intel_ip: None,
            aspects: Aspects::default(),
            sub_group_sizes: Vec::new(),
            max_work_group: None,
        }
    }

    /// It takes SPIR-V of these versions.
    #[must_use]
    pub fn spirv(mut self, versions: &[SpirvVersion]) -> OpenClDescription {
        self.spirv = versions.to_vec();
        self.spirv.sort_unstable();
        self
    }

    /// It compiles OpenCL C.
    #[must_use]
    pub fn opencl_c(mut self) -> OpenClDescription {
        self.opencl_c = true;
        self
    }

    /// It is an Intel GPU of this IP version (architecture, release, revision) and takes its native code.
    #[must_use]
    pub fn intel_ip(mut self, version: [u32; 3]) -> OpenClDescription {
        self.intel_ip = Some(version);
        self
    }

    /// The sizes of sub-groups that a kernel may require. Without this call, it may require any.
    #[must_use]
    pub fn sub_group_sizes(mut self, sizes: &[u32]) -> OpenClDescription {
        self.sub_group_sizes = sizes.to_vec();
        self
    }

    /// Its largest work-group has so many work-items.
    #[must_use]
    pub fn max_work_group(mut self, items: u64) -> OpenClDescription {
        self.max_work_group = Some(items);
        self
    }

    /// It supports `aspects`: features of the hardware as 64-bit floating point, and what its compiler understands, as
    /// pointers to any kind of memory.
    #[must_use]
    pub fn aspects(mut self, aspects: Aspects) -> OpenClDescription {
        self.aspects = aspects;
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The versions of SPIR-V that it takes, sorted.
    pub fn spirv_versions(&self) -> &[SpirvVersion] {
        &self.spirv
    }

    /// Whether it compiles OpenCL C.
    pub fn takes_opencl_c(&self) -> bool {
        self.opencl_c
    }

    /// Of an Intel GPU, the IP version: architecture, release, revision.
    pub fn intel_ip_version(&self) -> Option<[u32; 3]> {
        self.intel_ip
    }

    /// The supported aspects.
    pub fn supported_aspects(&self) -> Aspects {
        self.aspects
    }
}

impl fmt::Display for OpenClDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        write!(f, "OpenCL device {} by {} (takes {takes})", escape(&self.name), escape(&self.vendor))
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

#[cfg(target_arch = "aarch64")]
fn detected_level() -> HostLevel {
    use std::arch::is_aarch64_feature_detected as has;
    // What compilers use of `-march=armv8.2-a+dotprod+fp16`.
    let arm82 = has!("crc") && has!("dotprod") && has!("fp16") && has!("lse") && has!("rdm");
    match (arm82, has!("sve")) {
        (true, true) => HostLevel::Arm82Sve,
        (true, false) => HostLevel::Arm82,
        _ => HostLevel::Baseline,
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn detected_level() -> HostLevel {
    HostLevel::Baseline
}
