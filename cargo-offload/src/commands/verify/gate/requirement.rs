//! Requirements of `--require` and `--device`, and the images that meet them.

use std::collections::{BTreeMap, BTreeSet};

use offload_format::{AmdArch, SmArch, Target};
use offload_rt::Entry;
use serde::Serialize;

use super::known_devices::{self, KnownDevice};
use super::modes;
use crate::cli;
use crate::error::{Error, Result};
use crate::print::output::Output;
use crate::print::text::escaped;
use crate::settings::offload_toml::Required;
use crate::settings::target_filter::TargetFilter;

/// All that is demanded, by module.
pub(super) struct Requirements {
    all: Vec<Requirement>,
    /// In place of that, of modules with these names.
    of_modules: BTreeMap<String, Vec<Requirement>>,
}

/// One thing that has to be there.
pub(super) struct Requirement {
    /// For people.
    pub(super) text: String,
    pub(super) wanted: ImageRequirement,
}

#[derive(Clone)]
pub(super) enum ImageRequirement {
    /// Native code that this device takes.
    Native(KnownDevice),
    /// PTX that devices after this one take too.
    Ptx(PtxRange),
    /// An image for a target.
    Target(TargetFilter),
    /// A code object for a processor by its name, in these modes.
    CodeObject(CodeObject),
    /// Anything that this device takes.
    Any(KnownDevice),
}

/// `amdgcn:gfx90a`, which is that target, or code objects for all its modes.
#[derive(Clone)]
pub(super) struct CodeObject {
    /// Architecture that the word names.
    named: AmdArch,
    /// The modes that the images have to be for, one demand after another.
    setting: AmdArch,
}

/// A part of a demand: for the modes that a target ID leaves open there may be an image each.
pub(super) struct RequirementMode {
    /// The modes, as `gfx90a:xnack+`; nothing where the demand is one.
    pub(super) setting: Option<String>,
    pub(super) wanted: ImageRequirement,
}

/// For which architectures PTX may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PtxRange {
    least: u16,
    most: u16,
}

impl Requirements {
    pub(super) fn parse(gate: &cli::Gate) -> Result<Requirements> {
        let mut all =
            gate.require.iter().map(|word| Requirement::required(word)).collect::<Result<Vec<_>>>()?;
        for name in &gate.device {
            let device = known_devices::find(name, gate.driver.as_deref())?;
            all.push(Requirement {
                text: device.description.to_string(),
                wanted: ImageRequirement::Any(device),
            });
        }
        Ok(Requirements { all, of_modules: BTreeMap::new() })
    }

    /// Those of a configuration file.
    pub(super) fn parse_config(required: &Required) -> Result<Requirements> {
        let parse =
            |words: &Vec<String>| words.iter().map(|word| Requirement::required(word)).collect::<Result<_>>();
        let of_modules = required
            .of_modules
            .iter()
            .map(|(name, words)| Ok((name.clone(), parse(words)?)))
            .collect::<Result<_>>()?;
        Ok(Requirements { all: parse(&required.all)?, of_modules })
    }

    /// The same with those of a configuration file.
    pub(super) fn with(mut self, required: &Required) -> Result<Requirements> {
        let Requirements { all, of_modules } = Requirements::parse_config(required)?;
        self.all.extend(all);
        self.of_modules.extend(of_modules);
        Ok(self)
    }

    /// The requirements on `module`.
    pub(super) fn for_module(&self, module: &str) -> &[Requirement] {
        self.of_modules.get(module).unwrap_or(&self.all)
    }

    /// Says what was assumed of devices.
    pub(super) fn print_notes(&self, output: &Output) -> Result<()> {
        #[derive(Serialize)]
        struct Note<'n> {
            reason: &'static str,
            note: &'n str,
        }
        let mut notes = BTreeSet::new();
        for requirement in &self.all {
            if let ImageRequirement::Any(device) = &requirement.wanted {
                notes.extend(device.note.as_deref());
            }
        }
        for note in notes {
            output.done(&Note { reason: "note", note }, &format!("note: {}", escaped(note)))?;
        }
        Ok(())
    }

    /// Each demand once, in the order given.
    pub(super) fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> = Vec::new();
        for demand in self.all.iter().chain(self.of_modules.values().flatten()) {
            if !texts.contains(&demand.text.as_str()) {
                texts.push(&demand.text);
            }
        }
        texts
    }
}

