//! OffloadBinary: what LLVM's packager wrote, and what is written here.
#![cfg(all(feature = "offload-binary", feature = "zlib"))]

use std::io::Write;

use offload_containers::offload_binary::{
    Binary, FLAG_METADATA, MAGIC, NewEntry, NewString, OffloadKindNumber, Version, binaries, parse, write,
};
use offload_format::{ErrorKind, ImageKind, Limits, OffloadKind};

/// By llvm-offload-binary 22.1.8: `foo` for SPIR-V, `hello world` for an AMD GPU.
const TWO: &[u8] = include_bytes!("../../../tests/data/two.offload");

fn all(file: &[u8]) -> Vec<Binary<'_>> {
    parse(file, &Limits::default()).unwrap()
}

fn images<'a>(binaries: &'a [Binary<'_>]) -> Vec<&'a [u8]> {
    binaries.iter().flat_map(Binary::entries).map(|entry| entry.image).collect()
}

#[test]
fn what_llvm_wrote_is_read() {
    let binaries = all(TWO);
    let entries: Vec<_> = binaries.iter().flat_map(Binary::entries).collect();
    assert_eq!(images(&binaries), [b"foo".as_slice(), b"hello world"]);
    assert_eq!(entries[0].text("foo"), Some("bar"));
    assert_eq!(entries[0].text("triple"), Some("spirv64-unknown-unknown"));
    assert_eq!(entries[1].text("arch"), Some("gfx90a"));
    assert_eq!(entries[1].strings().count(), 2);
    let kinds: Vec<_> = entries.iter().map(|entry| entry.offload_kind.since_llvm_21()).collect();
    assert_eq!(kinds, [OffloadKind::Sycl, OffloadKind::Hip]);
    assert_eq!(ImageKind::from_u16(entries[1].image_kind), ImageKind::Bitcode);
    assert_eq!((binaries[0].header().size, binaries[1].header().size), (0xb8, 0xa0));
}

#[test]
fn golden_bytes() {
    let entry =
        NewEntry::new(ImageKind::Bitcode, OffloadKind::Hip, b"hello world").with_string("arch", "gfx90a");
    let golden = [
        &b"\x10\xff\x10\xad\x01\0\0\0\x78\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\0\x28\0\0\0\0\0\0\0"[..],
        b"\x02\0\x04\0\0\0\0\0\x48\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x68\0\0\0\0\0\0\0\x0b\0\0\0\0\0\0\0",
        b"\x59\0\0\0\0\0\0\0\x5e\0\0\0\0\0\0\0\0arch\0gfx90a\0\0\0\0",
        b"hello world\0\0\0\0\0",
    ]
    .concat();
    assert_eq!(write(&[entry], Version::V1).unwrap(), golden);
    let empty =
        b"\x10\xff\x10\xad\x02\0\0\0\x28\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    assert_eq!(write(&[], Version::V2).unwrap(), empty);
    assert_eq!(write(&[], Version::V1).unwrap(), b"");
}

fn sample(count: usize) -> Vec<NewEntry<'static>> {
    let mut entries = Vec::new();
    for index in 0..count {
        let mut entry =
            NewEntry::new(ImageKind::Object, OffloadKind::Sycl, &b"0123456789abcdef"[..index % 17])
                .with_string("triple", "amdgcn-amd-amdhsa")
                .with_string("", "empty name");
        entry.flags = if index % 5 == 4 { FLAG_METADATA } else { 0 };
        entries.push(entry);
    }
    entries
}

#[test]
fn what_is_written_is_read_in_both_versions() {
    for count in [0, 1, 2, 40] {
        for version in [Version::V1, Version::V2] {
            let entries = sample(count);
            let file = write(&entries, version).unwrap();
            assert_eq!(file.len() % 8, 0);
            let binaries = all(&file);
            assert_eq!(binaries.len(), if version == Version::V2 { 1 } else { count });
            let read: Vec<_> = binaries.iter().flat_map(Binary::entries).collect();
            assert_eq!(read.len(), count);
            for (read, entry) in read.iter().zip(&entries) {
                assert_eq!((read.image, read.flags), (entry.image, entry.flags));
                let strings: Vec<_> =
                    entry.strings.iter().map(|string| (string.key.as_bytes(), string.value)).collect();
                assert_eq!(read.strings().collect::<Vec<_>>(), strings);
            }
        }
    }
}

#[test]
fn a_zero_byte_is_kept_where_the_version_has_room_for_it() {
    let mut entry = NewEntry::new(ImageKind::None, OffloadKind::Sycl, b"");
    entry.strings.push(NewString { key: "symbols", value: b"a\0b" });
    let file = write(std::slice::from_ref(&entry), Version::V2).unwrap();
    assert_eq!(all(&file)[0].entries().next().unwrap().string("symbols"), Some(&b"a\0b"[..]));
    let error = write(&[entry], Version::V1).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Text { .. }), "{error}");
}

