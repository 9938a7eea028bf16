//! Compressed offload bundles: every version and method, sequences, and damage.
#![cfg(feature = "ccob")]

#[path = "../damage/clang.rs"]
mod clang;

use std::time::{Duration, Instant};

use self::clang::{as_clang, with_header};
use offload_containers::bundle::{self, BundleImage};
use offload_containers::ccob::{self, Container, Method, Version};
use offload_format::{ErrorKind, Limits};

/// Text that compresses to a frame with several blocks and literals.
fn image(seed: u32, size: usize) -> Vec<u8> {
    let mut state = u64::from(seed) + 1;
    let mut bytes = Vec::with_capacity(size);
    for _ in 0..size {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        bytes.push((state >> 60) as u8);
    }
    bytes
}

fn sample() -> Vec<u8> {
    let first = image(1, 5000);
    let second = image(2, 3000);
    let images = [
        BundleImage { id: "host-x86_64-unknown-linux-gnu-", bytes: b"" },
        BundleImage { id: "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", bytes: &first },
        BundleImage { id: "hipv4-amdgcn-amd-amdhsa--gfx1100", bytes: &second },
    ];
    bundle::write(&images, bundle::HIP_ALIGN).unwrap()
}

fn inflate(file: &[u8]) -> Result<Vec<u8>, offload_format::Error> {
    let limits = Limits::default();
    ccob::parse(file, &limits)?.inflate(&limits)
}

#[test]
fn every_version_and_method_is_read() {
    let raw = sample();
    for version in [1, 2, 3] {
        for method in [0, 1] {
            let file = as_clang(version, method, &raw);
            let recorded = (version > 1).then_some(file.len() as u64);
            assert_eq!(ccob::size(&file[..24.min(file.len())]).unwrap(), recorded);
            // What follows belongs to the next one, also where the size has to be found.
            let followed = [&file[..], b"CCOB"].concat();
            let found = ccob::parse(&followed, &Limits::default()).unwrap();
            assert_eq!((found.size, found.raw_size), (file.len() as u64, raw.len() as u64));
            assert_eq!(found.method, if method == 0 { Method::Zlib } else { Method::Zstd });
            assert_eq!(found.inflate(&Limits::default()).unwrap(), raw);
        }
    }
}

#[test]
fn what_is_written_is_read_and_the_same_each_time() {
    let raw = sample();
    for version in [Version::V2, Version::V3] {
        let file = ccob::write(&raw, version, 19).unwrap();
        assert_eq!(ccob::parse(&file, &Limits::default()).unwrap().version, version);
        assert_eq!(inflate(&file).unwrap(), raw);
        assert_eq!(ccob::write(&raw, version, 19).unwrap(), file);
        assert!(file.len() < raw.len() / 2);
    }
}

/// Some bytes of a zstd frame can be written in two ways; what comes out is then the same bundle, or it is refused.
#[test]
fn every_single_byte_of_what_is_written_is_guarded() {
    let images = [image(1, 240), image(2, 120)];
    let ids = ["hipv4-amdgcn-amd-amdhsa--gfx90a", "hipv4-amdgcn-amd-amdhsa--gfx1100"];
    let images: Vec<_> = ids.iter().zip(&images).map(|(id, bytes)| BundleImage { id, bytes }).collect();
    let raw = bundle::write(&images, 1).unwrap();
    for version in [Version::V2, Version::V3] {
        let file = ccob::write(&raw, version, 19).unwrap();
        let mut changed = file.clone();
        let mut refused = 0;
        let mut same = 0;
        for at in 0..file.len() {
            for value in 0..=255 {
                // Each value in one version, each bit in the other.
                let bits: u8 = value ^ file[at];
                if bits == 0 || (version != Version::V2 && !bits.is_power_of_two()) {
                    continue;
                }
                changed[at] = value;
                match inflate(&changed) {
                    Ok(bundle) => {
                        assert!(bundle == raw, "{version:?}: byte {at} as {value:#x} gives other images");
                        assert!(at > 32, "{version:?}: byte {at} of the header as {value:#x} is accepted");
                        same += 1;
                    }
                    Err(_) => refused += 1,
                }
            }
            changed[at] = file[at];
        }
        println!("{version:?}: {refused} changes refused, {same} without an effect");
        assert!(same * 500 < refused, "{same} of {refused}");
        for end in 0..file.len() {
            assert!(inflate(&file[..end]).is_err(), "{version:?}: cut at {end}");
        }
    }
}

