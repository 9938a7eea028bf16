//! The rules of selection: the targets that a device takes, and their order of preference.
//!
//! A CUDA device takes cubins of its own major version, and PTX for any earlier architecture.

use std::fmt;

use offload_format::pack::KernelInfo;
use offload_format::{Aspects, HostLevel, ImageKind, IntelArch, SmArch, SpirvVersion, Target};

use super::amd;
use super::reason::Reason;
use crate::description::{
    CudaDescription, CudaVersion, DeviceDescription, DeviceKind, HipDescription, OpenClDescription,
    PtxVersion,
};
use crate::entry::Entry;
use crate::refusal::Refusal;
use crate::specialization::Specialization;

/// GPUs of Jetson, Drive and Thor. "The binary compatibility between desktop and Tegra is not supported":
/// <https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#binary-compatibility>. CUDA 13 brought 88, and calls
/// 101 110: <https://docs.nvidia.com/cuda/parallel-thread-execution/#release-notes>, PTX 9.0.
const TEGRA: [u32; 7] = [53, 62, 72, 87, 88, 101, 110];

/// The later ABI of cubins: ptxas of CUDA 13 makes it for all architectures, and of CUDA 12.8, which brought sm_100, for
/// those from it on.
const LATER_ABI: u32 = 8;

/// The preference of an image; more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fit {
    class: Class,
    /// Within a class, more is better: a level, a minor version, a revision.
    rank: u32,
}

/// From worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Source,
    Intermediate,
    CompatibleNative,
    ExactNative,
}

/// The requirements on an image.
#[derive(Clone, Copy)]
pub(super) struct Requirements<'w> {
    pub(super) device: &'w DeviceDescription,
    /// Nothing where no constant gets a value.
    pub(super) spec: Option<&'w Specialization>,
}

/// Ranks `entry` for the requirements, or refuses it.
pub(super) fn evaluate<R: Reason>(
    entry: &Entry,
    Requirements { device, spec }: Requirements<'_>,
) -> Result<Fit, R> {
    let Some(target) = entry.parsed_target() else {
        return Err(R::new(|| Refusal::UnknownTarget));
    };
    if let Some(refusal) = entry.refusal() {
        return Err(R::new(|| Refusal::Unreadable(refusal.to_string())));
    }
    if entry.image_kind() != target.image_kind() {
        return Err(R::new(|| Refusal::UnknownKind(entry.image_kind())));
    }
    if entry.parsed_variant().is_none() {
        return Err(R::new(|| Refusal::UnknownVariant));
    }
    let fit = match device.kind() {
        DeviceKind::Host(level) => on_host(target, *level),
        DeviceKind::OpenCl(device) => on_opencl(target, device),
        DeviceKind::Cuda(device) => on_cuda(target, entry, device),
        DeviceKind::Hip(device) => on_hip(target, entry, device),
    }?;
    check_aspects(entry.aspects(), device.aspects())?;
    check_sub_groups(entry, device)?;
    check_work_groups(entry, device)?;
    match spec.and_then(|spec| spec.refusal(entry.spec())) {
        Some(refusal) => Err(R::new(|| refusal)),
        None => Ok(fit),
    }
}

/// Whether the image is for the GPUs of the driver with this feature's name.
pub(super) fn is_for_driver(entry: &Entry, feature: &str) -> bool {
    match entry.parsed_target() {
        Some(Target::Nvptx(_) | Target::Cubin(_)) => feature == "cuda",
        Some(Target::Amdgcn(_) | Target::AmdgcnSpirv) => feature == "hip",
        _ => false,
    }
}

/// Why `device` cannot launch `kernel`, whose image it takes.
pub(super) fn refuse_kernel(kernel: &KernelInfo, device: &DeviceDescription) -> Option<Refusal> {
    let sizes = kernel.required_work_group?;
    let largest = device.max_work_group()?;
    let required: u64 = sizes.iter().map(|size| u64::from(*size)).product();
    (required > largest).then_some(Refusal::WorkGroup { required, largest })
}

