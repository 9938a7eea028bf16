//! Intel GPUs by ocloc's names, and the features of each.
//!
//! - Names: the devices of NEO, Intel's driver
//!   (<https://github.com/intel/compute-runtime/blob/e37c60bf2ad4/shared/source/dll/devices/devices_base.inl>), and of its
//!   earlier releases for what came before Tiger Lake; <https://dgpu-docs.intel.com/devices/hardware-table.html>.
//! - Aspects: `ftrSupportsFP64` of `hw_info_*.cpp` and `bFloat16ConversionSupported` of `release_helpers/caps` in the same
//!   place. The latter is `cl_intel_bfloat16_conversions`, with which a driver takes SPIR-V's capability 6115
//!   (<https://github.com/KhronosGroup/SPIRV-Registry/blob/main/extensions/INTEL/SPV_INTEL_bfloat16_conversion.asciidoc>).

use offload_format::Aspects;

use super::devices::Devices;

pub(super) const INTEL: &[Devices] = &[
    ("bdw", &["HD 5300", "HD 5500", "HD 5600", "HD 6000", "Iris 6100", "Iris Pro 6200", "Broadwell"]),
    ("skl", &["HD 510", "HD 515", "HD 520", "HD 530", "HD P530", "Iris 540", "Iris 550", "Iris Pro 580"]),
    ("skl", &["Iris Pro P580", "Skylake"]),
    ("kbl", &["HD 610", "HD 615", "HD 620", "HD 630", "HD P630", "UHD 617", "UHD 620", "Iris Plus 640"]),
    ("kbl", &["Iris Plus 650", "Kaby Lake"]),
    ("cfl", &["UHD Graphics 630", "UHD P630", "Iris Plus 645", "Iris Plus 655", "Coffee Lake"]),
    ("apl", &["HD 500", "HD 505", "Apollo Lake"]),
    ("glk", &["UHD 600", "UHD 605", "Gemini Lake"]),
    ("whl", &["Whiskey Lake"]),
    ("cml", &["Comet Lake"]),
    ("icllp", &["Iris Plus", "Iris Plus G4", "Iris Plus G7", "Ice Lake"]),
    ("ehl", &["Elkhart Lake", "Jasper Lake"]),
    ("tgllp", &["Iris Xe", "Tiger Lake"]),
    ("rkl", &["UHD 750", "UHD P750", "Rocket Lake"]),
    ("adl-s", &["UHD Graphics 770", "UHD 710", "UHD 730", "Alder Lake-S", "Raptor Lake-S"]),
    ("adl-p", &["Alder Lake-P", "Raptor Lake-P"]),
    ("adl-n", &["Alder Lake-N", "Twin Lake"]),
    ("dg1", &["Iris Xe MAX", "Iris Xe MAX 100", "Server GPU SG-18M"]),
    ("acm-g10", &["Arc A550M", "Arc A580", "Arc A580E", "Arc A730M", "Arc A750", "Arc A750E", "Arc A760A"]),
    ("acm-g10", &["Arc A770", "Arc A770M", "Flex 170", "Flex 170V"]),
    ("acm-g11", &["Arc A310", "Arc A310E", "Arc A350M", "Arc A350E", "Arc A370M", "Arc A370E", "Arc A380"]),
    ("acm-g11", &["Arc A310 LP", "Arc A380E", "Arc Pro A30M", "Arc Pro A40", "Arc Pro A50", "Flex 140"]),
    ("acm-g12", &["Arc A530M", "Arc A570M", "Arc Pro A60", "Arc Pro A60M"]),
    ("pvc", &["Max 1100", "Max 1100C", "Max 1350", "Max 1450", "Max 1550", "Ponte Vecchio"]),
    ("pvc-vg", &["Max 1550VG"]),
    ("mtl-u", &["Meteor Lake-U", "Arrow Lake-S", "Arrow Lake-U"]),
    ("mtl-h", &["Meteor Lake", "Meteor Lake-H"]),
    ("arl-h", &["Arc 130T", "Arc 140T", "Arrow Lake-H"]),
    ("bmg-g21", &["Arc B570", "Arc B580", "Arc Pro B50", "Arc Pro B60", "Battlemage"]),
    ("bmg-g31", &["Arc Pro B65", "Arc Pro B70"]),
    ("lnl-m", &["Arc 130V", "Arc 140V", "Lunar Lake"]),
    ("ptl-h", &["Arc B370", "Arc B390", "Panther Lake", "Panther Lake-H"]),
    ("ptl-u", &["Panther Lake-U"]),
    ("wcl", &["Wildcat Lake"]),
    ("nvl-s", &["Nova Lake-S"]),
    ("nvl-p", &["Nova Lake-P"]),
    ("cri", &["Crescent Island"]),
];

/// Features that releases of an architecture lack, from the first release to the last one.
struct Lacks {
    architecture: u32,
    releases: std::ops::RangeInclusive<u32>,
    aspects: fn() -> Aspects,
}

/// Gen8 to Xe-HPG; all that came later have everything.
const LACKS: [Lacks; 5] = [
    Lacks { architecture: 8, releases: 0..=u32::MAX, aspects: || Aspects::BF16 },
    Lacks { architecture: 9, releases: 0..=u32::MAX, aspects: || Aspects::BF16 },
    Lacks { architecture: 11, releases: 0..=u32::MAX, aspects: || Aspects::BF16 | Aspects::FP64 },
    // Xe-LP.
    Lacks { architecture: 12, releases: 0..=10, aspects: || Aspects::FP64 },
    // Xe-HPG: the driver emulates it on request.
    Lacks { architecture: 12, releases: 55..=57, aspects: || Aspects::FP64 },
];

/// The aspects of a GPU with this IP version.
pub(super) fn aspects([architecture, release, _]: [u32; 3]) -> Aspects {
    let lacks =
        LACKS.iter().find(|lacks| lacks.architecture == architecture && lacks.releases.contains(&release));
    Aspects::ALL.missing_from(lacks.map_or_else(Aspects::default, |lacks| (lacks.aspects)()))
}

#[cfg(test)]
mod tests {
    use offload_format::IntelArch;

    use super::*;

    /// As NEO has it, for every device that ocloc names.
    #[test]
    fn devices_have_the_aspects_of_their_driver() {
        let mut fp64 = Vec::new();
        let mut bf16 = Vec::new();
        for arch in IntelArch::devices() {
            let lacking = Aspects::ALL.missing_from(aspects(arch.ip_version().unwrap()));
            if Aspects::FP64.missing_from(lacking).is_empty() {
                fp64.push(arch.to_string());
            }
            if Aspects::BF16.missing_from(lacking).is_empty() {
                bf16.push(arch.to_string());
            }
        }
        assert_eq!(
            fp64,
            [
                "icllp", "lkf", "ehl", "tgllp", "rkl", "adl-s", "adl-p", "adl-n", "dg1", "acm-g10",
                "acm-g11", "acm-g12"
            ]
        );
        assert!(bf16.iter().all(|name| !name.starts_with("acm") && !name.starts_with("pvc")), "{bf16:?}");
        assert!(bf16.contains(&"skl".to_string()) && !bf16.contains(&"tgllp".to_string()), "{bf16:?}");
    }
}