#[test]
fn another_bundle_under_the_recorded_md5_is_refused() {
    let mut raw = sample();
    for method in [0, 1] {
        let file = as_clang(2, method, &raw);
        let hash = file[16..24].to_vec();
        *raw.last_mut().unwrap() ^= 1;
        let mut swapped = as_clang(2, method, &raw);
        assert!(inflate(&swapped).is_ok());
        swapped[16..24].copy_from_slice(&hash);
        assert!(matches!(inflate(&swapped).unwrap_err().kind(), ErrorKind::Damaged { .. }));
    }
}

/// Of several blocks and windows, as those of libraries are.
#[test]
fn damage_in_a_large_bundle_is_found() {
    let image = image(3, 3 << 20);
    let raw =
        bundle::write(&[BundleImage { id: "hipv4-amdgcn-amd-amdhsa--gfx90a", bytes: &image }], 4096).unwrap();
    for method in [0, 1] {
        let file = as_clang(2, method, &raw);
        assert!(inflate(&file).unwrap() == raw);
        // Without a checksum in the frame nothing but the MD5 tells.
        for at in [16, file.len() / 3, file.len() / 2, file.len() - 9] {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            assert!(inflate(&damaged).is_err(), "method {method}, byte {at}");
        }
    }
}

#[test]
fn sizes_that_are_off_by_one_are_refused() {
    let raw = sample();
    for (version, method) in [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)] {
        for change in [1, u32::MAX] {
            let mut file = as_clang(version, method, &raw);
            let at = match version {
                1 => 8,
                2 => 12,
                _ => 16,
            };
            let declared = u32::from_le_bytes(file[at..at + 4].try_into().unwrap()).wrapping_add(change);
            file[at..at + 4].copy_from_slice(&declared.to_le_bytes());
            assert!(inflate(&file).is_err(), "version {version}, method {method}");
        }
    }
}

#[test]
fn a_sequence_is_stepped_by_recorded_sizes() {
    // The magic inside of an image is not the start of another bundle.
    let inner = bundle::write(
        &[BundleImage { id: "hip-amdgcn-amd-amdhsa--gfx90a", bytes: b"CCOB__CLANG_OFFLOAD_BUNDLE__" }],
        1,
    )
    .unwrap();
    let mut section = Vec::new();
    let mut expected = Vec::new();
    for (number, compressed) in [true, false, true, true, false].into_iter().enumerate() {
        section.resize(usize::next_multiple_of(section.len(), 64 << (number % 2)), 0);
        expected.push((section.len() as u64, compressed));
        let file = if compressed { as_clang(number as u16 % 3 + 1, 1, &inner) } else { inner.clone() };
        section.extend(file);
    }
    section.resize(section.len() + 100, 0);
    let found: Vec<_> = ccob::containers(&section, &Limits::default())
        .map(|found| found.map(|(at, found)| (at, matches!(found, Container::Compressed(_)))).unwrap())
        .collect();
    assert_eq!(found, expected);
    // Damage ends the sequence with an error, once.
    section[expected[2].0 as usize + 4] = 9;
    let found: Vec<bool> =
        ccob::containers(&section, &Limits::default()).map(|found| found.is_ok()).collect();
    assert_eq!(found, [true, true, false]);
}

#[test]
fn frames_that_other_decoders_skip_are_refused() {
    let raw = sample();
    let frame = zstd::bulk::compress(&raw, 3).unwrap();
    let empty = zstd::bulk::compress(b"", 3).unwrap();
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0][..], &[0; 4]].concat();
    for payload in [
        [empty.repeat(1000), frame.clone()].concat(),
        [frame.clone(), empty.repeat(1000)].concat(),
        [skippable.repeat(1000), frame.clone()].concat(),
        [frame, vec![0]].concat(),
    ] {
        assert!(inflate(&with_header(2, 1, &raw, &payload)).is_err());
    }
}

