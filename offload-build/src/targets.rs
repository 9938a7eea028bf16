//! Resolution of a list of targets; sets and device IDs are resolved by the tools of this machine.

use std::collections::BTreeSet;
use std::path::Path;

use offload_format::{AmdArch, IntelArch, SmArch, Target, TargetSet};

use crate::error::{Error, Result};
use crate::fs;
use crate::settings::Value;
use crate::toolchain::Tools;

/// An entry of the list of targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedTarget {
    pub(crate) name: TargetName,
    pub(crate) presence: Presence,
}

/// What an entry names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TargetName {
    Target(Target),
    Set(TargetSet),
}

/// A target, after sets have been resolved.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WantedTarget {
    pub(crate) target: Target,
    pub(crate) presence: Presence,
}

/// Whether a build without the target is a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Presence {
    Required,
    Optional,
}

/// The targets of `named`, sorted, each once. What is required anywhere is required.
pub(crate) fn expand(tools: &Tools<'_>, named: &[NamedTarget]) -> Result<Vec<WantedTarget>> {
    let mut all = Vec::new();
    for NamedTarget { name, presence } in named {
        let targets = match name {
            TargetName::Target(Target::Intel(arch)) => vec![Target::Intel(by_ip_version(tools, arch)?)],
            TargetName::Target(target) => vec![target.clone()],
            TargetName::Set(set) => {
                expand_set(tools, *set).map_err(|error| error.context(format!("targets `{set}`")))?
            }
        };
        all.extend(targets.into_iter().map(|target| WantedTarget { target, presence: *presence }));
    }
    all.sort();
    all.dedup_by(|b, a| a.target == b.target);
    Ok(all)
}

impl NamedTarget {
    /// `"intel:pvc"` or `{ name = "intel:pvc", optional = true }`.
    pub(crate) fn read(value: Value<'_>) -> Result<NamedTarget> {
        if let Some(text) = value.as_str() {
            return value.read(|_| required_target(text));
        }
        let name = value.get("name").and_then(Value::as_str).ok_or_else(|| {
            let error = Error::new(format!("`{value}` is not a target"));
            value.refuse(error.with_hint("write \"intel:pvc\" or { name = \"intel:pvc\", optional = true }"))
        })?;
        let optional = value.get("optional").and_then(Value::as_bool).unwrap_or(false);
        let presence = if optional { Presence::Optional } else { Presence::Required };
        Ok(NamedTarget { presence, ..value.read(|_| required_target(name))? })
    }
}

pub(crate) fn required_target(text: &str) -> Result<NamedTarget> {
    // Sets are few: an error looks for what was meant among all names, which takes its time.
    let name = match TargetSet::ALL.into_iter().find(|set| set.name() == text) {
        Some(set) => TargetName::Set(set),
        None => TargetName::Target(
            text.parse().map_err(|error: offload_format::UnknownTarget| Error::new(error.to_string()))?,
        ),
    };
    Ok(NamedTarget { name, presence: Presence::Required })
}

/// The targets of `set` where every tool and every device is there.
///
/// # Errors
/// If this release does not know the set.
pub fn members(set: TargetSet) -> std::result::Result<Vec<Target>, Error> {
    Ok(match set {
        TargetSet::Portable => return ["host", "spirv64", "opencl-c"].into_iter().map(target).collect(),
        TargetSet::AllIntel => IntelArch::devices().map(Target::Intel).collect(),
        TargetSet::AllNvidia => {
            let plain: Vec<SmArch> = SmArch::known().filter(|sm| sm.suffix().is_none()).collect();
            plain.iter().cloned().map(Target::Nvptx).chain(plain.iter().cloned().map(Target::Cubin)).collect()
        }
        TargetSet::AllAmd => AmdArch::known().map(Target::Amdgcn).collect(),
        // Which devices there are is only known where they are looked for.
        TargetSet::Native => vec![target("host")?],
        other => return Err(Error::new(format!("this release does not know the set `{other}`"))),
    })
}

/// The target of this name.
pub(crate) fn target(text: &str) -> Result<Target> {
    text.parse().map_err(|error: offload_format::UnknownTarget| Error::new(error.to_string()))
}

fn expand_set(tools: &Tools<'_>, set: TargetSet) -> Result<Vec<Target>> {
    let possible = members(set)?;
    match set {
        TargetSet::AllIntel => known_to_ocloc(tools, possible),
        TargetSet::AllNvidia => known_to_ptxas(tools, possible),
        TargetSet::AllAmd => known_to_clang(tools, possible),
        TargetSet::Native => Ok(possible.into_iter().chain(devices(tools)?).collect()),
        _ => Ok(possible),
    }
}

fn known_to_ocloc(tools: &Tools<'_>, possible: Vec<Target>) -> Result<Vec<Target>> {
    let ocloc = tools.ocloc()?;
    let known = words(&tools.help(&ocloc.path, &["compile", "--help"])?);
    Ok(possible
        .into_iter()
        .filter(|target| matches!(target, Target::Intel(arch) if known.contains(arch.name())))
        .collect())
}

