//! The requirements of a module against a device.

use std::collections::BTreeSet;

use offload_containers::syclbin::{AbstractModule, PropertyValue, Requirements, sets};

use crate::rules::{Rules, Unfit};
use crate::traits::Traits;

/// Above every number of `sycl::aspect`; a runtime fails at what it does not know.
const LAST_ASPECT: u32 = 100;

/// Whether `device` has what `module` requires.
pub(super) fn check(rules: Rules, module: &AbstractModule<'_>, device: &Traits) -> Result<(), Unfit> {
    aspects(rules, module, device)?;
    compile_target(module, device)?;
    sub_group(rules, module, device)?;
    work_group(module, device)
}

/// The requirements of `module`.
pub(super) fn from_module(module: &AbstractModule<'_>) -> Requirements {
    let aspects = value(module, "aspects").and_then(|value| numbers::<4>(&value)).unwrap_or_default();
    let sizes = value(module, "reqd_work_group_size_uint64_t").and_then(|value| numbers::<8>(&value));
    Requirements {
        aspects: aspects.into_iter().map(u32::from_le_bytes).collect(),
        compile_target: module.compile_target(),
        work_group_size: sizes.map(|sizes| sizes.into_iter().map(u64::from_le_bytes).collect()),
        sub_group_size: match value(module, "reqd_sub_group_size") {
            Some(PropertyValue::Number(size)) => Some(size),
            _ => None,
        },
    }
}

/// Merges the requirements of modules: every aspect, and sizes that are the same for all.
pub(super) fn merge<'r>(modules: impl Iterator<Item = &'r Requirements> + Clone) -> Requirements {
    let aspects: BTreeSet<u32> = modules.clone().flat_map(|needs| needs.aspects.iter().copied()).collect();
    let mut all = modules.clone().next().cloned().unwrap_or_default();
    all.aspects = aspects.into_iter().collect();
    for needs in modules {
        all.work_group_size = all.work_group_size.filter(|size| needs.work_group_size.as_ref() == Some(size));
        all.sub_group_size = all.sub_group_size.filter(|size| needs.sub_group_size == Some(*size));
    }
    all
}

fn value(module: &AbstractModule<'_>, name: &str) -> Option<PropertyValue> {
    module.metadata.get(sets::REQUIREMENTS, name)
}

fn aspects(rules: Rules, module: &AbstractModule<'_>, device: &Traits) -> Result<(), Unfit> {
    let Some(value) = value(module, "aspects") else { return Ok(()) };
    // With a number in place of the list a runtime dies.
    let needed =
        numbers::<4>(&value).ok_or_else(|| Unfit::refused("its aspects are not a list of numbers"))?;
    for aspect in needed.into_iter().map(u32::from_le_bytes) {
        if rules == Rules::Runtime && aspect > LAST_ASPECT {
            return Err(Unfit::refused(format!("it needs aspect {aspect}, which does not exist")));
        }
        if !device.aspects.contains(&aspect) {
            return Err(Unfit::missing(format!("the device does not have aspect {}", aspect_name(aspect))));
        }
    }
    Ok(())
}

fn aspect_name(aspect: u32) -> String {
    match aspect {
        1 => "cpu".to_string(),
        2 => "gpu".to_string(),
        5 => "fp16".to_string(),
        6 => "fp64".to_string(),
        28 => "atomic64".to_string(),
        other => other.to_string(),
    }
}

fn compile_target(module: &AbstractModule<'_>, device: &Traits) -> Result<(), Unfit> {
    match module.compile_target() {
        Some(name) if !device.arch.is_called(&name) => {
            Err(Unfit::missing(format!("it is for `{}`", name.escape_debug())))
        }
        _ => Ok(()),
    }
}

fn sub_group(rules: Rules, module: &AbstractModule<'_>, device: &Traits) -> Result<(), Unfit> {
    let needed = match (value(module, "reqd_sub_group_size"), rules) {
        (None, _) => return Ok(()),
        (Some(PropertyValue::Number(size)), _) => Some(size),
        // The design document asks for bytes, and a runtime leaves such a module out.
        (Some(value), Rules::Spec) => {
            numbers::<4>(&value).and_then(|sizes| sizes.first().copied()).map(u32::from_le_bytes)
        }
        (Some(_), Rules::Runtime) => None,
    };
    match needed {
        Some(size) if device.sub_groups.contains(&size) => Ok(()),
        Some(size) => Err(Unfit::missing(format!("the device has no sub-groups of {size}"))),
        None => Err(Unfit::missing("its required sub-group size is not a number")),
    }
}

fn work_group(module: &AbstractModule<'_>, device: &Traits) -> Result<(), Unfit> {
    let Some(value) = value(module, "reqd_work_group_size_uint64_t") else { return Ok(()) };
    let Some(sizes) = numbers::<8>(&value).filter(|sizes| (1..=3).contains(&sizes.len())) else {
        return Err(Unfit::missing("its required work-group size is not one to three numbers"));
    };
    let sizes: Vec<u64> = sizes.into_iter().map(u64::from_le_bytes).collect();
    let (most, extents) = device.work_group;
    let all = sizes.iter().try_fold(1u64, |all, size| all.checked_mul(*size));
    if all.is_none_or(|all| all > most) || sizes.iter().zip(extents).any(|(size, extent)| *size > extent) {
        return Err(Unfit::missing(format!("the device has no work-groups of {sizes:?}")));
    }
    Ok(())
}

/// The numbers of `N` bytes in a list.
fn numbers<const N: usize>(value: &PropertyValue) -> Option<Vec<[u8; N]>> {
    let bytes = value.bytes().filter(|bytes| bytes.len().is_multiple_of(N))?;
    bytes.chunks(N).map(|number| number.try_into().ok()).collect()
}
