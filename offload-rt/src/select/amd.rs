//! The rules for AMD: which code objects a processor runs, in which modes, and how well each fits.
//!
//! They are those of AMD's loader, `Isa::IsCompatible` in
//! <https://github.com/ROCm/rocm-systems/blob/1b1610fc2b2a/projects/rocr-runtime/runtime/hsa-runtime/core/runtime/isa.cpp>.

use offload_format::AmdArch;

use super::reason::Reason;
use crate::description::{HipDescription, HipVersion};
use crate::refusal::Refusal;

/// The lowest version of each generic processor that the processors of today run; all are of version 1
/// (<https://llvm.org/docs/AMDGPUUsage.html#amdgpu-generic-processor-versioning>).
const LOWEST_GENERIC: u32 = 1;

/// The versions of code objects. Version 3 does not say whether a mode is off
/// (<https://llvm.org/docs/AMDGPUUsage.html#header>).
const VERSIONS: std::ops::RangeInclusive<u32> = 4..=6;

/// The first runtime for version 6 of the code object; of earlier ones clang says that it "requires ROCm 6.3 or higher".
const RUNTIME_OF_6: HipVersion = HipVersion::new(6, 3);

/// The first runtime that compiles AMD's SPIR-V
/// (<https://rocm.docs.amd.com/projects/HIP/en/docs-6.4.0/how-to/hip_porting_guide.html>, `--offload-arch=amdgcnspirv`).
const RUNTIME_OF_SPIRV: HipVersion = HipVersion::new(6, 4);

/// The preference of a code object.
pub(super) struct Fit {
    /// It is for exactly this processor.
    pub(super) is_exact: bool,
    /// The number of modes that it is made for: such code may be faster than what runs in any mode.
    pub(super) rank: u32,
}

/// Ranks a code object for `arch` on `device`, or refuses it. `word` is the version that the pack has of it.
pub(super) fn fit<R: Reason>(arch: &AmdArch, word: Option<u32>, device: &HipDescription) -> Result<Fit, R> {
    let Some(has) = &device.arch else {
        return Err(R::new(|| {
            let device = device.shown_target_id();
            Refusal::Device(format!("the device is {device}, of which this release knows nothing"))
        }));
    };
    let is_exact = check_processor(arch, has)?;
    check_mode("sramecc", arch.sramecc(), has.sramecc())?;
    check_mode("xnack", arch.xnack(), has.xnack())?;
    word.map_or(Ok(()), |word| check_version(arch, word, device))?;
    let modes = [arch.sramecc(), arch.xnack()];
    Ok(Fit { is_exact, rank: modes.iter().flatten().map(|_| 1).sum() })
}

/// Whether the runtime of `device` compiles AMD's SPIR-V, which is for every processor.
pub(super) fn check_spirv<R: Reason>(device: &HipDescription) -> Result<(), R> {
    match device.runtime {
        Some(runtime) if runtime < RUNTIME_OF_SPIRV => Err(R::new(|| {
            Refusal::Driver(format!(
                "it is AMD's SPIR-V, which needs HIP {RUNTIME_OF_SPIRV}, the runtime is HIP {runtime}"
            ))
        })),
        _ => Ok(()),
    }
}

/// Whether the processor is the same; an error if it is none that runs here.
fn check_processor<R: Reason>(arch: &AmdArch, has: &AmdArch) -> Result<bool, R> {
    let wanted = arch.processor();
    let processor = has.processor();
    if wanted == processor || has.generic() == Some(wanted) {
        return Ok(wanted == processor);
    }
    Err(R::new(|| {
        Refusal::Architecture(match has.generic() {
            Some(generic) if arch.is_generic() => {
                format!("it is for {wanted}, the device is {processor}, which is of {generic}")
            }
            _ => format!("it is for {wanted}, the device is {processor}"),
        })
    }))
}

/// Code that names no mode runs in either one. That of the device is fixed while a process runs.
fn check_mode<R: Reason>(mode: &'static str, wanted: Option<bool>, device: Option<bool>) -> Result<(), R> {
    match wanted {
        Some(is_on) if device != wanted => Err(R::new(|| Refusal::Mode { mode, is_on, device })),
        _ => Ok(()),
    }
}

fn check_version<R: Reason>(arch: &AmdArch, word: u32, device: &HipDescription) -> Result<(), R> {
    let version = word & 0xff;
    let generic = word >> 8 & 0xff;
    if !VERSIONS.contains(&version) {
        return Err(R::new(|| {
            Refusal::Form(format!("it is a code object of version {version}, 4 to 6 are taken"))
        }));
    }
    if let (6, Some(runtime)) = (version, device.runtime)
        && runtime < RUNTIME_OF_6
    {
        return Err(R::new(|| {
            Refusal::Driver(format!(
                "it is a code object of version 6, which needs HIP {RUNTIME_OF_6}, the runtime is HIP {runtime}"
            ))
        }));
    }
    if arch.is_generic() && generic < LOWEST_GENERIC {
        let processor = arch.processor();
        return Err(R::new(|| {
            Refusal::Architecture(format!(
                "it is for version {generic} of {processor}, the device runs version {LOWEST_GENERIC} and later"
            ))
        }));
    }
    Ok(())
}
