//! The targets that have a name of their own, and lists of targets for people.

use offload_format::{AmdArch, HostLevel, IntelArch, SmArch, SpirvVersion, Target};

/// How many targets of a family the short form names.
const SHOWN: usize = 4;

/// Every target that has a name of its own.
pub(crate) fn targets() -> impl Iterator<Item = Target> {
    let levels = [HostLevel::Baseline, HostLevel::X86V2, HostLevel::X86V3, HostLevel::X86V4];
    let sm = || SmArch::known();
    (levels.into_iter().map(Target::Host))
        .chain((0..=6).filter_map(SpirvVersion::new).map(Target::Spirv64))
        .chain(IntelArch::devices().map(Target::Intel))
        .chain(sm().map(Target::Cubin))
        .chain(sm().map(Target::Nvptx))
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
        Ok(Target::Amdgcn(_)) => "amd",
        Ok(Target::OpenClC) => "source",
        _ => "other",
    }
}
