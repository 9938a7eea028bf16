//! From the words with which containers say for which machine an image is to this project's targets.

use crate::bundle;
use crate::carrier::FileKind;
use crate::ocloc::{Device, Member, MemberKind};
use offload_format::{IntelArch, Target};
use offload_images::ptx::Ptx;
use offload_images::{code_object, cubin};

/// For which machine an image is.
#[derive(Clone, Debug, Default)]
pub(super) struct Label {
    /// The file's own words.
    pub(super) words: String,
    pub(super) target: Option<Target>,
}

impl Label {
    /// The id of a bundle's entry.
    pub(super) fn of_bundle(id: &str) -> Label {
        let parsed = bundle::BundleId::parse(id);
        let processor = parsed.filter(|id| id.triple.starts_with("amdgcn")).and_then(|id| id.target_id);
        Label { words: id.to_string(), target: processor.and_then(|id| format!("amdgcn:{id}").parse().ok()) }
    }

    /// A processor of AMD's with its modes.
    pub(super) fn of_target_id(id: &str) -> Label {
        Label { words: id.to_string(), target: format!("amdgcn:{id}").parse().ok() }
    }

    /// Triple and architecture as OffloadBinary, SYCLBIN and SYCL's registration have them. Whether code for NVIDIA is
    /// PTX or a cubin the image tells.
    pub(super) fn of_words(words: &str) -> Label {
        let mut parts = words.split(' ');
        let (triple, arch) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let target = match triple.split('-').next().unwrap_or_default() {
            "amdgcn" => format!("amdgcn:{arch}").parse().ok(),
            "spir64" | "spirv64" => "spirv64".parse().ok(),
            "spir64_gen" => intel(arch.strip_prefix("intel_gpu_").unwrap_or(arch)),
            _ => None,
        };
        Label { words: words.to_string(), target }
    }

    /// The name of a member of ocloc's archive.
    pub(super) fn of_member(member: &Member<'_>) -> Label {
        let target = match member.kind() {
            MemberKind::Device(device) => by_version(device),
            MemberKind::Product { name, .. } => intel(name),
            MemberKind::GenericIr => "spirv64".parse().ok(),
            _ => None,
        };
        Label { words: member.name.to_string(), target }
    }

    /// Adds what the image itself says where its container says nothing; `start` are its first bytes at least.
    pub(super) fn completed(self, format: Option<FileKind>, start: &[u8]) -> Label {
        if self.target.is_some() {
            return self;
        }
        let target = match format {
            Some(FileKind::SpirV) => "spirv64".parse().ok(),
            Some(FileKind::Ptx) => {
                Ptx::parse(start).ok().and_then(|ptx| format!("nvptx:{}", ptx.target()).parse().ok())
            }
            Some(FileKind::Cubin) => {
                cubin::info(start).ok().and_then(|cubin| format!("cubin:{}", cubin.arch()).parse().ok())
            }
            Some(FileKind::AmdCodeObject) => {
                let object = code_object::info(start).ok();
                object.and_then(|object| format!("amdgcn:{}", object.target_id).parse().ok())
            }
            _ => None,
        };
        Label { target, ..self }
    }
}

/// ocloc's name where there is one: people know it better than the version.
fn by_version(device: Device) -> Option<Target> {
    let version = [device.major, device.minor, device.revision].map(u32::from);
    let named = IntelArch::devices().find(|arch| arch.ip_version() == Some(version));
    match named {
        Some(arch) => Some(Target::Intel(arch)),
        None => intel(&version.map(|number| number.to_string()).join(".")),
    }
}

/// SYCL writes underscores where ocloc has dashes or points.
fn intel(name: &str) -> Option<Target> {
    let known = |name: String| format!("intel:{name}").parse::<Target>().ok();
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    known(name.to_string())
        .or_else(|| known(name.replace('_', "-")))
        .or_else(|| known(name.replace('_', ".")))
}
