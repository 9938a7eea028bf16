//! Listing and extracting as programs do, for measurements: what is not asked for is not read.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use offload_format::bundle::{self, Image};
use offload_format::carrier::{self, FileKind};
use offload_format::ccob::{self, Version};
use offload_format::offload_binary::{self, NewEntry};
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
    let images: Vec<_> = entries.iter().map(|entry| Image { id: entry.id, bytes: entry.image }).collect();
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

fn binary_of<'a>(entry: &bundle::Entry<'a>) -> NewEntry<'a> {
    NewEntry::new(ImageKind::Object, OffloadKind::Hip, entry.image)
        .with_string("triple", "amdgcn-amd-amdhsa")
        .with_string("arch", entry.target().unwrap().target_id.unwrap())
}

/// An image: what it is for, and its range in the bytes of its container.
struct Part {
    name: String,
    offset: u64,
    size: u64,
}

/// Prints what `path` holds.
pub fn list(path: &Path) {
    let (parts, _) = parts(path);
    for part in parts {
        println!("{} {}", part.name, part.size);
    }
}

/// Writes every image of `path` to a file of its own in `folder`.
pub fn extract(path: &Path, folder: &Path) {
    let (parts, inflated) = parts(path);
    let mut file = File::open(path).unwrap();
    for (number, part) in parts.iter().enumerate() {
        let target = folder.join(format!("ours{number}"));
        if let Some(bytes) = &inflated {
            fs::write(target, &bytes[part.offset as usize..][..part.size as usize]).unwrap();
            continue;
        }
        file.seek(SeekFrom::Start(part.offset)).unwrap();
        // The kernel copies: the bytes do not pass through this process.
        io::copy(&mut Read::by_ref(&mut file).take(part.size), &mut File::create(target).unwrap()).unwrap();
    }
}

/// What a file holds; of a compressed one also what it inflates to.
fn parts(path: &Path) -> (Vec<Part>, Option<Vec<u8>>) {
    let limits = Limits::default();
    let file = File::open(path).unwrap();
    // SAFETY: nothing writes to the files of a measurement while it runs.
    let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
    match FileKind::detect(&map) {
        Some(FileKind::CompressedBundle) => {
            let raw = ccob::parse(&map, &limits).unwrap().inflate(&limits).unwrap();
            (of_bundle(&raw, 0), Some(raw))
        }
        Some(FileKind::OffloadBinary) => {
            let mut parts = Vec::new();
            for entry in offload_binary::parse(&map, &limits).unwrap().iter().flat_map(|it| it.entries()) {
                let offset = entry.image.as_ptr() as u64 - map.as_ptr() as u64;
                let name = format!("{} {}", entry.text("triple").unwrap(), entry.text("arch").unwrap());
                parts.push(Part { name, offset, size: entry.image.len() as u64 });
            }
            (parts, None)
        }
        _ => {
            let found = carrier::find(&map, &limits).unwrap();
            (found.iter().flat_map(|it| of_bundle(it.bytes, it.offset)).collect(), None)
        }
    }
}

fn of_bundle(bytes: &[u8], base: u64) -> Vec<Part> {
    let entries = bundle::parse(bytes, &Limits::default()).unwrap().entries;
    let part = |entry: &bundle::Entry<'_>| Part {
        name: entry.id.to_string(),
        offset: base + entry.offset,
        size: entry.image.len() as u64,
    };
    entries.iter().map(part).collect()
}