impl Requirement {
    /// A word of `--require`.
    pub(super) fn required(word: &str) -> Result<Requirement> {
        let wanted = match word.strip_prefix("ptx") {
            Some(range) => ImageRequirement::Ptx(PtxRange::parse(range).ok_or_else(|| no_range(word))?),
            None => ImageRequirement::parse(word)?,
        };
        Ok(Requirement { text: word.to_string(), wanted })
    }

    /// All that `images` have to be, together.
    pub(super) fn parts(&self, images: &[&Entry]) -> Vec<RequirementMode> {
        match &self.wanted {
            ImageRequirement::Native(device) => device_modes(device, images, ImageRequirement::Native),
            ImageRequirement::Any(device) => device_modes(device, images, ImageRequirement::Any),
            ImageRequirement::CodeObject(CodeObject { named, .. }) => {
                let narrow: Vec<&Entry> =
                    images.iter().copied().filter(|image| modes::narrows(image, named)).collect();
                modes::settings(named, &narrow)
                    .into_iter()
                    .map(|setting| RequirementMode {
                        setting: (setting != *named).then(|| setting.to_string()),
                        wanted: ImageRequirement::CodeObject(CodeObject { named: named.clone(), setting }),
                    })
                    .collect()
            }
            ImageRequirement::Ptx(_) | ImageRequirement::Target(_) => {
                vec![RequirementMode { setting: None, wanted: self.wanted.clone() }]
            }
        }
    }

    /// The target for `cargo offload targets add` that meets it.
    pub(super) fn target(&self) -> Option<String> {
        match &self.wanted {
            ImageRequirement::Native(_) => native_target(&self.text).map(|target| target.to_string()),
            ImageRequirement::Ptx(range) => {
                Some(format!("nvptx:sm_{}", range.least.max(LEAST_PTX).min(range.most)))
            }
            ImageRequirement::Target(filter) => {
                Some(filter.given().to_string()).filter(|given| !given.contains('*'))
            }
            ImageRequirement::CodeObject(CodeObject { named, .. }) => Some(format!("amdgcn:{named}")),
            ImageRequirement::Any(_) => None,
        }
    }
}

/// Default architecture for PTX.
const LEAST_PTX: u16 = 75;

impl ImageRequirement {
    /// Whether `image` is what is wanted; an error says why not, where that is more than its target.
    pub(super) fn judge(&self, image: &Entry) -> std::result::Result<(), Option<String>> {
        match self {
            ImageRequirement::Target(filter) => met_if(filter.matches(image.target_text())),
            ImageRequirement::CodeObject(CodeObject { named, setting }) => {
                met_if(modes::narrows(image, named) && modes::serves(image, setting))
            }
            ImageRequirement::Ptx(range) => match image.target() {
                Ok(Target::Nvptx(sm)) => met_if(range.has(&sm)),
                _ => Err(None),
            },
            ImageRequirement::Native(device) => match image.target() {
                Ok(Target::Cubin(_) | Target::Amdgcn(_) | Target::Intel(_)) => {
                    met_if(device.description.takes(image).is_ok())
                }
                _ => Err(None),
            },
            ImageRequirement::Any(device) => {
                device.description.takes(image).map_err(|refusal| Some(refusal.to_string()))
            }
        }
    }

    fn parse(word: &str) -> Result<ImageRequirement> {
        let native =
            native_target(word).filter(|_| !word.starts_with("cubin:") && !word.starts_with("amdgcn:"));
        match native.as_ref().and_then(known_devices::find_by_target) {
            Some(device) => Ok(ImageRequirement::Native(device)),
            // Also of a later version or a level.
            None if ["host", "spirv64"].contains(&word) => Ok(ImageRequirement::Target(
                TargetFilter::any_of(word, [word.to_string(), format!("{word}:*")]),
            )),
            None => {
                let target = native.map_or_else(|| word.to_string(), |target| target.to_string());
                if let Ok(Target::Amdgcn(named)) = target.parse() {
                    return Ok(ImageRequirement::CodeObject(CodeObject { setting: named.clone(), named }));
                }
                TargetFilter::parse(&target).map(ImageRequirement::Target).map_err(|error| {
                    error.hint("write `sm_90`, `gfx90a`, `pvc`, `ptx>=sm_90`, or a target as `cubin:sm_90`")
                })
            }
        }
    }
}

