//! Named targets, and lists of targets for people.

use offload_format::{AmdArch, HostLevel, IntelArch, SmArch, SpirvVersion, Target};

/// Maximum number of targets of a family in the short form.
const SHOWN: usize = 4;

/// Every target that has a name of its own.
pub(crate) fn targets() -> impl Iterator<Item = Target> {
    let levels = std::iter::once(HostLevel::Baseline).chain(HostLevel::ABOVE_BASELINE);
    (levels.map(Target::Host))
        .chain((0..=6).filter_map(SpirvVersion::new).map(Target::Spirv64))
        .chain(IntelArch::devices().map(Target::Intel))
        .chain(SmArch::known().map(Target::Cubin))
        .chain(SmArch::known().map(Target::Nvptx))
        .chain(AmdArch::known().map(Target::Amdgcn))
        .chain([Target::OpenClC])
}

/// Targets of one family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Family<'a> {
    pub(crate) name: &'a str,
    pub(crate) targets: Vec<&'a str>,
}

/// Targets by family, `intel` for `intel:pvc`; families in the order in which they come.
pub(crate) fn families(targets: &[String]) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    for target in targets {
        let name = target.split(':').next().unwrap_or_default();
        match families.iter_mut().find(|family| family.name == name) {
            Some(family) => family.targets.push(target),
            None => families.push(Family { name, targets: vec![target] }),
        }
    }
    families
}

/// A few targets of a family, and how many more there are.
pub(crate) fn short(members: &[&str]) -> String {
    let named = members.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    match members.len().saturating_sub(SHOWN) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// The family of a target, as it stands in the name of a file: what a package for machines of one kind ships.
pub(crate) fn family_of(target: &str) -> &'static str {
    match target.parse::<Target>() {
        Ok(Target::Host(_)) => "host",
        Ok(Target::Spirv64(_)) => "spirv",
        Ok(Target::Intel(_)) => "intel",
        Ok(Target::Nvptx(_) | Target::Cubin(_)) => "nvidia",
        Ok(Target::Amdgcn(_) | Target::AmdgcnSpirv) => "amd",
        Ok(Target::OpenClC) => "source",
        _ => "other",
    }
}

/// The device generation of a target: `gfx11` for `amdgcn:gfx1101`, `sm_9x` for
/// `cubin:sm_90a`, `acm` for `intel:acm-g10`; `PTX` for that, and nothing where there is one kind alone.
pub(crate) fn generation_of(target: &str) -> String {
    let arch = target.split(':').nth(1).unwrap_or_default();
    match target.parse::<Target>() {
        Ok(Target::Nvptx(_)) => "PTX".to_string(),
        Ok(Target::Cubin(_)) => shorten(arch, "sm_", 1) + "x",
        // Their last two places are a stepping within the generation.
        Ok(Target::Amdgcn(_)) => match arch.split_once('-') {
            Some((generic, _)) => generic.to_string(),
            None => shorten(arch, "gfx", 2),
        },
        Ok(Target::Intel(_)) => arch.split('-').next().unwrap_or(arch).to_string(),
        _ => String::new(),
    }
}

/// `arch` without its last `places`, of what follows `prefix` and has no letter for a variant of the architecture.
fn shorten(arch: &str, prefix: &str, places: usize) -> String {
    let name = if prefix == "sm_" { arch.trim_end_matches(|c: char| c.is_ascii_alphabetic()) } else { arch };
    let end = name.len().saturating_sub(places).max(prefix.len());
    name.get(..end).unwrap_or(name).to_string()
}

#[cfg(test)]
mod tests {
    use super::generation_of;

    #[test]
    fn targets_are_grouped_as_people_do() {
        for (target, generation) in [
            ("amdgcn:gfx90a:xnack+", "gfx9"),
            ("amdgcn:gfx1101", "gfx11"),
            ("amdgcn:gfx11-generic", "gfx11"),
            ("cubin:sm_90a", "sm_9x"),
            ("cubin:sm_120", "sm_12x"),
            ("nvptx:sm_80", "PTX"),
            ("intel:acm-g10", "acm"),
            ("intel:pvc", "pvc"),
            ("spirv64", ""),
            ("no target", ""),
        ] {
            assert_eq!(generation_of(target), generation, "{target}");
        }
    }
}
