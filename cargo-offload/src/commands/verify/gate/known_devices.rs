//! Devices by the names under which they are sold, and the architecture of each.
//!
//! - NVIDIA: <https://developer.nvidia.com/cuda-gpus>
//! - AMD: <https://rocm.docs.amd.com/en/latest/reference/gpu-arch-specs.html>; the modes are those that AMD's driver sets
//!   unless it is told otherwise (<https://llvm.org/docs/AMDGPUUsage.html#amdgpu-processors>)
//! - Intel: <https://dgpu-docs.intel.com/devices/hardware-table.html>

use offload_format::{Aspects, IntelArch, SmArch, SpirvVersion, Target};
use offload_rt::{CudaDescription, DeviceDescription, HipDescription, OpenClDescription};

use crate::error::{Error, Result};

/// An architecture, and the devices that have it, without the words in [`BRANDS`].
type Devices = (&'static str, &'static [&'static str]);

const NVIDIA: [Devices; 22] = [
    ("sm_50", &["GTX 750", "GTX 750 Ti"]),
    ("sm_52", &["M40", "M60", "GTX 960", "GTX 970", "GTX 980", "GTX 980 Ti", "GTX Titan X"]),
    ("sm_53", &["Jetson Nano", "Jetson TX1"]),
    ("sm_60", &["P100"]),
    ("sm_61", &["P4", "P40", "GTX 1050", "GTX 1060", "GTX 1070", "GTX 1080", "GTX 1080 Ti", "Titan Xp"]),
    ("sm_62", &["Jetson TX2"]),
    ("sm_70", &["V100", "Titan V"]),
    ("sm_72", &["Jetson AGX Xavier", "Jetson Xavier NX"]),
    (
        "sm_75",
        &[
            "T4",
            "T1000",
            "GTX 1650",
            "GTX 1660",
            "RTX 2060",
            "RTX 2070",
            "RTX 2080",
            "RTX 2080 Ti",
            "Titan RTX",
        ],
    ),
    ("sm_80", &["A100", "A30"]),
    ("sm_86", &["A2", "A10", "A16", "A40", "RTX A2000", "RTX A4000", "RTX A5000", "RTX A6000"]),
    (
        "sm_86",
        &[
            "RTX 3050",
            "RTX 3060",
            "RTX 3060 Ti",
            "RTX 3070",
            "RTX 3080",
            "RTX 3080 Ti",
            "RTX 3090",
            "RTX 3090 Ti",
        ],
    ),
    ("sm_87", &["Jetson AGX Orin", "Jetson Orin NX", "Jetson Orin Nano"]),
    ("sm_89", &["L4", "L40", "L40S", "RTX 2000 Ada", "RTX 4000 Ada", "RTX 5000 Ada", "RTX 6000 Ada"]),
    ("sm_89", &["RTX 4050", "RTX 4060", "RTX 4060 Ti", "RTX 4070", "RTX 4070 Ti", "RTX 4080", "RTX 4090"]),
    ("sm_90", &["H100", "H200", "GH200"]),
    ("sm_100", &["B200", "GB200"]),
    ("sm_103", &["B300", "GB300"]),
    ("sm_110", &["Jetson T4000", "Jetson T5000"]),
    ("sm_120", &["RTX PRO 4000 Blackwell", "RTX PRO 5000 Blackwell", "RTX PRO 6000 Blackwell"]),
    ("sm_120", &["RTX 5050", "RTX 5060", "RTX 5060 Ti", "RTX 5070", "RTX 5070 Ti", "RTX 5080", "RTX 5090"]),
    ("sm_121", &["GB10"]),
];
const AMD: [Devices; 16] = [
    ("gfx906:sramecc+:xnack-", &["MI50", "MI60"]),
    ("gfx908:sramecc+:xnack-", &["MI100"]),
    ("gfx90a:sramecc+:xnack-", &["MI210", "MI250", "MI250X"]),
    ("gfx942:sramecc+:xnack-", &["MI300A", "MI300X", "MI325X"]),
    ("gfx950:sramecc+:xnack-", &["MI350X", "MI355X"]),
    ("gfx1010:xnack-", &["RX 5700", "RX 5700 XT"]),
    ("gfx1030", &["RX 6800", "RX 6800 XT", "RX 6900 XT", "RX 6950 XT", "PRO W6800", "PRO V620"]),
    ("gfx1031", &["RX 6700 XT", "RX 6750 XT"]),
    ("gfx1032", &["RX 6600", "RX 6600 XT", "RX 6650 XT", "PRO W6600"]),
    ("gfx1100", &["RX 7900 GRE", "RX 7900 XT", "RX 7900 XTX", "PRO W7800", "PRO W7900"]),
    ("gfx1101", &["RX 7700 XT", "RX 7800 XT", "PRO W7700", "PRO V710"]),
    ("gfx1102", &["RX 7600"]),
    ("gfx1103", &["780M"]),
    ("gfx1151", &["8060S"]),
    ("gfx1200", &["RX 9060 XT"]),
    ("gfx1201", &["RX 9070", "RX 9070 XT", "RX 9070 GRE", "AI PRO R9700"]),
];
const INTEL: [Devices; 9] = [
    ("cfl", &["UHD Graphics 630"]),
    ("tgllp", &["Iris Xe"]),
    ("adl-s", &["UHD Graphics 770"]),
    ("dg1", &["Iris Xe MAX"]),
    ("acm-g10", &["Arc A580", "Arc A750", "Arc A770", "Flex 170"]),
    ("acm-g11", &["Arc A310", "Arc A380", "Flex 140"]),
    ("pvc", &["Max 1100", "Max 1550"]),
    ("bmg-g21", &["Arc B570", "Arc B580"]),
    ("lnl-m", &["Arc 130V", "Arc 140V"]),
];

/// What people write before a name, or leave out.
const BRANDS: [&str; 11] = [
    "nvidia",
    "geforce",
    "tesla",
    "quadro",
    "amd",
    "radeon",
    "instinct",
    "intel",
    "datacentergpu",
    "gpu",
    "graphics",
];

/// Intel's GPUs with 64-bit floating point in hardware.
const WITH_FP64: [&str; 4] = ["cfl", "pvc", "bmg-g21", "lnl-m"];

/// The device that is called `name`, with this version of its driver.
///
/// # Errors
/// Nothing is called so, or the version is none.
pub(super) fn find(name: &str, driver: Option<&str>) -> Result<DeviceDescription> {
    let key = key(name);
    let families = [("cubin:", &NVIDIA[..]), ("amdgcn:", &AMD), ("intel:", &INTEL)];
    for (family, devices) in families {
        let mut names = devices.iter().flat_map(|(arch, names)| names.iter().map(move |name| (arch, *name)));
        if let Some((arch, known)) = names.find(|(_, known)| self::key(known) == key) {
            return described(known, &target(&[family, arch].concat(), name)?, driver);
        }
    }
    described(name, &target(name, name)?, driver)
}

/// What `text` names as an architecture, with its family or without.
fn target(text: &str, name: &str) -> Result<Target> {
    let families = [("host", ""), ("sm_", "cubin:"), ("gfx", "amdgcn:"), ("", ""), ("", "intel:")];
    let mut families = families.iter().filter(|(start, _)| text.starts_with(start));
    families.find_map(|(_, family)| format!("{family}{text}").parse().ok()).ok_or_else(|| unknown(name))
}

/// Lower case, without what is no letter or digit and without brands.
fn key(name: &str) -> String {
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|char| char.to_ascii_lowercase()).collect()
    };
    let words: Vec<String> = name.split([' ', '-', '_']).map(plain).collect();
    let words = words.into_iter().filter(|word| !BRANDS.contains(&word.as_str()));
    let key = words.collect::<String>();
    key.replace("datacenter", "")
}