#[test]
fn one_hundred_thousand_bundles_take_no_time() {
    let one = as_clang(3, 1, &bundle::write(&[], 1).unwrap());
    let section = one.repeat(100_000);
    let start = Instant::now();
    assert_eq!(ccob::containers(&section, &Limits::default()).filter(Result::is_ok).count(), 100_000);
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}

/// Inflates `file` in steps, each of which `hasher` is given; what is left to be compared.
fn in_steps(file: &[u8]) -> Result<(Vec<u8>, ccob::Hasher, ccob::Unverified), offload_format::Error> {
    let limits = Limits::default();
    let mut steps = ccob::parse(file, &limits)?.steps(&limits)?.expect("a frame with a size");
    let mut memory = vec![0; usize::try_from(steps.size()).unwrap()];
    let mut hasher = ccob::Hasher::default();
    let mut done = 0;
    let mut seen = 0;
    while let Some(end) = steps.step(&mut memory)? {
        hasher.update(&memory[done..end]);
        (done, seen) = (end, seen + 1);
    }
    assert!(seen > 1 || file.len() < 32 << 10, "all in one step");
    Ok((memory, hasher, steps.finish()?))
}

#[test]
fn a_bundle_is_inflated_in_steps() {
    let large = bundle::write(
        &[BundleImage { id: "hip-amdgcn-amd-amdhsa--gfx90a", bytes: &image(3, 3 << 20) }],
        4096,
    );
    for raw in [sample(), large.unwrap()] {
        let file = ccob::write(&raw, Version::V3, 3).unwrap();
        let (bundle, hasher, unverified) = in_steps(&file).unwrap();
        assert!(bundle == raw);
        unverified.verify(hasher).unwrap();
        // Neither other bytes nor fewer pass, nor another MD5.
        let mut damaged = file.clone();
        damaged[24] ^= 1;
        let (_, hasher, unverified) = in_steps(&damaged).unwrap();
        assert!(matches!(unverified.verify(hasher).unwrap_err().kind(), ErrorKind::Damaged { .. }));
        let (_, _, unverified) = in_steps(&file).unwrap();
        assert!(matches!(
            unverified.verify(ccob::Hasher::default()).unwrap_err().kind(),
            ErrorKind::Damaged { .. }
        ));
        for at in [40, file.len() / 2, file.len() - 1] {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            let refused = in_steps(&damaged).map(|(_, hasher, unverified)| unverified.verify(hasher));
            assert!(!matches!(refused, Ok(Ok(()))), "byte {at}");
        }
    }
}

#[test]
fn steps_need_the_same_memory_and_an_end() {
    let raw = bundle::write(
        &[BundleImage { id: "hip-amdgcn-amd-amdhsa--gfx90a", bytes: &image(3, 3 << 20) }],
        4096,
    )
    .unwrap();
    let limits = Limits::default();
    let file = ccob::write(&raw, Version::V3, 3).unwrap();
    let container = ccob::parse(&file, &limits).unwrap();
    let mut first = container.steps(&limits).unwrap().unwrap();
    let mut memory = vec![0; raw.len()];
    let mut other = vec![0; raw.len()];
    assert!(first.step(&mut memory[1..]).is_err(), "memory of another size");
    first.step(&mut memory).unwrap();
    assert!(first.step(&mut other).is_err(), "memory at another place");
    let mut second = container.steps(&limits).unwrap().unwrap();
    second.step(&mut memory).unwrap();
    assert!(second.finish().is_err(), "the end was not reached");
    // Another method is inflated as a whole; a size that cannot be is refused.
    let zlib = as_clang(2, 0, &raw);
    assert!(ccob::parse(&zlib, &limits).unwrap().steps(&limits).unwrap().is_none());
    let mut small = limits;
    small.raw_bytes = raw.len() as u64 - 1;
    assert!(ccob::parse(&file, &limits).unwrap().steps(&small).is_err());
}