/// Version 3 as LLVM's newest packager writes it.
fn version_3(compress: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let v2 = write(&sample(3), Version::V2).unwrap();
    let mut body = v2[32..].to_vec();
    // The header is 8 bytes longer, and so is every offset.
    for entry in 0..3 {
        for field in [8, 24] {
            let at = entry * 40 + field;
            let offset = u64::from_le_bytes(body[at..at + 8].try_into().unwrap()) + 8;
            body[at..at + 8].copy_from_slice(&offset.to_le_bytes());
        }
        for pair in 0..2 {
            for field in [0, 8] {
                let at = 3 * 40 + (entry * 2 + pair) * 24 + field;
                let offset = u64::from_le_bytes(body[at..at + 8].try_into().unwrap()) + 8;
                body[at..at + 8].copy_from_slice(&offset.to_le_bytes());
            }
        }
    }
    let compressed = compress(&body);
    let sizes = [40 + compressed.len() as u64, 40, 3, 40 + body.len() as u64].map(u64::to_le_bytes).concat();
    let mut file = [&MAGIC[..], &3u32.to_le_bytes(), &sizes, &compressed].concat();
    file.resize(file.len().next_multiple_of(8), 0);
    file
}

fn zstd(body: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn zlib(body: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(body, 6)
}

#[test]
fn version_3_is_inflated() {
    for file in [version_3(zstd), version_3(zlib)] {
        // Two of them, so that the padding between them counts.
        let file = [&file[..], &file[..]].concat();
        let binaries = all(&file);
        let expected: Vec<_> = sample(3).iter().map(|entry| entry.image).collect();
        assert_eq!(images(&binaries), [&expected[..], &expected[..]].concat());
        let triple = binaries[1].entries().last().unwrap();
        assert_eq!(triple.text("triple"), Some("amdgcn-amd-amdhsa"));
    }
}

#[test]
fn a_wrong_inflated_size_or_one_over_the_limit_is_refused() {
    for file in [version_3(zstd), version_3(zlib)] {
        let size = u64::from_le_bytes(file[32..40].try_into().unwrap());
        for wrong in [size - 1, size + 1, 39, 1 << 31, u64::MAX] {
            let mut bad = file.clone();
            bad[32..40].copy_from_slice(&wrong.to_le_bytes());
            assert!(parse(&bad, &Limits::default()).is_err(), "{wrong} is accepted");
        }
        let error = parse(&file, &Limits::default().with_raw_bytes(100)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::TooLarge { .. }), "{error}");
        // Two files share one limit.
        let two = [&file[..], &file[..]].concat();
        let limits = Limits::default().with_raw_bytes(size);
        let found: Vec<bool> = binaries(&two, &limits).map(|binary| binary.is_ok()).collect();
        assert_eq!(found, [true, false]);
    }
}

#[test]
fn every_damaged_byte_of_a_compressed_body_is_refused() {
    for file in [version_3(zstd), version_3(zlib)] {
        let size = u64::from_le_bytes(file[8..16].try_into().unwrap()) as usize;
        for at in 40..size {
            let mut bad = file.clone();
            bad[at] ^= 1;
            let same = parse(&bad, &Limits::default()).is_ok_and(|read| images(&read) == images(&all(&file)));
            assert!(parse(&bad, &Limits::default()).is_err() || same, "byte {at} of {size}");
        }
    }
}

#[test]
fn a_later_version_is_stepped_over() {
    let mut file = [TWO, TWO].concat();
    file[4] = 9;
    let found: Vec<_> = binaries(&file, &Limits::default()).collect();
    assert_eq!(found.len(), 4);
    assert!(matches!(found[0].as_ref().unwrap_err().kind(), ErrorKind::Version { found: 9, .. }));
    assert!(found[1..].iter().all(Result::is_ok));
    assert!(parse(&file, &Limits::default()).is_err());
}

#[test]
fn what_lies_behind_the_last_binary_is_an_error_unless_it_aligns() {
    let padded = [TWO, &[0; 4]].concat();
    assert_eq!(all(&padded).len(), 2);
    for rest in [&b"rest of the file"[..], &[0; 8], b"x"] {
        assert!(parse(&[TWO, rest].concat(), &Limits::default()).is_err(), "{rest:?}");
    }
}

#[test]
fn too_many_entries_are_refused() {
    let file = write(&sample(20), Version::V1).unwrap();
    let error = parse(&file, &Limits::default().with_entries(19)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::TooMany { .. }), "{error}");
    assert!(parse(&file, &Limits::default().with_entries(20)).is_ok());
}

/// Entries may share a string map, but not so often that to read them takes the square of the file's size.
#[test]
fn maps_that_lie_on_one_another_are_bounded() {
    let long = "x".repeat(1 << 20);
    let entries: Vec<_> = (0..40)
        .map(|_| NewEntry::new(ImageKind::None, OffloadKind::None, b"").with_string("key", &long))
        .collect();
    let file = write(&entries, Version::V2).unwrap();
    let error = parse(&file, &Limits::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::TooLarge { .. }), "{error}");
    let file = write(&entries[..9], Version::V2).unwrap();
    assert!(parse(&file, &Limits::default()).is_ok());
}

#[test]
fn kinds_are_read_by_the_age_of_the_producer() {
    use OffloadKind::{Cuda, Hip, Sycl, Unknown};
    let triples = [None, Some("spir64-unknown-unknown"), Some("amdgcn-amd-amdhsa")];
    for (number, old, new, by_triple) in [
        (2, Cuda, Cuda, [Cuda; 3]),
        (3, Hip, Unknown(3), [Hip; 3]),
        (4, Sycl, Hip, [Hip, Sycl, Hip]),
        (8, Unknown(8), Sycl, [Sycl; 3]),
    ] {
        let number = OffloadKindNumber(number);
        assert_eq!((number.before_llvm_21(), number.since_llvm_21()), (old, new));
        assert_eq!(triples.map(|triple| number.for_triple(triple)), by_triple);
    }
}