/// PTX for the oldest architecture alone: drivers compile it for every later one.
fn known_to_ptxas(tools: &Tools<'_>, possible: Vec<Target>) -> Result<Vec<Target>> {
    let ptxas = tools.ptxas()?;
    let known = words(&tools.help(&ptxas.path, &["--help"])?);
    let llvm = tools.llvm()?;
    let (ptx, cubins): (Vec<Target>, Vec<Target>) = possible
        .into_iter()
        .filter(|target| match target {
            Target::Nvptx(sm) | Target::Cubin(sm) => {
                known.contains(&sm.to_string()) && llvm.compiles_for(target).is_ok()
            }
            _ => false,
        })
        .partition(|target| matches!(target, Target::Nvptx(_)));
    Ok(ptx.into_iter().take(1).chain(cubins).collect())
}

fn known_to_clang(tools: &Tools<'_>, mut possible: Vec<Target>) -> Result<Vec<Target>> {
    let llvm = tools.llvm()?;
    let listed = tools.help(&llvm.clang.path, &["--target=amdgcn-amd-amdhsa", "--print-supported-cpus"])?;
    let known = words(&listed);
    possible.retain(|target| matches!(target, Target::Amdgcn(arch) if known.contains(arch.processor())));
    Ok(possible)
}

/// The devices that this machine's kernel and drivers tell of.
fn devices(tools: &Tools<'_>) -> Result<Vec<Target>> {
    let mut targets = Vec::new();
    for id in intel_device_ids(Path::new("/sys/class/drm")) {
        let arch = target(&format!("intel:{id}"))?;
        if let Target::Intel(arch) = arch {
            targets.push(Target::Intel(by_ip_version(tools, &arch)?));
        }
    }
    for processor in amd_processors(Path::new("/sys/class/kfd/kfd/topology/nodes")) {
        targets.push(target(&format!("amdgcn:{processor}"))?);
    }
    for capability in tools.nvidia_capabilities() {
        targets.push(target(&format!("cubin:sm_{capability}"))?);
    }
    Ok(targets)
}

/// Programs select by IP version: a device ID is looked up.
fn by_ip_version(tools: &Tools<'_>, arch: &IntelArch) -> Result<IntelArch> {
    if !arch.name().starts_with("0x") {
        return Ok(arch.clone());
    }
    let ocloc = tools.ocloc()?;
    let printed = tools.help(&ocloc.path, &["ids", arch.name()])?;
    let found = printed.split_whitespace().find_map(|word| match target(&format!("intel:{word}")) {
        Ok(Target::Intel(arch)) if arch.ip_version().is_some() => Some(arch),
        _ => None,
    });
    found.ok_or_else(|| {
        Error::new(format!("ocloc does not know the device `{arch}`")).with_hint("write its name")
    })
}

/// The words of a tool's help, without punctuation.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    words.extend(
        text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '\'' | '(' | ')' | ';'))
            .filter(|word| !word.is_empty())
            .map(str::to_string),
    );
    words
}

/// <https://docs.kernel.org/gpu/drm-uapi.html>: each node's PCI device.
fn intel_device_ids(class: &Path) -> BTreeSet<String> {
    let nodes = fs::list(class).unwrap_or_default();
    let mut ids = BTreeSet::new();
    for node in nodes {
        let device = node.join("device");
        let [vendor, id] =
            ["vendor", "device"].map(|name| fs::read_text(&device.join(name)).unwrap_or_default());
        if vendor.trim() == "0x8086" && !id.trim().is_empty() {
            ids.insert(id.trim().to_string());
        }
    }
    ids
}

/// The nodes of <https://docs.kernel.org/gpu/amdgpu/> with a `gfx_target_version`, as 90010 for gfx90a.
fn amd_processors(nodes: &Path) -> BTreeSet<String> {
    let nodes = fs::list(nodes).unwrap_or_default();
    let texts = nodes.iter().filter_map(|node| fs::read_text(&node.join("properties")).ok());
    let mut processors = BTreeSet::new();
    processors.extend(texts.filter_map(|text| processor(&text)));
    processors
}

fn processor(properties: &str) -> Option<String> {
    let line = properties.lines().find_map(|line| line.strip_prefix("gfx_target_version "))?;
    let version: u32 = line.trim().parse().ok().filter(|version| *version != 0)?;
    let major = version / 10000;
    let rest = version % 10000;
    Some(format!("gfx{major}{:x}{:x}", rest / 100, rest % 100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_have_their_names() {
        for (version, name) in [(90010, Some("gfx90a")), (110001, Some("gfx1101")), (0, None)] {
            let properties = format!("simd_count 4\ngfx_target_version {version}\n");
            assert_eq!(processor(&properties).as_deref(), name);
        }
    }

    #[test]
    fn devices_of_this_machine_come_from_the_kernel() {
        let dir = tempfile::tempdir().unwrap();
        for (node, vendor, device) in
            [("renderD128", "0x8086\n", "0x56a0\n"), ("renderD129", "0x10de\n", "0x2330\n")]
        {
            let path = dir.path().join(node).join("device");
            std::fs::create_dir_all(&path).unwrap();
            std::fs::write(path.join("vendor"), vendor).unwrap();
            std::fs::write(path.join("device"), device).unwrap();
        }
        assert_eq!(intel_device_ids(dir.path()).into_iter().collect::<Vec<_>>(), ["0x56a0"]);
    }

    #[test]
    fn help_is_read_word_by_word() {
        let known = words("<device_type> can be: bdw, pvc-sdv, pvc, 'sm_90','sm_90a'");
        assert!(known.contains("pvc") && known.contains("sm_90a") && !known.contains("sm_9"));
    }
}
