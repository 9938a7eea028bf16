//! Comparison of the kernels that the targets of a module have: one that `#if` takes away from some is no error, and a
//! program would miss it only when it launches.

use std::collections::{BTreeMap, BTreeSet};

use offload_format::pack::KernelInfo;

use crate::env::CargoEnv;
use crate::targets::WantedTarget;

/// The kernels of one target.
#[derive(Debug)]
pub(super) struct TargetKernels<'a> {
    pub(super) target: &'a WantedTarget,
    pub(super) kernels: Vec<KernelInfo>,
}

/// The kernels of all targets, each once, and a warning for those that some targets lack.
pub(super) fn merged(env: &CargoEnv, module: &str, lists: Vec<TargetKernels<'_>>) -> Vec<KernelInfo> {
    for line in differences(&lists) {
        env.warn(&format!("`{module}`: {line}"));
    }
    let mut known = BTreeSet::new();
    let mut merged: Vec<KernelInfo> = Vec::new();
    for kernel in lists.into_iter().flat_map(|list| list.kernels) {
        if known.insert(kernel.name.clone()) {
            merged.push(kernel);
        }
    }
    merged
}

/// A line for each set of targets that lack the same kernels.
fn differences(lists: &[TargetKernels<'_>]) -> Vec<String> {
    // By kernel, the positions of the targets that have it.
    let mut having: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (position, list) in lists.iter().enumerate() {
        for kernel in &list.kernels {
            having.entry(&kernel.name).or_default().insert(position);
        }
    }
    let mut lines: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    for (kernel, positions) in having {
        if positions.len() == lists.len() {
            continue;
        }
        let lacking = lists.iter().enumerate().filter(|(position, _)| !positions.contains(position));
        let targets = lacking.map(|(_, list)| format!("`{}`", list.target.target)).collect();
        lines.entry(targets).or_default().push(format!("`{kernel}`"));
    }
    let mut texts = Vec::new();
    for (targets, kernels) in lines {
        let what = if kernels.len() == 1 { "kernel" } else { "kernels" };
        let has = if targets.len() == 1 { "has" } else { "have" };
        let targets = targets.join(", ");
        texts.push(format!("{targets} {has} no {what} {}, which other targets have", kernels.join(", ")));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::Presence;

    #[test]
    fn kernels_of_some_targets_are_named_with_the_others() {
        let targets = ["nvptx:sm_80", "nvptx:sm_75", "amdgcn:gfx90a"]
            .map(|name| WantedTarget { target: name.parse().unwrap(), presence: Presence::Required });
        let names = [&["a", "b", "c"][..], &["a"], &["a", "c"]];
        let lists: Vec<TargetKernels<'_>> = targets
            .iter()
            .zip(names)
            .map(|(target, names)| TargetKernels {
                target,
                kernels: names.iter().map(|name| KernelInfo::new(*name)).collect(),
            })
            .collect();
        let mut lines = differences(&lists);
        lines.sort_unstable();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("`nvptx:sm_75` has no kernel `c`"), "{lines:?}");
        assert!(lines[1].starts_with("`nvptx:sm_75`, `amdgcn:gfx90a` have no kernel `b`"), "{lines:?}");
        assert!(differences(&lists[..1]).is_empty());
    }
}
