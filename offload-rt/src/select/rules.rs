//! The rules: which targets a device takes, and how well each fits.

mod cuda;

use std::fmt;

use offload_format::{Aspects, HostLevel, IntelArch, SpirvVersion, Target, Variant};

use crate::device::{Device, DeviceKind, OpenClDevice};
use crate::entry::Entry;

/// How well an image fits; more is better.
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

/// How well `entry` fits `device`, or why not.
pub(super) fn judge(entry: &Entry, device: &Device) -> Result<Fit, String> {
    let target = entry.target().map_err(|_| "its target is of a later release".to_string())?;
    if let Some(refusal) = entry.refusal() {
        return Err(format!("it cannot be read: {refusal}"));
    }
    if entry.image_kind() != target.image_kind() {
        return Err(format!("it is of kind {}, which is of a later release", entry.image_kind()));
    }
    if entry.variant().parse::<Variant>().is_err() {
        return Err("its variant is of a later release".to_string());
    }
    let fit = match device.kind() {
        DeviceKind::Host(level) => on_host(&target, *level),
        DeviceKind::OpenCl(device) => on_opencl(&target, device),
        DeviceKind::Cuda(device) => cuda::judge(&target, entry, device),
    }?;
    check_aspects(entry.aspects(), device.aspects()).map(|()| fit)
}

fn check_aspects(needed: Aspects, has: Aspects) -> Result<(), String> {
    let unknown = needed.missing_from(Aspects::ALL);
    let lacking = needed.missing_from(has);
    if !unknown.is_empty() {
        return Err(format!("it needs {unknown}, which is of a later release"));
    }
    if !lacking.is_empty() {
        return Err(format!("it needs {lacking}, which the device lacks"));
    }
    Ok(())
}

fn on_host(target: &Target, cpu: HostLevel) -> Result<Fit, String> {
    match target {
        Target::Host(level) if *level > cpu => Err(format!("it needs {level}, the CPU has {cpu}")),
        Target::Host(level) => {
            let class = if *level == cpu { Class::ExactNative } else { Class::CompatibleNative };
            Ok(Fit { class, rank: level_rank(*level) })
        }
        other => Err(format!("it is for {}, not for the host CPU", family(other))),
    }
}

fn on_opencl(target: &Target, device: &OpenClDevice) -> Result<Fit, String> {
    match target {
        Target::Intel(arch) => on_intel(arch, device.intel_ip),
        Target::Spirv64(version) => on_spirv(*version, &device.spirv),
        Target::OpenClC if device.opencl_c => Ok(Fit { class: Class::Source, rank: 0 }),
        Target::OpenClC => Err("the device has no compiler for OpenCL C".to_string()),
        other => Err(format!("it is for {}, not for this OpenCL device", family(other))),
    }
}

fn on_spirv(version: SpirvVersion, taken: &[SpirvVersion]) -> Result<Fit, String> {
    if taken.contains(&version) {
        return Ok(Fit { class: Class::Intermediate, rank: version.minor().into() });
    }
    if taken.is_empty() {
        return Err("the device takes no SPIR-V".to_string());
    }
    let taken: Vec<String> = taken.iter().map(ToString::to_string).collect();
    Err(format!("it is SPIR-V {version}, the device takes {}", taken.join(", ")))
}

fn on_intel(arch: &IntelArch, device: Option<[u32; 3]>) -> Result<Fit, String> {
    let Some(ip @ [architecture, release, revision]) = device else {
        return Err("the device is not known as an Intel GPU".to_string());
    };
    let shown = format!("{architecture}.{release}.{revision}");
    match arch.ip_version() {
        Some(exact) if exact == ip => Ok(Fit { class: Class::ExactNative, rank: 0 }),
        Some([a, r, older]) if (a, r) == (architecture, release) && older < revision => {
            // Native code of an earlier stepping runs on later ones.
            Ok(Fit { class: Class::CompatibleNative, rank: older.saturating_add(1) })
        }
        Some([a, r, v]) => Err(format!("it is for Intel {a}.{r}.{v}, the device is {shown}")),
        None if arch.covers(ip) => Ok(Fit { class: Class::CompatibleNative, rank: 0 }),
        None => Err(format!("it is for the Intel family {arch}, the device is {shown}")),
    }
}

fn level_rank(level: HostLevel) -> u32 {
    match level {
        HostLevel::X86V2 => 2,
        HostLevel::X86V3 => 3,
        HostLevel::X86V4 => 4,
        _ => 1,
    }
}

fn family(target: &Target) -> &'static str {
    match target {
        Target::Host(_) => "the host CPU",
        Target::Intel(_) => "an Intel GPU",
        Target::Nvptx(_) | Target::Cubin(_) => "an NVIDIA GPU",
        Target::Amdgcn(_) => "an AMD GPU",
        Target::Spirv64(_) | Target::OpenClC => "an OpenCL device",
        _ => "another device",
    }
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
