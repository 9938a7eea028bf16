//! Devices by product name, and their architectures.

mod amd;
mod devices;
mod intel;
mod name;
mod nvidia;

use offload_format::{AmdArch, IntelArch, SmArch, SpirvVersion, Target};
use offload_rt::{CudaDescription, DeviceDescription, Entry, HipDescription, OpenClDescription};

use self::amd::AMD;
use self::devices::Devices;
use self::intel::INTEL;
use self::name::Name;
use self::nvidia::NVIDIA;
use super::modes;
use crate::error::{Error, Result};

/// The tables, each with the family of its targets.
const FAMILIES: [(&str, &[Devices]); 3] = [("cubin:", NVIDIA), ("amdgcn:", AMD), ("intel:", INTEL)];

/// Of so many names a hint tells.
const NEAREST: usize = 3;

/// A device that a demand is for.
#[derive(Clone, Debug)]
pub(super) struct KnownDevice {
    pub(super) description: DeviceDescription,
    /// Of an AMD GPU, the target ID. It may leave modes open, which no GPU does.
    amd: Option<AmdArch>,
    /// Assumption of the description.
    pub(super) note: Option<String>,
}

impl From<DeviceDescription> for KnownDevice {
    fn from(description: DeviceDescription) -> KnownDevice {
        KnownDevice { description, amd: None, note: None }
    }
}

impl KnownDevice {
    /// The device in each setting of the modes that it leaves open and `images` name, with the name of the setting.
    pub(super) fn settings(&self, images: &[&Entry]) -> Vec<(Option<String>, KnownDevice)> {
        let Some(open) = &self.amd else { return vec![(None, self.clone())] };
        let mut devices = Vec::new();
        for setting in modes::settings(open, images) {
            match self.description.hip().filter(|_| setting != *open) {
                None => devices.push((None, self.clone())),
                Some(device) => {
                    let text = setting.to_string();
                    let description = device.clone().target_id(&text).into();
                    devices.push((Some(text), KnownDevice { description, ..self.clone() }));
                }
            }
        }
        devices
    }
}

/// A name of a table.
#[derive(Clone, Copy)]
struct TableEntry {
    family: &'static str,
    arch: &'static str,
    name: &'static str,
}

fn all() -> impl Iterator<Item = TableEntry> {
    FAMILIES.iter().flat_map(|(family, devices)| {
        devices
            .iter()
            .flat_map(move |(arch, names)| names.iter().map(move |name| TableEntry { family, arch, name }))
    })
}

/// The device that is called `name`, with this version of its driver.
///
/// # Errors
/// Nothing is called so, or the version is none.
pub(super) fn find(name: &str, driver: Option<&str>) -> Result<KnownDevice> {
    match by_name(name) {
        Some(known) => {
            let target = target(&[known.family, known.arch].concat()).ok_or_else(|| unknown(name))?;
            describe(known.name, &target, driver)
        }
        None => describe(name, &target(name).ok_or_else(|| unknown(name))?, driver),
    }
}

/// The entry that reads the same; else the only architecture of which an entry does without the words of its series. Of
/// two vendors' devices with one name the newer one is meant, unless the vendor is named.
fn by_name(text: &str) -> Option<TableEntry> {
    let name = Name::parse(text);
    let key = name.key();
    let of_vendor: Vec<TableEntry> = all().filter(|known| name.may_be_of(known.family)).collect();
    if let Some(known) = of_vendor.iter().rfind(|known| Name::parse(known.name).key() == key) {
        return Some(*known);
    }
    // `pvc` and `gfx1100` are no short names.
    let short = name.short_key().filter(|_| target(text).is_none())?;
    let mut alike =
        of_vendor.iter().filter(|known| Name::parse(known.name).short_key().as_ref() == Some(&short));
    let first = alike.next()?;
    alike.all(|other| other.arch == first.arch).then_some(*first)
}

/// The target of an architecture name, with or without its family.
fn target(text: &str) -> Option<Target> {
    let families = [("host", ""), ("sm_", "cubin:"), ("gfx", "amdgcn:"), ("", ""), ("", "intel:")];
    let mut families = families.iter().filter(|(start, _)| text.starts_with(start));
    families.find_map(|(_, family)| format!("{family}{text}").parse().ok())
}

