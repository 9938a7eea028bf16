//! Parsing of targets, with suggestions for unknown ones (feature `suggestions`).

use std::fmt;
use std::str::FromStr;

use super::{AmdArch, HostLevel, IntelArch, SmArch, SpirvVersion, Target, TargetSet};

/// The text is not a target; [`Display`](fmt::Display) names the nearest ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTarget {
    given: String,
    nearest: Vec<String>,
}

impl UnknownTarget {
    /// The most similar known targets, best first; none without the feature `suggestions`.
    pub fn nearest(&self) -> &[String] {
        &self.nearest
    }
}

impl fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown target `{}`\nhint: ", self.given.escape_default())?;
        match self.nearest.as_slice() {
            [] => f.write_str(
                "a target is one of host, spirv64, intel:NAME, nvptx:sm_NN, cubin:sm_NN, amdgcn:gfxNNN, opencl-c",
            ),
            names => write!(f, "the nearest names are {}", names.join(", ")),
        }
    }
}

impl std::error::Error for UnknownTarget {}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(text: &str) -> Result<Target, UnknownTarget> {
        parse(text).ok_or_else(|| UnknownTarget { given: text.to_string(), nearest: nearest(text) })
    }
}

impl FromStr for TargetSet {
    type Err = UnknownTarget;

    fn from_str(text: &str) -> Result<TargetSet, UnknownTarget> {
        let found = TargetSet::ALL.into_iter().find(|set| set.name() == text);
        found.ok_or_else(|| UnknownTarget { given: text.to_string(), nearest: nearest(text) })
    }
}

fn parse(text: &str) -> Option<Target> {
    let (family, rest) = match text.split_once(':') {
        Some((family, rest)) => (family, Some(rest)),
        None => (text, None),
    };
    Some(match (family, rest) {
        ("host", None) => Target::Host(HostLevel::Baseline),
        ("host", Some(level)) => Target::Host(HostLevel::parse(level)?),
        ("spirv64", None) => Target::Spirv64(SpirvVersion::default()),
        ("spirv64", Some(version)) => Target::Spirv64(SpirvVersion::parse(version)?),
        ("intel", Some(name)) => Target::Intel(IntelArch::parse(name)?),
        ("nvptx", Some(name)) => Target::Nvptx(SmArch::parse(name)?),
        ("cubin", Some(name)) => Target::Cubin(SmArch::parse(name)?),
        ("amdgcn", Some(name)) => Target::Amdgcn(AmdArch::parse(name)?),
        ("opencl-c", None) => Target::OpenClC,
        ("amdgcnspirv", None) => Target::AmdgcnSpirv,
        _ => return None,
    })
}

#[cfg(not(feature = "suggestions"))]
fn nearest(_text: &str) -> Vec<String> {
    Vec::new()
}

#[cfg(feature = "suggestions")]
fn nearest(text: &str) -> Vec<String> {
    let mut scored: Vec<(f64, String)> = known()
        .map(|name| {
            // For `pvc` or `intel-pvc`, compare with the architecture's own name too.
            let tail = name.split_once(':').map_or(name.as_str(), |(_, tail)| tail);
            let score = strsim::jaro_winkler(text, &name).max(strsim::jaro_winkler(text, tail));
            (score, name)
        })
        .filter(|(score, _)| *score > 0.75)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(feature = "suggestions")]
fn known() -> impl Iterator<Item = String> {
    let plain = ["host", "spirv64", "opencl-c"].into_iter().map(str::to_string);
    let host = HostLevel::ABOVE_BASELINE.into_iter().map(|level| format!("host:{level}"));
    let intel = IntelArch::known().map(|name| format!("intel:{name}"));
    let nv = SmArch::KNOWN.iter().flat_map(|sm| [format!("nvptx:sm_{sm}"), format!("cubin:sm_{sm}")]);
    let amd = AmdArch::KNOWN.iter().map(|name| format!("amdgcn:{name}"));
    let sets = TargetSet::ALL.iter().map(|set| set.name().to_string());
    plain.chain(host).chain(intel).chain(nv).chain(amd).chain(sets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_targets_round_trip() {
        for name in known().filter(|name| name.parse::<TargetSet>().is_err()) {
            assert_eq!(name.parse::<Target>().unwrap().to_string(), name);
        }
        for name in [
            "amdgcn:gfx90a:sramecc+:xnack-",
            "amdgcnspirv",
            "intel:12.60.7",
            "spirv64:v1.4",
            "host:x86-64-v3",
        ] {
            assert_eq!(name.parse::<Target>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn default_spirv_version_is_not_spelled() {
        assert_eq!("spirv64:v1.2".parse::<Target>().unwrap().to_string(), "spirv64");
    }

    #[test]
    fn typos_name_what_was_meant() {
        for (given, meant) in [
            ("intel:pcv", "intel:pvc"),
            ("pvc", "intel:pvc"),
            ("spirv", "spirv64"),
            ("opencl_c", "opencl-c"),
            ("cubin:sm90", "cubin:sm_90"),
            ("amdgcn:gfx-90a", "amdgcn:gfx90a"),
            ("all-nvida", "all-nvidia"),
        ] {
            let error = given.parse::<Target>().unwrap_err();
            assert!(error.nearest().iter().any(|name| name == meant), "{given}: {error}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            ":",
            "host:",
            "intel:",
            "amdgcn:gfx90a:xnack",
            "amdgcn:gfx90a:xnack+:xnack-",
            "nvptx:sm_",
            "a\nb",
        ] {
            assert!(text.parse::<Target>().is_err(), "{text:?}");
        }
        assert!(!"a\nb".parse::<Target>().unwrap_err().to_string().contains("a\nb"));
    }
}
