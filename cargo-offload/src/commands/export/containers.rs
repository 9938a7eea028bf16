//! Containers of other toolchains: the images that each accepts, and its writer.

use std::collections::BTreeSet;

use offload_containers::ocloc::OclocImage;
use offload_containers::offload_binary::{self, NewEntry, Version};
use offload_containers::{bundle, ccob, fatbin, ocloc};
use offload_format::codec::RELEASE_LEVEL;
use offload_format::{Arch, Limits, OffloadKind, Target};

use super::request::{ExportedFile, PackedImage, Request, named, only};
use crate::cli::{BundleVersion, ExportFormat};
use crate::error::{Error, Result};
use crate::print::text::escaped;

/// A container as the command line names it.
#[derive(Clone, Copy)]
pub(super) struct Container {
    /// With its article.
    name: &'static str,
    ending: &'static str,
    takes: fn(&Target) -> bool,
    write: fn(&[SelectedImage], BundleVersion) -> Result<Vec<u8>>,
}

/// A decoded image.
struct SelectedImage {
    target: Target,
    text: String,
    bytes: Vec<u8>,
}

impl Container {
    /// The container, for a format that is one.
    pub(super) fn for_format(format: ExportFormat) -> Option<Container> {
        Some(match format {
            ExportFormat::Bundle => {
                Container { name: "an offload bundle", ending: "hipfb", takes: is_amd, write: bundle }
            }
            ExportFormat::Ccob => {
                Container { name: "a compressed offload bundle", ending: "hipfb", takes: is_amd, write: ccob }
            }
            ExportFormat::Fatbin => Container {
                name: "a fatbin",
                ending: "fatbin",
                takes: |target| matches!(target, Target::Cubin(_) | Target::Nvptx(_)),
                write: fatbin,
            },
            ExportFormat::OclocAr => Container {
                name: "an ocloc archive",
                ending: "ar",
                takes: |target| matches!(target, Target::Intel(_) | Target::Spirv64(_)),
                write: ocloc,
            },
            ExportFormat::OffloadBinary => Container {
                name: "an OffloadBinary",
                ending: "offload",
                takes: |target| triple(target).is_some(),
                write: offload_binary,
            },
            ExportFormat::Syclbin | ExportFormat::Raw => return None,
        })
    }