/// An image of which no kernel can be launched is of no use; one kernel that cannot does not take the others along.
fn check_work_groups<R: Reason>(entry: &Entry, device: &DeviceDescription) -> Result<(), R> {
    let least = entry.limits().least_work_items;
    match device.max_work_group() {
        Some(largest) if least > largest => Err(R::new(|| {
            let first = entry.kernels().first();
            let refusal = first.and_then(|kernel| refuse_kernel(kernel, device));
            refusal.unwrap_or(Refusal::WorkGroup { required: least, largest })
        })),
        _ => Ok(()),
    }
}

/// A driver compiles a module as a whole: a kernel that requires sub-groups that the device does not have spoils it
/// (<https://registry.khronos.org/OpenCL/extensions/intel/cl_intel_required_subgroup_size.html>).
fn check_sub_groups<R: Reason>(entry: &Entry, device: &DeviceDescription) -> Result<(), R> {
    let (ImageKind::SpirV, DeviceKind::OpenCl(device)) = (entry.image_kind(), device.kind()) else {
        return Ok(());
    };
    let has = &device.sub_group_sizes;
    if has.is_empty() {
        return Ok(());
    }
    let Some(odd) = entry.limits().sub_groups.iter().find(|size| !has.contains(size)) else { return Ok(()) };
    Err(R::new(|| {
        let kernel = entry.kernels().iter().find(|kernel| kernel.sub_group_size == Some(*odd));
        let kernel = kernel.map_or_else(String::new, |kernel| kernel.name.clone());
        Refusal::SubGroup { kernel, required: *odd, supported: has.clone() }
    }))
}

fn check_aspects<R: Reason>(needed: Aspects, has: Aspects) -> Result<(), R> {
    let unknown = needed.missing_from(Aspects::ALL);
    let lacking = needed.missing_from(has);
    if !unknown.is_empty() {
        return Err(R::new(|| Refusal::UnknownAspects(unknown)));
    }
    if !lacking.is_empty() {
        return Err(R::new(|| Refusal::LackingAspects(lacking)));
    }
    Ok(())
}

fn on_host<R: Reason>(target: &Target, cpu: HostLevel) -> Result<Fit, R> {
    match target {
        Target::Host(level) if !level.runs_on(cpu) => {
            Err(R::new(|| Refusal::Architecture(format!("it needs {level}, the CPU has {cpu}"))))
        }
        Target::Host(level) => {
            let class = if *level == cpu { Class::ExactNative } else { Class::CompatibleNative };
            Ok(Fit { class, rank: level_rank(*level) })
        }
        other => Err(for_other(other, "the host CPU")),
    }
}

fn on_opencl<R: Reason>(target: &Target, device: &OpenClDescription) -> Result<Fit, R> {
    match target {
        Target::Intel(arch) => on_intel(arch, device.intel_ip),
        Target::Spirv64(version) => on_spirv(*version, &device.spirv),
        Target::OpenClC if device.opencl_c => Ok(Fit { class: Class::Source, rank: 0 }),
        Target::OpenClC => {
            Err(R::new(|| Refusal::Form("the device has no compiler for OpenCL C".to_string())))
        }
        other => Err(for_other(other, "this OpenCL device")),
    }
}

/// A device that takes a version of SPIR-V takes the earlier ones: each is a part of the next, and some drivers list the
/// newest alone (<https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html>, section 1.2 and the list of changes).
fn on_spirv<R: Reason>(version: SpirvVersion, taken: &[SpirvVersion]) -> Result<Fit, R> {
    if taken.iter().any(|taken| taken.minor() >= version.minor()) {
        return Ok(Fit { class: Class::Intermediate, rank: version.minor().into() });
    }
    if taken.is_empty() {
        return Err(R::new(|| Refusal::Form("the device takes no SPIR-V".to_string())));
    }
    Err(R::new(|| {
        let taken: Vec<String> = taken.iter().map(ToString::to_string).collect();
        Refusal::Form(format!("it is SPIR-V {version}, the device takes {}", taken.join(", ")))
    }))
}