/// The device that a native target names; nothing if it is a family, or code with more than all such devices have.
pub(super) fn find_by_target(target: &Target) -> Option<KnownDevice> {
    match target {
        Target::Cubin(sm) if sm.suffix().is_none() => {
            Some(DeviceDescription::from(cuda(&sm.to_string(), sm)).into())
        }
        Target::Amdgcn(arch) if !arch.is_generic() => {
            let description = HipDescription::new(arch.processor(), &arch.to_string()).into();
            Some(KnownDevice { description, amd: Some(arch.clone()), note: None })
        }
        Target::Intel(arch) => intel(arch.name(), arch).map(|device| DeviceDescription::from(device).into()),
        _ => None,
    }
}

/// The device called `name` of this architecture.
fn describe(name: &str, target: &Target, driver: Option<&str>) -> Result<KnownDevice> {
    match target {
        Target::Cubin(sm) if sm.suffix().is_none() => with_release(cuda(name, sm), driver),
        Target::Amdgcn(arch) if !arch.is_generic() => {
            let description = with_rocm(HipDescription::new(name, &arch.to_string()), driver)?;
            Ok(KnownDevice { description, amd: Some(arch.clone()), note: None })
        }
        Target::Intel(arch) => {
            no_driver(driver, "Intel's GPUs")?;
            let device = intel(name, arch).ok_or_else(|| unknown(name))?;
            Ok(DeviceDescription::from(device).into())
        }
        Target::Host(level) => {
            no_driver(driver, "the host CPU")?;
            Ok(DeviceDescription::host_with_level(*level).into())
        }
        _ => Err(unknown(name)),
    }
}

fn cuda(name: &str, sm: &SmArch) -> CudaDescription {
    let number = u32::from(sm.number());
    CudaDescription::new(name, [number / 10, number % 10])
}

fn with_release(device: CudaDescription, driver: Option<&str>) -> Result<KnownDevice> {
    let Some(driver) = driver else { return Ok(DeviceDescription::from(device).into()) };
    let device = device.driver_release(driver).ok_or_else(|| {
        Error::usage(format!("`{}` is not an NVIDIA driver version", driver.escape_debug()))
            .hint("use a version as `nvidia-smi` prints it, such as `550.54.14`, or a branch such as `550`")
    })?;
    let note = device.taken_for_branch().map(|branch| {
        format!("driver {driver} is newer than R{branch}, the newest known branch: its rules apply")
    });
    Ok(KnownDevice { note, ..DeviceDescription::from(device).into() })
}

fn with_rocm(device: HipDescription, driver: Option<&str>) -> Result<DeviceDescription> {
    let Some(driver) = driver else { return Ok(device.into()) };
    let mut parts = driver.split('.');
    let (Some(major), Some(minor)) = (version_part(parts.next()), version_part(parts.next())) else {
        return Err(Error::usage(format!("`{}` is not a ROCm version", driver.escape_debug()))
            .hint("use a version such as `6.3`; check NVIDIA GPUs in a separate command"));
    };
    Ok(device.rocm_release(major, minor).into())
}

/// The OpenCL description that Intel's driver reports.
fn intel(name: &str, arch: &IntelArch) -> Option<OpenClDescription> {
    let ip = arch.ip_version()?;
    let device = OpenClDescription::new(name, "Intel").spirv(&[SpirvVersion::V1_2]).opencl_c();
    Some(device.intel_ip(ip).aspects(intel::aspects(ip)))
}

fn no_driver(driver: Option<&str>, of: &str) -> Result<()> {
    match driver {
        None => Ok(()),
        Some(_) => Err(Error::usage(format!("--driver does not apply to {of}")).hint("remove --driver")),
    }
}

fn unknown(text: &str) -> Error {
    let name = Name::parse(text);
    let mut names: Vec<(f64, &str)> =
        all().map(|known| (name.likeness(&Name::parse(known.name)), known.name)).collect();
    names.sort_by(|(a, a_name), (b, b_name)| b.total_cmp(a).then_with(|| a_name.cmp(b_name)));
    let nearest: Vec<&str> = names.iter().take(NEAREST).map(|(_, name)| *name).collect();
    Error::usage(format!("unknown device `{}`", text.escape_debug())).hint(format!(
        "similar names: {}; or use the architecture, such as `sm_90`, `gfx942` or `pvc`",
        nearest.join(", ")
    ))
}