/// The device that a native target names; nothing if it is a family, or code with more than all such devices have.
pub(super) fn of_target(target: &Target) -> Option<DeviceDescription> {
    match target {
        Target::Cubin(sm) if sm.suffix().is_none() => Some(cuda(&sm.to_string(), sm).into()),
        Target::Amdgcn(arch) if !arch.is_generic() => {
            Some(HipDescription::new(arch.processor(), &arch.to_string()).into())
        }
        Target::Intel(arch) => intel(arch.name(), arch).map(DeviceDescription::from),
        _ => None,
    }
}

/// The device called `name` of this architecture.
fn described(name: &str, target: &Target, driver: Option<&str>) -> Result<DeviceDescription> {
    match target {
        Target::Cubin(sm) if sm.suffix().is_none() => with_release(cuda(name, sm), driver),
        Target::Amdgcn(arch) if !arch.is_generic() => {
            with_rocm(HipDescription::new(name, &arch.to_string()), driver)
        }
        Target::Intel(arch) => {
            no_driver(driver, "Intel's GPUs")?;
            intel(name, arch).map(DeviceDescription::from).ok_or_else(|| unknown(name))
        }
        Target::Host(level) => {
            no_driver(driver, "the host CPU")?;
            Ok(DeviceDescription::host_with_level(*level))
        }
        _ => Err(unknown(name)),
    }
}

fn cuda(name: &str, sm: &SmArch) -> CudaDescription {
    let number = u32::from(sm.number());
    CudaDescription::new(name, [number / 10, number % 10])
}

