//! The images of containers that lie in one another.
#![cfg(feature = "contents")]
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test stops at the first surprise")]

use offload_format::carrier::FileKind;
use offload_format::contents::{Compression, images};
use offload_format::offload_binary::{NewEntry, Version};
use offload_format::{ErrorKind, ImageKind, Limits, OffloadKind, bundle, ccob, offload_binary};

fn data(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Target, compression and bytes of every image.
fn listed(file: &[u8]) -> Vec<(String, Compression, Vec<u8>)> {
    let limits = Limits::default();
    let images = images(file, &limits).unwrap();
    let image = |image: &offload_format::contents::Image<'_>| {
        (image.target_text(), image.compression, image.decode(&limits).unwrap().into_owned())
    };
    images.iter().map(image).collect()
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

#[test]
fn containers_in_containers_are_named_from_outside_in() {
    let object = data("device-gfx1100.co");
    let image = bundle::Image { id: "hipv4-amdgcn-amd-amdhsa--gfx1100", bytes: &object };
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