fn on_intel<R: Reason>(arch: &IntelArch, device: Option<[u32; 3]>) -> Result<Fit, R> {
    let Some(ip @ [architecture, release, revision]) = device else {
        return Err(R::new(|| Refusal::Architecture("the device is not known as an Intel GPU".to_string())));
    };
    match arch.ip_version() {
        Some(exact) if exact == ip => Ok(Fit { class: Class::ExactNative, rank: 0 }),
        Some([a, r, older]) if (a, r) == (architecture, release) && older < revision => {
            // Native code of an earlier stepping runs on later ones.
            Ok(Fit { class: Class::CompatibleNative, rank: older.saturating_add(2) })
        }
        Some(_) if arch.is_taken_by(ip) => Ok(Fit { class: Class::CompatibleNative, rank: 1 }),
        Some([a, r, v]) => Err(R::new(|| {
            let device = format!("{architecture}.{release}.{revision}");
            Refusal::Architecture(format!("it is for Intel {a}.{r}.{v}, the device is {device}"))
        })),
        None if arch.covers(ip) => Ok(Fit { class: Class::CompatibleNative, rank: 0 }),
        None => Err(R::new(|| {
            let device = format!("{architecture}.{release}.{revision}");
            Refusal::Architecture(format!("it is for the Intel family {arch}, the device is {device}"))
        })),
    }
}

fn level_rank(level: HostLevel) -> u32 {
    match level {
        HostLevel::X86V2 | HostLevel::Arm82 => 2,
        HostLevel::X86V3 | HostLevel::Arm82Sve => 3,
        HostLevel::X86V4 => 4,
        _ => 1,
    }
}

/// The refusal of an image for another kind of device than `device`.
fn for_other<R: Reason>(target: &Target, device: &'static str) -> R {
    R::new(|| Refusal::OtherDevice { target: machines(target), device })
}

fn machines(target: &Target) -> &'static str {
    match target {
        Target::Host(_) => "the host CPU",
        Target::Intel(_) => "an Intel GPU",
        Target::Nvptx(_) | Target::Cubin(_) => "an NVIDIA GPU",
        Target::Amdgcn(_) | Target::AmdgcnSpirv => "an AMD GPU",
        Target::Spirv64(_) | Target::OpenClC => "an OpenCL device",
        _ => "another device",
    }
}

fn on_hip<R: Reason>(target: &Target, entry: &Entry, device: &HipDescription) -> Result<Fit, R> {
    if let Some(refusal) = device.unsupported() {
        return Err(R::new(|| Refusal::Device(refusal)));
    }
    if *target == Target::AmdgcnSpirv {
        amd::check_spirv(device)?;
        return Ok(Fit { class: Class::Intermediate, rank: 0 });
    }
    let Target::Amdgcn(arch) = target else {
        return Err(for_other(target, "this HIP device"));
    };
    let amd::Fit { is_exact, rank } = amd::fit(arch, entry.format_version(), device)?;
    let class = if is_exact { Class::ExactNative } else { Class::CompatibleNative };
    Ok(Fit { class, rank })
}

fn on_cuda<R: Reason>(target: &Target, entry: &Entry, device: &CudaDescription) -> Result<Fit, R> {
    if let Some(refusal) = device.unsupported() {
        return Err(R::new(|| Refusal::Device(refusal)));
    }
    match target {
        Target::Cubin(sm) => on_cubin(sm, entry.format_version(), device),
        Target::Nvptx(sm) => on_ptx(sm, entry.format_version(), device),
        other => Err(for_other(other, "this CUDA device")),
    }
}

fn on_cubin<R: Reason>(sm: &SmArch, abi: Option<u32>, device: &CudaDescription) -> Result<Fit, R> {
    let number = u32::from(sm.number());
    let has = device.sm();
    check_abi(abi, number, device)?;
    if number == has {
        return Ok(Fit { class: Class::ExactNative, rank: rank(sm, 0) });
    }
    if sm.suffix() == Some('a') {
        return Err(R::new(|| {
            Refusal::Architecture(format!(
                "it is native code for {sm}, which runs on sm_{number} only, the device is sm_{has}"
            ))
        }));
    }
    if number / 10 != has / 10 {
        return Err(R::new(|| {
            Refusal::Architecture(format!(
                "it is native code for {sm}, the device is sm_{has}, of another major version"
            ))
        }));
    }
    if number > has {
        return Err(R::new(|| {
            Refusal::Architecture(format!("it is native code for {sm}, the device is only sm_{has}"))
        }));
    }
    if is_tegra(number) || is_tegra(has) {
        return Err(R::new(|| {
            Refusal::Architecture(format!(
                "it is native code for {sm}, the device is sm_{has}; one of them is a Tegra GPU, and those run only their own"
            ))
        }));
    }
    Ok(Fit { class: Class::CompatibleNative, rank: rank(sm, 0) })
}

