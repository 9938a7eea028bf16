//! `extract` of many images, and of compressed bundles that are too large to be held in memory.

use std::fs;
use std::path::Path;

use crate::support::{self, fails, objects, ok};
use offload_containers::{bundle, ccob};

/// From so many bytes on a compressed bundle is inflated into a file.
const LARGE: usize = 1 << 20;
/// How many files are written at a time.
const TOGETHER: usize = 64;
/// Where version 3 of a compressed bundle records the MD5.
const MD5_AT: usize = 24;

/// Output for an extracted image.
const DAMAGED: &str = "the inflated offload bundle is damaged: its hash is not the recorded one";

type Images = Vec<(String, Vec<u8>)>;

/// So many images of about `size` bytes, of which no two are alike, and which compress.
fn images(count: usize, size: usize) -> Images {
    let mut state = count as u64;
    let mut images = Vec::new();
    for number in 0..count {
        let mut image = Vec::new();
        for _ in 0..size + number * 7 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            image.push((state >> 60) as u8);
        }
        images.push((format!("hip-amdgcn-amd-amdhsa--gfx{}", 900 + number), image));
    }
    images
}

fn bundled(images: &Images, align: u64) -> Vec<u8> {
    let images: Vec<_> = images.iter().map(|(id, bytes)| bundle::BundleImage { id, bytes }).collect();
    bundle::write(&images, align).unwrap()
}

fn compressed(images: &Images, align: u64) -> Vec<u8> {
    ccob::write(&bundled(images, align), ccob::Version::V3, 3).unwrap()
}

fn dir_with(bytes: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("k.hipfb"), bytes).unwrap();
    dir
}

fn files(dir: &Path) -> usize {
    fs::read_dir(dir).map_or(0, Iterator::count)
}

/// All of `images` are written and listed in order, and nothing else is.
fn extracted(dir: &Path, images: &Images) {
    let extracted = objects(&ok(dir, &["extract", "k.hipfb", "-o", "out", "--json"]), "extracted");
    assert_eq!((extracted.len(), files(&dir.join("out"))), (images.len(), images.len()));
    for (extracted, (id, bytes)) in extracted.iter().zip(images) {
        let target = extracted["target"].as_str().unwrap();
        assert!(id.ends_with(target.trim_start_matches("amdgcn:")), "{extracted} instead of {id}");
        assert!(fs::read(dir.join(extracted["file"].as_str().unwrap())).unwrap() == *bytes, "{extracted}");
        assert_eq!(extracted["size"], bytes.len());
    }
}

#[test]
fn more_files_than_are_written_at_a_time_appear_in_order() {
    for align in [8, bundle::HIP_ALIGN] {
        let images = images(TOGETHER + 3, 17_000);
        extracted(dir_with(&bundled(&images, align)).path(), &images);
        assert!(images.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() > LARGE);
        extracted(dir_with(&compressed(&images, align)).path(), &images);
    }
}

#[test]
fn what_could_not_be_compared_is_told() {
    let images = images(3, 2_000);
    let all = bundled(&images, 8);
    let plain = zstd::bulk::compress(&images[0].1, 3).unwrap();
    let mut checked = zstd::bulk::Compressor::new(3).unwrap();
    checked.include_checksum(true).unwrap();
    let checked = checked.compress(&images[0].1).unwrap();
    for (file, count, checksum) in [
        (all, 3, None),
        (compressed(&images, 8), 3, Some("md5")),
        (plain, 1, None),
        (checked, 1, Some("xxh64")),
    ] {
        let dir = dir_with(&file);
        let extracted = ok(dir.path(), &["extract", "k.hipfb", "-o", "out", "--json"]);
        let each = objects(&extracted, "extracted");
        assert_eq!(each.len(), count, "{extracted}");
        assert!(each.iter().all(|image| image["checksum"].as_str() == checksum), "{extracted}");
        let not_compared = if checksum.is_some() { 0 } else { count };
        assert_eq!(objects(&extracted, "summary")[0]["not_compared"], not_compared, "{extracted}");
        let message = ok(dir.path(), &["extract", "k.hipfb", "-o", "again"]);
        assert_eq!(message.matches(" bytes, not compared)").count(), not_compared, "{message}");
        let end = format!("; {not_compared} file");
        assert_eq!(message.lines().last().unwrap().contains(&end), checksum.is_none(), "{message}");
    }
}

