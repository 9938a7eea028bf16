//! Inputs for measurements.

use std::fs;
use std::path::Path;

use offload_containers::bundle::{self, BundleImage};
use offload_containers::carrier::{self, FileKind};
use offload_containers::ccob::{self, Version};
use offload_containers::offload_binary::{self, NewEntry};
use offload_format::{ImageKind, Limits, OffloadKind};

/// Writes the inputs to `folder`: the largest bundle of `library` as clang compresses it and as it is, the same images
/// as OffloadBinary, and the arguments with which LLVM's tools extract them.
pub fn prepare(library: &Path, folder: &Path) {
    let file = fs::read(library).unwrap();
    let limits = Limits::default();
    let found = carrier::find(&file, &limits).unwrap();
    let bundles = found.iter().filter(|it| it.kind == Some(FileKind::CompressedBundle));
    let compressed = bundles.max_by_key(|it| it.bytes.len()).unwrap().bytes;
    let raw = ccob::parse(compressed, &limits).unwrap().inflate(&limits).unwrap();
    let entries = bundle::parse(&raw, &limits).unwrap().entries;
    let images: Vec<_> =
        entries.iter().map(|entry| BundleImage { id: entry.id, bytes: entry.image }).collect();
    let plain = bundle::write(&images, bundle::HIP_ALIGN).unwrap();
    fs::write(folder.join("images.bundle"), &plain).unwrap();
    fs::write(folder.join("images.ccob"), ccob::write(&plain, Version::V3, 3).unwrap()).unwrap();
    let devices: Vec<_> = entries.iter().filter(|entry| !entry.image.is_empty()).collect();
    let binaries: Vec<_> = devices.iter().map(|entry| binary_of(entry)).collect();
    let binary = offload_binary::write(&binaries, offload_binary::Version::V1).unwrap();
    fs::write(folder.join("images.offload"), binary).unwrap();
    println!("ids {}", entries.iter().map(|entry| entry.id).collect::<Vec<_>>().join(","));
    let arches = devices.iter().map(|entry| entry.target().unwrap().target_id.unwrap().to_string());
    println!("arches {}", arches.collect::<Vec<_>>().join(","));
    println!("bytes {}", plain.len());
}

fn binary_of<'a>(entry: &bundle::BundleEntry<'a>) -> NewEntry<'a> {
    NewEntry::new(ImageKind::Object, OffloadKind::Hip, entry.image)
        .with_string("triple", "amdgcn-amd-amdhsa")
        .with_string("arch", entry.target().unwrap().target_id.unwrap())
}