/// Whether the driver loads cubins for the architecture `number` in this ABI.
fn check_abi<R: Reason>(abi: Option<u32>, number: u32, device: &CudaDescription) -> Result<(), R> {
    let first = CudaVersion::new(if number >= 100 { 12_080 } else { 13_000 });
    match (device.driver, abi) {
        (Some(driver), Some(abi)) if abi >= LATER_ABI && driver < first => Err(R::new(|| {
            Refusal::Driver(format!(
                "it is a cubin of ABI {abi}, which needs CUDA driver {first}, the driver is {driver}"
            ))
        })),
        _ => Ok(()),
    }
}

fn on_ptx<R: Reason>(sm: &SmArch, word: Option<u32>, device: &CudaDescription) -> Result<Fit, R> {
    let number = u32::from(sm.number());
    let has = device.sm();
    let family = (number / 10, is_tegra(number)) == (has / 10, is_tegra(has));
    if number > has {
        return Err(R::new(|| {
            Refusal::Architecture(format!("it is PTX for {sm}, the device is only sm_{has}"))
        }));
    }
    match sm.suffix() {
        Some('f') if !family => {
            return Err(R::new(|| {
                Refusal::Architecture(format!(
                    "it is PTX for {sm}, which runs on its family only, the device is sm_{has}"
                ))
            }));
        }
        Some('a') if number != has => {
            return Err(R::new(|| {
                Refusal::Architecture(format!(
                    "it is PTX for {sm}, which runs on sm_{number} only, the device is sm_{has}"
                ))
            }));
        }
        _ => check_language(word, device)?,
    }
    // An older language is what more drivers take; an unknown one comes last.
    let age = word.map_or(0, |word| 0xffff_u32.saturating_sub(word >> 8));
    Ok(Fit { class: Class::Intermediate, rank: rank(sm, age) })
}

fn check_language<R: Reason>(word: Option<u32>, device: &CudaDescription) -> Result<(), R> {
    let (Some(version), Some(driver)) = (word.and_then(PtxVersion::from_word), device.driver) else {
        return Ok(());
    };
    match PtxVersion::newest_taken_by(driver) {
        Some(newest) if version <= newest => Ok(()),
        Some(newest) => Err(R::new(|| {
            Refusal::Driver(format!(
                "it is PTX {version}, the driver (CUDA {driver}) takes up to {newest}: {}",
                first(version)
            ))
        })),
        None => Err(R::new(|| {
            Refusal::Driver(format!(
                "it is PTX {version}, the driver (CUDA {driver}) takes none of it: {}",
                first(version)
            ))
        })),
    }
}

/// The first driver for PTX of this version.
fn first(version: PtxVersion) -> String {
    let cuda = version.first_cuda();
    match cuda.first_driver() {
        Some(release) => format!("drivers from {release} on take it (CUDA {cuda})"),
        None => format!("drivers for CUDA {cuda} take it"),
    }
}

fn is_tegra(number: u32) -> bool {
    TEGRA.contains(&number)
}

/// More is better: first the architecture, then what it is specialised for, then `least`, a number of 16 bits.
fn rank(sm: &SmArch, least: u32) -> u32 {
    // Code for one architecture or family may use what portable code may not.
    let special = match sm.suffix() {
        None => 0,
        Some('f') => 1,
        Some(_) => 2,
    };
    u32::from(sm.number().min(0x3fff)) << 18 | special << 16 | least
}

impl Fit {
    /// Why an image with this fit comes after one with `best`, which is better.
    pub(super) fn behind(self, best: Fit) -> String {
        if self.class != best.class {
            return format!("{} comes after {}", self.class, best.class);
        }
        format!("there is newer {}", self.class)
    }
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.class.fmt(f)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Class::Source => "source",
            Class::Intermediate => "intermediate code",
            Class::CompatibleNative => "compatible native code",
            Class::ExactNative => "native code for exactly this architecture",
        })
    }
}