#[test]
fn small_and_large_bundles_and_plain_ones_take_turns() {
    let images = images(20, 100_000);
    let mut section = Vec::new();
    for (number, part) in [0..2, 2..16, 16..18, 18..20].into_iter().enumerate() {
        let part: Images = images[part].to_vec();
        section.extend(match number {
            2 => bundled(&part, bundle::HIP_ALIGN),
            _ => compressed(&part, bundle::HIP_ALIGN),
        });
        section.resize(section.len().next_multiple_of(4096), 0);
    }
    extracted(dir_with(&section).path(), &images);
}

#[test]
fn some_images_of_a_large_bundle_are_chosen() {
    let images = images(12, 120_000);
    let dir = dir_with(&compressed(&images, bundle::HIP_ALIGN));
    ok(dir.path(), &["extract", "k.hipfb", "-o", "out", "--for", "amdgcn:gfx903", "--for", "amdgcn:gfx911"]);
    assert_eq!(files(&dir.path().join("out")), 2);
    for (name, image) in [("k.amdgcn-gfx903.co", 3), ("k.amdgcn-gfx911.co", 11)] {
        assert!(fs::read(dir.path().join("out").join(name)).unwrap() == images[image].1, "{name}");
    }
}

/// Nothing of a bundle appears whose MD5 is another one, and each image is an error; so it is of small bundles, which are
/// inflated in memory.
#[test]
fn another_md5_leaves_nothing() {
    for count in [2, 12, TOGETHER + 2] {
        let images = images(count, 120_000);
        let mut file = compressed(&images, bundle::HIP_ALIGN);
        file[MD5_AT] ^= 1;
        let dir = dir_with(&file);
        let output = support::offload(dir.path(), &["extract", "k.hipfb", "-o", "out"]);
        let message = support::stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        let expected: Vec<String> = (0..count)
            .map(|number| format!("error: image amdgcn:gfx{} of k: {DAMAGED}", 900 + number))
            .chain([format!("0 files, 0 B, {count} problems")])
            .collect();
        assert_eq!(message.lines().collect::<Vec<_>>(), expected);
        assert_eq!(files(&dir.path().join("out")), 0);
    }
}

#[test]
fn a_damaged_frame_leaves_nothing_and_what_follows_is_written() {
    let images = images(14, 120_000);
    let first = images[..12].to_vec();
    let second = images[12..].to_vec();
    let whole = compressed(&first, bundle::HIP_ALIGN);
    for at in [whole.len() / 3, whole.len() / 2, whole.len() - 1] {
        let mut section = whole.clone();
        section[at] ^= 0x10;
        section.extend(compressed(&second, bundle::HIP_ALIGN));
        let dir = dir_with(&section);
        let output = support::offload(dir.path(), &["extract", "k.hipfb", "-o", "out"]);
        let message = support::stdout(&output);
        assert_eq!(output.status.code(), Some(1), "byte {at}: {message}");
        assert_eq!(message.matches("error: image amdgcn:gfx9").count(), 12, "byte {at}: {message}");
        assert_eq!(files(&dir.path().join("out")), 2, "byte {at}: {message}");
        assert!(message.contains("2 files, ") && message.contains("12 problems"), "byte {at}: {message}");
    }
}

#[test]
fn a_large_bundle_replaces_files_when_forced() {
    let images = images(12, 120_000);
    let dir = dir_with(&compressed(&images, bundle::HIP_ALIGN));
    fs::create_dir(dir.path().join("out")).unwrap();
    let old = dir.path().join("out/k.amdgcn-gfx905.co");
    fs::write(&old, "mine").unwrap();
    fails(dir.path(), &["extract", "k.hipfb", "-o", "out"], 2);
    assert_eq!((fs::read(&old).unwrap().as_slice(), files(&dir.path().join("out"))), (&b"mine"[..], 1));
    ok(dir.path(), &["extract", "k.hipfb", "-o", "out", "--force"]);
    assert_eq!((fs::read(&old).unwrap() == images[5].1, files(&dir.path().join("out"))), (true, 12));
}
