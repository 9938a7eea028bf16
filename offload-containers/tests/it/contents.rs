//! The images of containers that lie in one another.
#![cfg(feature = "contents")]

use offload_containers::carrier::{self, FileKind};
use offload_containers::contents::{Compression, images, images_of};
use offload_containers::offload_binary::{NewEntry, Version};
use offload_containers::{bundle, ccob, offload_binary};
use offload_format::{ErrorKind, Hash128, ImageKind, Limits, OffloadKind};

const ID: &str = "hipv4-amdgcn-amd-amdhsa--gfx1100";

fn data(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Target, compression and bytes of every image.
fn listed(file: &[u8]) -> Vec<(String, Compression, Vec<u8>)> {
    let limits = Limits::default();
    let images = images(file, &limits).unwrap();
    let describe = images
        .iter()
        .map(|image| (image.target_text(), image.compression, image.decode(&limits).unwrap().into_owned()));
    describe.collect()
}

#[test]
fn every_way_of_storing_gives_the_same_images() {
    let stored = listed(&data("stored.fatbin"));
    let targets: Vec<&str> = stored.iter().map(|(target, ..)| target.as_str()).collect();
    assert_eq!(targets, ["cubin:sm_80", "cubin:sm_90a", "cubin:sm_100f", "nvptx:sm_75"]);
    for (file, compression) in [
        ("lz4.fatbin", Compression::Lz4),
        ("zstd.fatbin", Compression::Zstd),
        ("group.fatbin", Compression::Zstd),
    ] {
        let found = listed(&data(file));
        assert_eq!(found.len(), 4, "{file}");
        // A group has an order of its own, and PTX loses its comments.
        for (target, _, raw) in stored.iter().filter(|(target, ..)| target.starts_with("cubin")) {
            let same = found.iter().find(|(other, ..)| other == target).map(|(_, _, bytes)| bytes == raw);
            assert_eq!(same, Some(true), "{file} {target}");
        }
        assert!(found.iter().any(|(_, by, _)| *by == compression), "{file}");
    }
}

fn frame_hashes(file: &[u8]) -> Vec<Option<Hash128>> {
    images(file, &Limits::default()).unwrap().iter().map(|image| image.frame_hash()).collect()
}

#[test]
fn equal_frames_are_known_without_decoding() {
    let zstd = data("zstd.fatbin");
    let twice = frame_hashes(&zstd.repeat(2));
    let (first, second) = twice.split_at(4);
    assert!(first == second && first.iter().all(Option::is_some));
    let distinct: std::collections::BTreeSet<_> =
        first.iter().chain(&frame_hashes(&data("lz4.fatbin"))).copied().collect();
    assert_eq!(distinct.len(), 8);
    // What is stored as it is need not be decoded, and the members of a group are decoded together.
    assert!(frame_hashes(&data("stored.fatbin")).iter().all(Option::is_none));
    assert!(frame_hashes(&data("group.fatbin")).iter().any(Option::is_none));
}

#[test]
fn containers_in_containers_are_named_from_outside_in() {
    let object = data("device-gfx1100.co");
    let image = bundle::BundleImage { id: ID, bytes: &object };
    let ccob =
        ccob::write(&bundle::write(&[image], bundle::HIP_ALIGN).unwrap(), ccob::Version::V3, 3).unwrap();
    let fatbin = data("zstd.fatbin");
    let entries = [
        NewEntry::new(ImageKind::Object, OffloadKind::Hip, &ccob).with_string("triple", "amdgcn-amd-amdhsa"),
        NewEntry::new(ImageKind::Fatbinary, OffloadKind::Cuda, &fatbin).with_string("arch", "sm_80"),
    ];
    let file = offload_binary::write(&entries, Version::V2).unwrap();
    let limits = Limits::default();
    let found = images(&file, &limits).unwrap();
    assert_eq!(found.len(), 5);
    assert_eq!(found[0].containers, [FileKind::OffloadBinary, FileKind::CompressedBundle]);
    assert_eq!(found[1].containers, [FileKind::OffloadBinary, FileKind::CudaFatbin]);
    assert_eq!(*found[0].decode(&limits).unwrap(), object);
    assert_eq!(found[1].offload_kind, OffloadKind::Cuda);

    // The same inside a zstd frame, whose content has to be inflated to be listed.
    let frame = zstd::bulk::compress(&file, 3).unwrap();
    let inner = images(&frame, &limits).unwrap();
    assert_eq!(inner.len(), 5);
    assert_eq!(inner[0].containers, [FileKind::Zstd, FileKind::OffloadBinary, FileKind::CompressedBundle]);
    assert_eq!(*inner[0].decode(&limits).unwrap(), object);
}

#[test]
fn archives_of_ocloc_have_ocloc_s_names() {
    let found = listed(&data("two.ocloc"));
    let targets: Vec<&str> = found.iter().map(|(target, ..)| target.as_str()).collect();
    assert_eq!(targets, ["intel:pvc", "intel:dg1", "spirv64"]);
    assert!(found[..2].iter().all(|(_, _, bytes)| bytes.starts_with(b"\x7fELF")));
    assert_eq!(found[2].2, data("saxpy-reduce.spv"));
}

#[test]
fn an_image_alone_tells_its_own_target() {
    for (file, target) in [
        ("saxpy-reduce.spv", "spirv64"),
        ("device-nvcc.ptx", "nvptx:sm_90a"),
        ("device-12.9-sm_80.cubin", "cubin:sm_80"),
        ("saxpy-reduce-gfx90a.co", "amdgcn:gfx90a:xnack+"),
    ] {
        assert_eq!(listed(&data(file))[0].0, target, "{file}");
    }
}

#[test]
fn frames_in_frames_end_at_the_limit() {
    let mut file = data("saxpy-reduce.spv");
    for _ in 0..12 {
        file = zstd::bulk::compress(&file, 1).unwrap();
    }
    let error = images(&file, &Limits::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Nested { .. }), "{error}");
}

