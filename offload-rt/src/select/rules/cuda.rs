//! The rules for CUDA devices: cubin for the same major version, PTX for any later device.

use offload_format::{SmArch, Target};

use super::{Class, Fit, family};
use crate::device::{CudaDevice, CudaVersion, PtxVersion};
use crate::entry::Entry;

/// GPUs of Jetson, Drive and Thor. "The binary compatibility between desktop and Tegra is not supported":
/// <https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#binary-compatibility>.
const TEGRA: [u32; 5] = [53, 62, 72, 87, 101];

/// The ABI version of cubins from CUDA 13 on, and the first driver that loads them.
const ABI_OF_CUDA_13: (u32, CudaVersion) = (8, CudaVersion::new(13_000));

/// How well `entry` fits `device`, or why not.
pub(super) fn judge(target: &Target, entry: &Entry, device: &CudaDevice) -> Result<Fit, String> {
    match target {
        Target::Cubin(sm) => on_cubin(sm, entry.format_version(), device),
        Target::Nvptx(sm) => on_ptx(sm, entry.format_version(), device),
        other => Err(format!("it is for {}, not for this CUDA device", family(other))),
    }
}

fn on_cubin(sm: &SmArch, abi: u32, device: &CudaDevice) -> Result<Fit, String> {
    let (number, has) = (u32::from(sm.number()), device.sm());
    check_abi(abi, device)?;
    if number == has {
        return Ok(Fit { class: Class::ExactNative, rank: rank(sm, 0) });
    }
    let reason = if sm.suffix() == Some('a') {
        format!("which runs on sm_{number} only, the device is sm_{has}")
    } else if number / 10 != has / 10 {
        format!("the device is sm_{has}, of another major version")
    } else if number > has {
        format!("the device is only sm_{has}")
    } else if is_tegra(number) || is_tegra(has) {
        format!("the device is sm_{has}; one of them is a Tegra GPU, and those run only their own")
    } else {
        return Ok(Fit { class: Class::CompatibleNative, rank: rank(sm, 0) });
    };
    Err(format!("it is native code for {sm}, {reason}"))
}

fn check_abi(abi: u32, device: &CudaDevice) -> Result<(), String> {
    let (since, first) = ABI_OF_CUDA_13;
    match device.driver {
        Some(driver) if abi >= since && driver < first => Err(format!(
            "it is a cubin of ABI {abi}, which needs CUDA driver {first}, the driver is {driver}"
        )),
        _ => Ok(()),
    }
}

fn on_ptx(sm: &SmArch, word: u32, device: &CudaDevice) -> Result<Fit, String> {
    let (number, has) = (u32::from(sm.number()), device.sm());
    let family = (number / 10, is_tegra(number)) == (has / 10, is_tegra(has));
    if number > has {
        return Err(format!("it is PTX for {sm}, the device is only sm_{has}"));
    }
    match sm.suffix() {
        Some('f') if !family => {
            return Err(format!("it is PTX for {sm}, which runs on its family only, the device is sm_{has}"));
        }
        Some('a') if number != has => {
            return Err(format!(
                "it is PTX for {sm}, which runs on sm_{number} only, the device is sm_{has}"
            ));
        }
        _ => check_language(word, device)?,
    }
    // An older language is what more drivers take; an unknown one comes last.
    let age = if word == 0 { 0 } else { 0xffff_u32.saturating_sub(word >> 8) };
    Ok(Fit { class: Class::Intermediate, rank: rank(sm, age) })
}

fn check_language(word: u32, device: &CudaDevice) -> Result<(), String> {
    let (Some(version), Some(driver)) = (PtxVersion::from_word(word), device.driver) else { return Ok(()) };
    match PtxVersion::newest_taken_by(driver) {
        Some(newest) if version <= newest => Ok(()),
        Some(newest) => Err(format!("it is PTX {version}, the driver (CUDA {driver}) takes up to {newest}")),
        None => Err(format!("it is PTX {version}, the driver (CUDA {driver}) takes none of it")),
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