fn with_release(device: CudaDescription, driver: Option<&str>) -> Result<DeviceDescription> {
    let Some(driver) = driver else { return Ok(device.into()) };
    let device = device.driver_release(driver).ok_or_else(|| {
        Error::usage(format!("`{}` is no release of NVIDIA's driver", driver.escape_debug()))
            .hint("write it as `nvidia-smi` does, `550.54.14`, or `550` for the newest of the branch")
    })?;
    Ok(device.into())
}

fn with_rocm(device: HipDescription, driver: Option<&str>) -> Result<DeviceDescription> {
    let Some(driver) = driver else { return Ok(device.into()) };
    let part = |text: Option<&str>| text?.parse::<u32>().ok().filter(|part| *part < 100);
    let mut parts = driver.split('.');
    let (Some(major), Some(minor)) = (part(parts.next()), part(parts.next())) else {
        return Err(Error::usage(format!("`{}` is no version of ROCm", driver.escape_debug()))
            .hint("write it as `6.3`, and name NVIDIA's GPUs in another command"));
    };
    // As HIP counts: 6.3 is 60,300,000.
    let version = major.saturating_mul(10_000_000).saturating_add(minor.saturating_mul(100_000));
    Ok(device.runtime_version(version).into())
}

/// What Intel's driver takes; of 64-bit floating point only what the hardware has.
fn intel(name: &str, arch: &IntelArch) -> Option<OpenClDescription> {
    let lacks = if WITH_FP64.contains(&arch.name()) { Aspects::BF16 } else { Aspects::BF16 | Aspects::FP64 };
    let device = OpenClDescription::new(name, "Intel").spirv(&[SpirvVersion::V1_2]).opencl_c();
    Some(device.intel_ip(arch.ip_version()?).aspects(Aspects::ALL.missing_from(lacks)))
}

fn no_driver(driver: Option<&str>, of: &str) -> Result<()> {
    match driver {
        None => Ok(()),
        Some(_) => {
            Err(Error::usage(format!("no rule here depends on the driver of {of}"))
                .hint("leave out --driver"))
        }
    }
}

fn unknown(name: &str) -> Error {
    let known =
        |table: &[Devices]| table.iter().filter_map(|(_, names)| names.first().copied()).collect::<Vec<_>>();
    let some = [known(&NVIDIA), known(&AMD), known(&INTEL)].concat();
    Error::usage(format!("no device is known as `{}`", name.escape_debug())).hint(format!(
        "name its architecture, as `sm_90`, `gfx942` or `pvc`; some known names are {}",
        some.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str, driver: Option<&str>) -> String {
        find(name, driver).unwrap().to_string()
    }

    #[test]
    fn every_name_finds_its_device() {
        let mut count = 0;
        for (arch, names) in NVIDIA.iter().chain(&AMD) {
            for name in *names {
                let shown = shown(name, None);
                assert!(shown.contains(name) && shown.contains(&format!("({arch}")), "{name}: {shown}");
                count += 1;
            }
        }
        for (_, names) in INTEL {
            for name in names {
                assert!(shown(name, None).contains("takes Intel "), "{name}");
                count += 1;
            }
        }
        assert!(count > 120, "{count}");
    }

    #[test]
    fn names_are_written_in_many_ways() {
        for (name, found) in [
            ("NVIDIA GeForce RTX 4090", "RTX 4090 (sm_89"),
            ("rtx4090", "RTX 4090 (sm_89"),
            ("Tesla T4", "T4 (sm_75"),
            ("AMD Instinct MI300X", "MI300X (gfx942:sramecc+:xnack-"),
            ("Radeon RX 7900 XTX", "RX 7900 XTX (gfx1100"),
            ("Intel Data Center GPU Max 1550", "Max 1550"),
            ("arc-a770", "Arc A770"),
            ("sm_90", "sm_90 (sm_90"),
            ("gfx90a:xnack+", "(gfx90a:xnack+"),
            ("pvc", "Intel 12.60.7"),
            ("intel:pvc", "Intel 12.60.7"),
        ] {
            assert!(shown(name, None).contains(found), "{name}: {}", shown(name, None));
        }
        assert_eq!(find("host", None).unwrap().name(), "host CPU");
    }

    #[test]
    fn drivers_have_versions() {
        assert!(shown("B200", Some("570.86.10")).contains("CUDA driver 12.8"));
        assert!(shown("MI300X", Some("6.3")).contains("HIP 6.3"));
        for (name, driver) in
            [("B200", "new"), ("MI300X", "6"), ("MI300X", "6.x"), ("Arc A770", "1.2"), ("host", "1")]
        {
            let Err(error) = find(name, Some(driver)) else { panic!("{name} {driver}") };
            assert!(error.to_string().contains("hint: "), "{error}");
        }
        let unknown = find("Voodoo 2", None).unwrap_err().to_string();
        assert!(unknown.contains("no device is known as `Voodoo 2`"), "{unknown}");
    }
}