#[test]
fn every_cut_is_an_error_or_shorter() {
    for name in ["two.ocloc", "zstd.fatbin", "group.fatbin", "two.offload"] {
        let file = data(name);
        let limits = Limits::default();
        let whole = images(&file, &limits).unwrap().len();
        for end in (0..file.len()).step_by(97) {
            let found = images(&file[..end], &limits).map_or(0, |found| {
                found.iter().for_each(|image| drop(image.decode(&limits)));
                found.len()
            });
            assert!(found <= whole, "{name} cut at {end}: {found} images");
        }
    }
}

#[test]
fn code_objects_of_a_kpack_are_named_after_their_program() {
    for (file, compression) in [("stored.kpack", Compression::None), ("zstd.kpack", Compression::Zstd)] {
        let file = data(file);
        let limits = Limits::default();
        let found = images(&file, &limits).unwrap();
        let names: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.target_text())).collect();
        let expected = [
            ("lib/libtest.so#0", "amdgcn:gfx90a:xnack+"),
            ("lib/libtest.so#1", "amdgcn:gfx1100"),
            ("bin/app#0", "amdgcn:gfx1100"),
        ];
        assert_eq!(names, expected.map(|(name, target)| (name, target.to_string())));
        assert!(found.iter().all(|it| (it.compression, it.offload_kind) == (compression, OffloadKind::Hip)));
        assert_eq!(*found[0].decode(&limits).unwrap(), data("saxpy-reduce-gfx90a.co"));
    }
}

#[test]
fn bundles_in_text_form_are_listed() {
    let images = [
        bundle::BundleImage { id: "host-x86_64-unknown-linux-gnu-", bytes: b"define\n" },
        bundle::BundleImage { id: ID, bytes: b".version 8.0\n" },
    ];
    let file = bundle::write_text(&images, bundle::Comment::Semicolon).unwrap();
    let found = listed(&file);
    assert_eq!(found[1], ("amdgcn:gfx1100".to_string(), Compression::None, b".version 8.0\n".to_vec()));
}

#[test]
fn of_many_compressed_bundles_one_is_held_at_a_time() {
    let mut file = Vec::new();
    for image in [&b"first"[..], b"second"] {
        let raw = bundle::write(&[bundle::BundleImage { id: ID, bytes: image }], 1).unwrap();
        file.extend(ccob::write(&raw, ccob::Version::V3, 3).unwrap());
    }
    let limits = Limits::default();
    let found = images(&file, &limits).unwrap();
    // In any order, and while images of another one are still there.
    let first = found[0].decode(&limits).unwrap();
    assert_eq!(*found[1].decode(&limits).unwrap(), *b"second");
    assert_eq!((&*first, &*found[0].decode(&limits).unwrap()), (&b"first"[..], &b"first"[..]));
}

fn find(bytes: &[u8], pattern: &[u8]) -> usize {
    bytes.windows(pattern.len()).position(|window| window == pattern).unwrap()
}

/// An object of clang with `image` in a compressed bundle.
fn object_with(image: &[u8]) -> Vec<u8> {
    let archive = data("carrier/lib.a");
    let header = find(&archive, b"embedded.o/");
    let size = std::str::from_utf8(&archive[header + 48..header + 58]).unwrap().trim_end().parse::<usize>();
    let mut object = archive[header + 60..header + 60 + size.unwrap()].to_vec();
    let name = find(&object, b".llvm.offloading\0");
    let old = data("two.offload");
    object[name..name + 17].copy_from_slice(b".hip_fatbin\0\0\0\0\0\0");
    let raw = bundle::write(&[bundle::BundleImage { id: ID, bytes: image }], 1).unwrap();
    let mut section = ccob::write(&raw, ccob::Version::V2, 3).unwrap();
    assert!(section.len() <= old.len());
    section.resize(old.len(), 0);
    let at = find(&object, &old);
    object[at..at + old.len()].copy_from_slice(&section);
    object
}

#[test]
fn every_member_of_a_static_archive_may_have_bundles() {
    let mut archive = b"!<arch>\n".to_vec();
    for number in 0..600 {
        let object = object_with(format!("code object {number}").as_bytes());
        let name = format!("{number}.o/");
        archive.extend(format!("{name:<16}{:<32}{:<10}`\n", "0", object.len()).into_bytes());
        archive.extend(&object);
        archive.resize(archive.len().next_multiple_of(2), b'\n');
    }
    let limits = Limits::default();
    let found = carrier::find(&archive, &limits).unwrap();
    assert_eq!(found.len(), 600);
    for (number, found) in found.iter().enumerate() {
        assert_eq!(found.member, Some(format!("{number}.o").as_bytes()));
        let images = images_of(found, &limits).unwrap();
        let decoded: Vec<_> = images.iter().map(|it| it.decode(&limits).unwrap().into_owned()).collect();
        assert_eq!(decoded, [format!("code object {number}").into_bytes()]);
    }
}