/// A component of a ROCm version.
fn version_part(text: Option<&str>) -> Option<u32> {
    text?.parse().ok().filter(|part| *part < 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str, driver: Option<&str>) -> String {
        find(name, driver).unwrap().description.to_string()
    }

    #[test]
    fn every_name_finds_its_device() {
        let mut count = 0;
        for (vendor, arch, names) in [("NVIDIA", NVIDIA), ("AMD", AMD)]
            .into_iter()
            .flat_map(|(vendor, table)| table.iter().map(move |(arch, names)| (vendor, arch, names)))
        {
            for name in *names {
                let shown = shown(&format!("{vendor} {name}"), None);
                assert!(shown.contains(name) && shown.contains(&format!("({arch}")), "{name}: {shown}");
                count += 1;
            }
        }
        for (arch, names) in INTEL {
            let Some(Target::Intel(arch)) = target(arch) else { panic!("{arch}") };
            let [architecture, release, revision] = arch.ip_version().unwrap();
            let takes = format!("takes Intel {architecture}.{release}.{revision}");
            for name in *names {
                assert!(shown(name, None).contains(&takes), "{name}: {}", shown(name, None));
                count += 1;
            }
        }
        assert!(count > 400, "{count}");
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
            ("NVIDIA H100 80GB HBM3", "H100 (sm_90"),
            ("NVIDIA A10G", "A10G (sm_86"),
            ("NVIDIA H20", "H20 (sm_90"),
            ("DGX Spark", "DGX Spark (sm_121"),
            ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000 (sm_120"),
            ("Quadro RTX 6000", "RTX 6000 (sm_75"),
            ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada (sm_89"),
            ("NVIDIA TITAN X (Pascal)", "(sm_61"),
            ("NVIDIA GeForce GTX TITAN X", "(sm_52"),
            ("NVIDIA Jetson AGX Orin 64GB Developer Kit", "Jetson AGX Orin (sm_87"),
            ("4090", "RTX 4090 (sm_89"),
            ("NVIDIA GeForce 840M", "(sm_50"),
            ("AMD Radeon 840M Graphics", "(gfx1152"),
            ("7900 XTX", "RX 7900 XTX (gfx1100"),
            ("AMD Radeon VII", "VII (gfx906:sramecc-:xnack-"),
            ("Strix Halo", "(gfx1151"),
            ("AMD Radeon PRO W7900", "PRO W7900 (gfx1100"),
            ("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", "8060S (gfx1151"),
            ("Intel(R) Arc(TM) A770 Graphics", "Arc A770"),
            ("Intel(R) Arc(TM) Pro B60 Graphics", "Intel 20.1.0"),
            ("Intel(R) UHD Graphics 630", "Intel 9.2.9"),
            ("Lunar Lake", "Intel 20.4.4"),
            ("gfx1100", "gfx1100 (gfx1100"),
            ("sm_90", "sm_90 (sm_90"),
            ("gfx90a:xnack+", "(gfx90a:xnack+"),
            ("pvc", "Intel 12.60.7"),
            ("intel:pvc", "Intel 12.60.7"),
        ] {
            assert!(shown(name, None).contains(found), "{name}: {}", shown(name, None));
        }
        assert_eq!(find("host", None).unwrap().description.name(), "host CPU");
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
        assert!(unknown.contains("unknown device `Voodoo 2`"), "{unknown}");
    }

    #[test]
    fn what_is_unknown_has_near_names() {
        for (text, near) in [
            ("RTX 4085", "RTX 4080"),
            ("NVIDIA H1000", "H100"),
            ("Radeon RX 7900 XXT", "RX 7900 XT"),
            ("Instinct MI300", "MI300X"),
            ("Intel Arc B590", "Arc B580"),
        ] {
            let error = find(text, None).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(near), "{text}: {error}");
            let names = error.split("names: ").nth(1).and_then(|rest| rest.split(';').next()).unwrap();
            assert_eq!(names.split(", ").count(), 3, "{error}");
        }
    }

    /// No name stands for two architectures.
    #[test]
    fn names_are_of_one_architecture() {
        let mut seen = std::collections::BTreeMap::new();
        for TableEntry { arch, name, family } in all() {
            let key = Name::parse(name).key();
            assert!(!key.is_empty(), "{name}");
            assert_eq!(seen.insert((family, key), arch).unwrap_or(arch), arch, "{name}");
        }
    }

    #[test]
    fn a_later_driver_is_taken_for_the_last_known_one() {
        assert_eq!(find("H100", Some("550")).unwrap().note, None);
        let later = find("H100", Some("999.1")).unwrap();
        assert!(later.note.is_some_and(|note| note.contains("R620")));
    }
}