    /// Writes the images of one module.
    pub(super) fn export(self, all: &[PackedImage<'_>], request: &Request<'_>) -> Result<ExportedFile> {
        let module = module(all, request)?;
        let chosen = self.chosen(all, module, request)?;
        Ok(ExportedFile {
            modules: vec![module.to_string()],
            targets: chosen.iter().map(|image| image.text.clone()).collect(),
            content: (self.write)(&chosen, request.args.bundle_version)?,
            ending: self.ending,
            hazards: Vec::new(),
        })
    }

    /// The images that are asked for, or all that the container takes, in the order of the pack.
    fn chosen(
        self,
        all: &[PackedImage<'_>],
        module: &str,
        request: &Request<'_>,
    ) -> Result<Vec<SelectedImage>> {
        for target in &request.args.target {
            only(all, &format!("image for `{target}`"), request, |packed| {
                packed.image.module == module && packed.image.target_text == target
            })?;
        }
        let mut seen = BTreeSet::new();
        let mut chosen = Vec::new();
        for packed in all.iter().filter(|packed| packed.image.module == module) {
            let text = packed.image.target_text;
            let asked = named(&request.args.target, text);
            if !request.args.target.is_empty() && !asked {
                continue;
            }
            match packed.image.target().ok().filter(|target| (self.takes)(target)) {
                Some(_) if !seen.insert(text) => return Err(self.twice(module, text)),
                Some(target) => {
                    let bytes = packed.source.decode(&packed.image)?;
                    chosen.push(SelectedImage { target, text: text.to_string(), bytes });
                }
                None if asked => {
                    return Err(Error::usage(format!(
                        "{} takes no image for `{}`",
                        self.name,
                        escaped(text)
                    )));
                }
                None => {}
            }
        }
        if chosen.is_empty() {
            let error = Error::usage(format!(
                "{} takes none of the images of module `{}`",
                self.name,
                escaped(module)
            ));
            let has = all.iter().filter(|packed| packed.image.module == module);
            let has: Vec<&str> = has.map(|packed| packed.image.target_text).collect();
            return Err(error.hint(format!("it has {}", escaped(&has.join(", ")))));
        }
        Ok(chosen)
    }

    fn twice(self, module: &str, target: &str) -> Error {
        let error = Error::usage(format!(
            "module `{}` has several images for `{}`",
            escaped(module),
            escaped(target)
        ));
        error.hint(format!("{} can hold one of them; export variants and parts with --format raw", self.name))
    }
}

/// The module that is named, or the only one.
fn module<'a>(all: &[PackedImage<'a>], request: &Request<'_>) -> Result<&'a str> {
    let there: BTreeSet<&str> = all.iter().map(|packed| packed.image.module).collect();
    let fitting: Vec<&str> = there
        .iter()
        .copied()
        .filter(|name| request.args.module.is_empty() || named(&request.args.module, name))
        .collect();
    let list = escaped(&there.iter().copied().collect::<Vec<_>>().join(", "));
    match fitting.as_slice() {
        [only] => Ok(only),
        [] => {
            let error = Error::usage(format!("`{}` has no such module", request.path.display()));
            Err(error.hint(format!("it has {list}")))
        }
        _ => Err(Error::usage("several modules match").hint(format!("choose one with --module: {list}"))),
    }
}

/// HIP's readers want an entry for the host first.
fn bundle(images: &[SelectedImage], _: BundleVersion) -> Result<Vec<u8>> {
    let ids: Vec<String> = images.iter().filter_map(|image| bundle_id(&image.target)).collect();
    let host = bundle::BundleId::HOST.to_string();
    let mut entries = vec![bundle::BundleImage { id: &host, bytes: b"" }];
    entries.extend(ids.iter().zip(images).map(|(id, image)| bundle::BundleImage { id, bytes: &image.bytes }));
    bundle::write(&entries, bundle::HIP_ALIGN).map_err(write_error)
}

fn bundle_id(target: &Target) -> Option<String> {
    let Some(Arch::Amd(arch)) = target.arch() else { return None };
    Some(bundle::BundleId::hip(&arch.to_string()).to_string())
}

fn ccob(images: &[SelectedImage], version: BundleVersion) -> Result<Vec<u8>> {
    let version = match version {
        BundleVersion::V2 => ccob::Version::V2,
        BundleVersion::V3 => ccob::Version::V3,
    };
    ccob::write(&bundle(images, BundleVersion::V2)?, version, RELEASE_LEVEL).map_err(write_error)
}

fn fatbin(images: &[SelectedImage], _: BundleVersion) -> Result<Vec<u8>> {
    let images: Vec<_> = (images.iter())
        .map(|image| fatbin::FatbinImage {
            target: &image.target,
            bytes: &image.bytes,
            name: "",
            options: "",
        })
        .collect();
    // Drivers before CUDA 12.4 do not know zstd, and the driver that loads the fatbin is unknown.
    fatbin::write(&images, fatbin::Packing::Stored).map_err(write_error)
}

/// SPIR-V is for the devices without an image. The image of a group of devices is an archive of its own.
fn ocloc(images: &[SelectedImage], _: BundleVersion) -> Result<Vec<u8>> {
    let limits = Limits::default();
    let mut spirv = None;
    let mut native: Vec<OclocImage<'_>> = Vec::new();
    for SelectedImage { target, text, bytes } in images {
        let ip = match target.arch() {
            Some(Arch::Intel(arch)) => arch.ip_version(),
            _ => {
                spirv = Some(bytes.as_slice());
                continue;
            }
        };
        match ip {
            Some(ip) if !bytes.starts_with(&ocloc::MAGIC) => {
                native.push(OclocImage { device: device(ip, text)?, bytes })
            }
            _ => native.extend(devices(&ocloc::parse(bytes, &limits).map_err(write_error)?)),
        }
    }
    // A group may have a device that is there by its own name as well.
    let mut seen = BTreeSet::new();
    native.retain(|image| seen.insert(image.device));
    ocloc::write(&native, spirv).map_err(write_error)
}

fn device(ip: [u32; 3], target: &str) -> Result<ocloc::Device> {
    let [major, minor, revision] = ip.map(|number| u16::try_from(number).ok());
    let device =
        || Some(ocloc::Device { pointer_bits: 64, major: major?, minor: minor?, revision: revision? });
    device().ok_or_else(|| Error::usage(format!("`{target}` is not a device version")))
}

fn devices<'a>(archive: &ocloc::Archive<'a>) -> Vec<OclocImage<'a>> {
    archive
        .members
        .iter()
        .filter_map(|member| match member.kind() {
            ocloc::MemberKind::Device(device) => Some(OclocImage { device, bytes: member.data }),
            _ => None,
        })
        .collect()
}

/// One binary for each image: what every release of LLVM reads.
fn offload_binary(images: &[SelectedImage], _: BundleVersion) -> Result<Vec<u8>> {
    let archs: Vec<String> = images.iter().map(|image| architecture(&image.target)).collect();
    let entries: Vec<NewEntry<'_>> = (images.iter().zip(&archs))
        .map(|(image, arch)| {
            let kind = image.target.image_kind();
            let entry = NewEntry::new(kind, offload_kind(&image.target), &image.bytes);
            entry.with_string("triple", triple(&image.target).unwrap_or_default()).with_string("arch", arch)
        })
        .collect();
    offload_binary::write(&entries, Version::V1).map_err(write_error)
}

fn triple(target: &Target) -> Option<&'static str> {
    match target {
        Target::Amdgcn(_) => Some("amdgcn-amd-amdhsa"),
        Target::Nvptx(_) | Target::Cubin(_) => Some("nvptx64-nvidia-cuda"),
        Target::Intel(_) => Some("spir64_gen-unknown-unknown"),
        Target::Spirv64(_) => Some("spirv64-unknown-unknown"),
        Target::AmdgcnSpirv => Some("spirv64-amd-amdhsa"),
        _ => None,
    }
}

fn offload_kind(target: &Target) -> OffloadKind {
    match target {
        Target::Amdgcn(_) | Target::AmdgcnSpirv => OffloadKind::Hip,
        Target::Nvptx(_) | Target::Cubin(_) => OffloadKind::Cuda,
        _ => OffloadKind::Sycl,
    }
}

fn architecture(target: &Target) -> String {
    match target.arch() {
        Some(Arch::Amd(arch)) => arch.to_string(),
        Some(Arch::Sm(arch)) => arch.to_string(),
        Some(Arch::Intel(arch)) => arch.to_string(),
        _ => "generic".to_string(),
    }
}

fn write_error(error: offload_format::Error) -> Error {
    Error::check(error.to_string())
}

fn is_amd(target: &Target) -> bool {
    matches!(target, Target::Amdgcn(_))
}
