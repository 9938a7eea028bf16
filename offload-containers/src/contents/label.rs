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
        let target = bundle::BundleId::parse(id).and_then(|id| match id.triple.split('-').next() {
            Some("amdgcn") => format!("amdgcn:{}", id.target_id?).parse().ok(),
            Some("spirv64") => spirv(id.triple),
            _ => None,
        });
        Label { words: id.to_string(), target }
    }

    /// A section of an object that clang-offload-bundler wrote: its name ends with the id.
    pub(super) fn of_section(name: &[u8]) -> Label {
        let id = name.strip_prefix(&bundle::MAGIC).and_then(|id| std::str::from_utf8(id).ok());
        id.map(Label::of_bundle).unwrap_or_default()
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
            "spir64" | "spirv64" => spirv(triple),
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

    /// Adds what the image itself says where its container says nothing; `start` are its first bytes at least. A cubin
    /// does not always record the suffix of its architecture, which the container's words may have.
    pub(super) fn completed(self, format: Option<FileKind>, start: &[u8]) -> Label {
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

    /// The target for the architecture that the image tells, with the suffix that the words tell.
    fn nvidia(&self, family: &str, told: &str) -> Option<Target> {
        let named = self.words.rsplit([' ', '-']).next().unwrap_or_default();
        let is_named = named.strip_prefix(told).is_some_and(|suffix| matches!(suffix, "a" | "f"));
        format!("{family}:{}", if is_named { named } else { told }).parse().ok()
    }
}

/// HIP's SPIR-V is not OpenCL's: `spirv64-amd-amdhsa`.
fn spirv(triple: &str) -> Option<Target> {
    let is_amd = triple.split('-').any(|part| part == "amdhsa");
    if is_amd { "amdgcnspirv" } else { "spirv64" }.parse().ok()
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
