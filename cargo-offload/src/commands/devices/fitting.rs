//! Targets whose images a device can load.

use offload_format::pack::NewImage;
use offload_format::{PtxVersion, Target};
use offload_rt::{DeviceDescription, Outcome};

use crate::error::Result;
use crate::read::registry::registry;
use crate::settings::known_targets;

/// The targets whose images `device` takes, the one that it would take first of all first.
pub(super) fn targets(device: &DeviceDescription) -> Result<Vec<String>> {
    let Ok(selection) =
        registry(known_targets::targets().map(image).collect())?.request(MODULE).select(device)
    else {
        return Ok(Vec::new());
    };
    let mut picked = Vec::new();
    let mut others = Vec::new();
    for candidate in selection.candidates() {
        let target = candidate.entry().target_text().to_string();
        match candidate.outcome() {
            Outcome::Picked(_) => picked.push(target),
            Outcome::LessPreferred(_) => others.push(target),
            _ => {}
        }
    }
    picked.extend(others);
    Ok(picked)
}

/// A few of each family, and how many more there are.
pub(super) fn short(targets: &[String]) -> String {
    let words: Vec<String> =
        known_targets::families(targets).iter().map(|family| known_targets::short(&family.targets)).collect();
    if words.is_empty() { "no image of any target".to_string() } else { words.join("; ") }
}

const MODULE: &str = "probe";

/// An image as a build would make it: in the oldest version of its format that the target has.
fn image(target: Target) -> NewImage {
    let format_version = match &target {
        Target::Spirv64(version) => Some(version.word()),
        Target::Nvptx(sm) => sm.min_ptx().map(PtxVersion::word),
        // As `amdgcn` is compiled: generic processors need version 6 of the code object, and all are of version 1.
        Target::Amdgcn(arch) => Some(if arch.is_generic() { 0x0106 } else { 5 }),
        _ => None,
    };
    NewImage { format_version, ..NewImage::new(MODULE, target) }
}

#[cfg(test)]
mod tests {
    use offload_format::SpirvVersion;
    use offload_rt::{CudaDescription, OpenClDescription};

    use super::*;

    #[test]
    fn the_targets_of_a_device_are_those_that_the_runtime_takes() {
        let gpu = OpenClDescription::new("Arc", "Intel").spirv(&[SpirvVersion::V1_2]).intel_ip([12, 55, 8]);
        let targets = targets(&DeviceDescription::from(gpu)).unwrap();
        assert_eq!(targets[0], "intel:acm-g10");
        assert!(targets.contains(&"spirv64".to_string()), "{targets:?}");
        assert!(
            !targets.iter().any(|target| target.starts_with("cubin") || target == "intel:pvc"),
            "{targets:?}"
        );

        let gpu = CudaDescription::new("H200", [9, 0]).driver_version(13000);
        let targets = super::targets(&DeviceDescription::from(gpu)).unwrap();
        assert!(targets[0].starts_with("cubin:sm_90"), "{targets:?}");
        assert!(
            targets.contains(&"nvptx:sm_80".to_string()) && !targets.contains(&"cubin:sm_100".to_string())
        );
    }

    #[test]
    fn the_short_form_counts_the_rest() {
        let targets: Vec<String> =
            ["host", "intel:a", "intel:b", "intel:c", "intel:d", "intel:e"].map(String::from).into();
        assert_eq!(short(&targets), "host; intel:a, intel:b, intel:c, intel:d and 1 more");
    }
}