/// The target for native code that `word` names without its family: `sm_90`, `gfx90a`, `pvc`.
fn native_target(word: &str) -> Option<Target> {
    let families = [("sm_", "cubin:"), ("gfx", "amdgcn:"), ("", "intel:"), ("", "")];
    let mut targets = families.iter().filter(|(start, _)| word.starts_with(start));
    let target = targets.find_map(|(_, family)| format!("{family}{word}").parse().ok());
    target.filter(|target| matches!(target, Target::Cubin(_) | Target::Amdgcn(_) | Target::Intel(_)))
}

impl PtxRange {
    /// Parses the text after `ptx`: nothing, `>=sm_90` or `<=sm_80`.
    fn parse(text: &str) -> Option<PtxRange> {
        if let Some(least) = text.strip_prefix(">=") {
            return Some(PtxRange { least: plain_sm(least)?, most: u16::MAX });
        }
        if let Some(most) = text.strip_prefix("<=") {
            return Some(PtxRange { least: 0, most: plain_sm(most)? });
        }
        text.is_empty().then_some(PtxRange { least: 0, most: u16::MAX })
    }

    /// PTX for one architecture or family alone is no promise for later ones.
    fn has(self, sm: &SmArch) -> bool {
        sm.suffix().is_none() && (self.least..=self.most).contains(&sm.number())
    }
}

fn no_range(word: &str) -> Error {
    Error::usage(format!("`{}` is not a requirement on PTX", word.escape_debug()))
        .hint("`ptx`, `ptx>=sm_90`, `ptx<=sm_80`, or `nvptx:sm_90` for exactly this one")
}

/// The number of an architecture without a suffix: 90 of `sm_90`.
fn plain_sm(text: &str) -> Option<u16> {
    match format!("nvptx:{text}").parse() {
        Ok(Target::Nvptx(sm)) if sm.suffix().is_none() => Some(sm.number()),
        _ => None,
    }
}

/// The requirement on a device, once for each mode that its target ID leaves open.
fn device_modes(
    device: &KnownDevice,
    images: &[&Entry],
    wanted: fn(KnownDevice) -> ImageRequirement,
) -> Vec<RequirementMode> {
    let mut modes = Vec::new();
    for (setting, device) in device.settings(images) {
        modes.push(RequirementMode { setting, wanted: wanted(device) });
    }
    modes
}

fn met_if(is_met: bool) -> std::result::Result<(), Option<String>> {
    if is_met { Ok(()) } else { Err(None) }
}

#[cfg(test)]
mod tests {
    use offload_format::codec::{self, Codec};
    use offload_format::pack::{NewImage, PackBuilder};
    use offload_rt::Registry;

    use super::*;

    fn meets(word: &str, target: &str) -> bool {
        meets_all(word, &registry(&[target]))
    }

    /// Whether each part of the demand has an image.
    fn meets_all(word: &str, registry: &Registry) -> bool {
        let images: Vec<&Entry> = registry.entries().iter().collect();
        let parts = Requirement::required(word).unwrap().parts(&images);
        parts.iter().all(|part| images.iter().any(|image| part.wanted.judge(image).is_ok()))
    }

    /// A registry of empty images for these targets.
    fn registry(targets: &[&str]) -> Registry {
        let frame = codec::encode(b"", Codec::Raw, 0).unwrap();
        let mut builder = PackBuilder::new("", "");
        for target in targets {
            builder.image(NewImage::new("m", target.parse().unwrap()), frame.info()).unwrap();
        }
        Registry::from_pack(builder.finish().unwrap().index)
    }

