//! All targets: the named sets, and the targets that no set contains.

use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

/// Entries for `OFFLOAD_TARGETS`.
pub(super) fn all(workspace: &Workspace) -> Result<Vec<String>> {
    let sets = ["portable", "all-intel", "all-nvidia", "all-amd"].map(str::to_string);
    let spirv = (0..=6).map(|minor| format!("spirv64:v1.{minor}"));
    let host: &[&str] = match std::env::consts::ARCH {
        "x86_64" => &["host:x86-64-v2", "host:x86-64-v3", "host:x86-64-v4"],
        "aarch64" => &["host:armv8.2-a", "host:armv8.2-a+sve"],
        _ => &[],
    };
    let features = ["amdgcn:gfx90a:sramecc+:xnack-", "amdgcn:gfx90a:xnack+", "amdgcn:gfx942:sramecc+:xnack+"];
    let accelerated = ["cubin:sm_90a", "cubin:sm_100a", "nvptx:sm_90a"];
    // Every version of PTX that differs.
    let ptx = [60, 70, 75, 80, 86, 87, 89, 90, 100, 103, 120, 121].map(|sm| format!("nvptx:sm_{sm}"));
    let fixed = host.iter().chain(&features).chain(&accelerated).map(|name| name.to_string());
    Ok(sets.into_iter().chain(spirv).chain(fixed).chain(ptx).chain(intel_groups(workspace)?).collect())
}

/// Families and releases that the installed ocloc lists, and a range.
fn intel_groups(workspace: &Workspace) -> Result<Vec<String>> {
    let help = workspace.shell.cmd("ocloc").args(["compile", "--help"]).quiet();
    // It shows its help and exits with an error.
    let help = help.ignore_status().ignore_stderr().read()?;
    let words: Vec<&str> = help.split([',', ' ', '\n']).collect();
    let groups =
        ["gen9", "gen11", "gen12lp", "xe-hpg", "xe-hpc"].into_iter().filter(|name| words.contains(name));
    let ranges = ["dg1:acm-g10", "12.60.7"];
    Ok(groups.chain(ranges).map(|name| format!("intel:{name}")).collect())
}

/// The first part of a target's name.
pub(super) fn family(target: &str) -> &'static str {
    let families = ["host", "spirv64", "intel", "nvptx", "cubin", "amdgcn", "opencl-c"];
    families.into_iter().find(|family| target.starts_with(family)).unwrap_or("other")
}
