//! Conversion of the target spellings of containers to this project's targets.

use crate::bundle;
use crate::carrier::FileKind;
use crate::ocloc::{Device, Member, MemberKind};
use offload_format::{IntelArch, Target};
use offload_images::ptx::Ptx;
use offload_images::{code_object, cubin};

/// The target of an image.
#[derive(Clone, Debug, Default)]
pub(super) struct Label {
    /// The spelling of the container.
    pub(super) words: String,
    pub(super) target: Option<Target>,
}

impl Label {
    /// From the id of a bundle entry.
    pub(super) fn from_bundle_id(id: &str) -> Label {
        let target = bundle::BundleId::parse(id).and_then(|id| match id.triple.split('-').next() {
            Some("amdgcn") => format!("amdgcn:{}", id.target_id?).parse().ok(),
            Some("spirv64") => spirv(id.triple),
            _ => None,
        });
        Label { words: id.to_string(), target }
    }

    /// From the name of a section that clang-offload-bundler wrote, which ends with the id.
    pub(super) fn from_section(name: &[u8]) -> Label {
        let id = name.strip_prefix(&bundle::MAGIC).and_then(|id| std::str::from_utf8(id).ok());
        id.map(Label::from_bundle_id).unwrap_or_default()
    }

    /// From an AMD target ID.
    pub(super) fn from_target_id(id: &str) -> Label {
        Label { words: id.to_string(), target: format!("amdgcn:{id}").parse().ok() }
    }

    /// From triple and architecture, as OffloadBinary, SYCLBIN and SYCL registration records have them. For NVIDIA, only the
    /// image distinguishes PTX and cubin.
    pub(super) fn from_words(words: &str) -> Label {
        let mut fields = words.split(' ');
        let triple = fields.next().unwrap_or_default();
        let arch = fields.next().unwrap_or_default();
        let target = match triple.split('-').next().unwrap_or_default() {
            "amdgcn" => format!("amdgcn:{arch}").parse().ok(),
            "spir64" | "spirv64" => spirv(triple),
            "spir64_gen" => intel(arch.strip_prefix("intel_gpu_").unwrap_or(arch)),
            _ => None,
        };
        Label { words: words.to_string(), target }
    }

    /// From the name of a member of an ocloc archive.
    pub(super) fn from_member(member: &Member<'_>) -> Label {
        let target = match member.kind() {
            MemberKind::Device(device) => by_version(device),
            MemberKind::Product { name, .. } => intel(name),
            MemberKind::GenericIr => "spirv64".parse().ok(),
            _ => None,
        };
        Label { words: member.name.to_string(), target }
    }

    /// Adds the target in the image if the container has none; `start` are at least the first bytes of the image. A cubin
    /// does not always record the suffix of its architecture, which the container may have.
    pub(super) fn or_from_image(self, format: Option<FileKind>, start: &[u8]) -> Label {
        if self.target.is_some() {
            return self;
        }
        let target = match format {
            Some(FileKind::SpirV) => "spirv64".parse().ok(),
            Some(FileKind::Ptx) => Ptx::parse(start).ok().and_then(|ptx| self.nvidia("nvptx", ptx.target())),
            Some(FileKind::Cubin) => {
                cubin::info(start).ok().and_then(|cubin| self.nvidia("cubin", &cubin.arch()))
            }
            Some(FileKind::AmdCodeObject) => {
                let object = code_object::info(start).ok();
                object.and_then(|object| format!("amdgcn:{}", object.target_id).parse().ok())
            }
            _ => None,
        };
        Label { target, ..self }
    }

    /// The target for the image's architecture, with the suffix that the container records.
    fn nvidia(&self, family: &str, arch: &str) -> Option<Target> {
        let label_arch = self.words.rsplit([' ', '-']).next().unwrap_or_default();
        let has_suffix = label_arch.strip_prefix(arch).is_some_and(|suffix| matches!(suffix, "a" | "f"));
        format!("{family}:{}", if has_suffix { label_arch } else { arch }).parse().ok()
    }
}

/// `spirv64-amd-amdhsa` is SPIR-V for HIP, other triples are SPIR-V for OpenCL.
fn spirv(triple: &str) -> Option<Target> {
    let is_amd = triple.split('-').any(|part| part == "amdhsa");
    if is_amd { "amdgcnspirv" } else { "spirv64" }.parse().ok()
}

/// The target by ocloc's name, which is more familiar, or else by the version.
fn by_version(device: Device) -> Option<Target> {
    let version = [device.major, device.minor, device.revision].map(u32::from);
    let named = IntelArch::devices().find(|arch| arch.ip_version() == Some(version));
    match named {
        Some(arch) => Some(Target::Intel(arch)),
        None => intel(&version.map(|number| number.to_string()).join(".")),
    }
}

/// SYCL has underscores where ocloc has dashes or points.
fn intel(name: &str) -> Option<Target> {
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    for spelling in [name.to_string(), name.replace('_', "-"), name.replace('_', ".")] {
        if let Ok(target) = format!("intel:{spelling}").parse() {
            return Some(target);
        }
    }
    None
}