    #[test]
    fn images_for_all_modes_are_one_for_any() {
        let both = ["amdgcn:gfx90a:xnack+", "amdgcn:gfx90a:xnack-"];
        let ecc = ["amdgcn:gfx908:sramecc+", "amdgcn:gfx908:sramecc-"];
        let four = [
            "amdgcn:gfx90a:sramecc+:xnack+",
            "amdgcn:gfx90a:sramecc+:xnack-",
            "amdgcn:gfx90a:sramecc-:xnack+",
            "amdgcn:gfx90a:sramecc-:xnack-",
        ];
        for (word, targets, meets) in [
            ("gfx90a", &both[..], true),
            ("gfx90a", &both[..1], false),
            ("gfx90a", &both[1..], false),
            ("gfx90a:xnack+", &both, true),
            ("gfx90a:sramecc+", &both, true),
            ("amdgcn:gfx90a", &both, true),
            ("amdgcn:gfx90a", &both[1..], false),
            ("gfx908", &ecc, true),
            ("gfx908:xnack-", &ecc, true),
            ("gfx908", &ecc[..1], false),
            ("gfx90a", &four, true),
            ("gfx90a", &four[..3], false),
            ("gfx90a", &four[1..], false),
            ("gfx90a:xnack-", &four, true),
            ("amdgcn:gfx90a", &four, true),
            ("amdgcn:gfx90a:xnack+", &four, true),
            ("amdgcn:gfx90a:xnack+", &four[1..], false),
            ("gfx90a", &["amdgcn:gfx90a:xnack+", "amdgcn:gfx90a"], true),
            ("gfx942", &both, false),
        ] {
            assert_eq!(meets_all(word, &registry(targets)), meets, "{word} {targets:?}");
        }
    }

    #[test]
    fn words_mean_images() {
        for (word, meant, not_meant) in [
            // A cubin runs on later minor versions of its architecture, not on earlier ones.
            ("sm_90", "cubin:sm_90", "nvptx:sm_90"),
            ("sm_86", "cubin:sm_80", "cubin:sm_89"),
            ("sm_90a", "cubin:sm_90a", "cubin:sm_90"),
            ("cubin:sm_86", "cubin:sm_86", "cubin:sm_80"),
            ("ptx", "nvptx:sm_50", "nvptx:sm_90a"),
            ("ptx>=sm_90", "nvptx:sm_100", "nvptx:sm_80"),
            ("ptx<=sm_80", "nvptx:sm_75", "nvptx:sm_90"),
            ("nvptx:sm_90", "nvptx:sm_90", "nvptx:sm_100"),
            ("gfx90a", "amdgcn:gfx90a", "amdgcn:gfx942"),
            ("gfx1100", "amdgcn:gfx11-generic", "amdgcn:gfx12-generic"),
            ("gfx90a:xnack-", "amdgcn:gfx90a:xnack-", "amdgcn:gfx90a:xnack+"),
            ("gfx11-generic", "amdgcn:gfx11-generic", "amdgcn:gfx1100"),
            ("amdgcn:gfx1100", "amdgcn:gfx1100", "amdgcn:gfx11-generic"),
            ("pvc", "intel:xe-hpc", "spirv64"),
            ("intel:pvc", "intel:pvc", "intel:acm-g10"),
            ("intel:acm-g11", "intel:acm-g10", "intel:pvc"),
            ("spirv64", "spirv64:v1.4", "opencl-c"),
            ("amdgcnspirv", "amdgcnspirv", "spirv64"),
            ("spirv64", "spirv64", "amdgcnspirv"),
            ("sm_100f", "cubin:sm_100f", "cubin:sm_100"),
            ("host", "host:x86-64-v3", "spirv64"),
            ("host:x86-64-v3", "host:x86-64-v3", "host"),
            ("intel:*", "intel:dg1", "cubin:sm_90"),
            ("all-amd", "amdgcn:gfx1201", "intel:dg1"),
        ] {
            assert!(meets(word, meant), "{word} {meant}");
            assert!(!meets(word, not_meant), "{word} {not_meant}");
        }
    }

    #[test]
    fn words_that_mean_nothing_are_refused() {
        for word in ["ptx>sm_90", "ptx>=sm_90a", "ptx=", "sm90", "gfx", "mi300", ""] {
            let Err(error) = Requirement::required(word) else { panic!("{word}") };
            assert!(error.to_string().contains("hint: "), "{word}: {error}");
        }
    }

    #[test]
    fn what_is_missing_has_a_target_to_be_added() {
        for (word, target) in [
            ("sm_90", Some("cubin:sm_90")),
            ("gfx90a", Some("amdgcn:gfx90a")),
            ("pvc", Some("intel:pvc")),
            ("ptx>=sm_90", Some("nvptx:sm_90")),
            ("ptx<=sm_70", Some("nvptx:sm_70")),
            ("ptx", Some("nvptx:sm_75")),
            ("spirv64", Some("spirv64")),
            ("intel:*", None),
        ] {
            assert_eq!(Requirement::required(word).unwrap().target().as_deref(), target, "{word}");
        }
    }
}
