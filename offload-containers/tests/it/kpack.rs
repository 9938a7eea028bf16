//! kpack files as `msgpack` and `zstandard` of Python write them, and references.
#![cfg(feature = "kpack")]

use offload_containers::kpack::{self, Compression};
use offload_format::{ErrorKind, Limits};

const STORED: &[u8] = include_bytes!("../../../tests/data/stored.kpack");
const ZSTD: &[u8] = include_bytes!("../../../tests/data/zstd.kpack");
const GFX90A: &[u8] = include_bytes!("../../../tests/data/saxpy-reduce-gfx90a.co");
const GFX1100: &[u8] = include_bytes!("../../../tests/data/device-gfx1100.co");

#[test]
fn every_code_object_is_listed_and_extracted() {
    let limits = Limits::default();
    for (file, compression) in [(STORED, Compression::None), (ZSTD, Compression::Zstd)] {
        let kpack = kpack::parse(file, &limits).unwrap();
        assert_eq!((kpack.group_name, kpack.arch_family), ("test", "gfx"));
        let found: Vec<_> = kpack.code_objects.iter().map(|it| (it.binary, it.index, it.target_id)).collect();
        assert_eq!(
            found,
            [
                ("lib/libtest.so", Some(0), "gfx90a:xnack+"),
                ("lib/libtest.so", Some(1), "gfx1100"),
                ("bin/app", Some(0), "gfx1100"),
            ]
        );
        for (entry, object) in kpack.code_objects.iter().zip([GFX90A, GFX1100, GFX1100]) {
            assert_eq!((entry.kind, entry.compression), ("hsaco", compression));
            assert_eq!(entry.raw_size, object.len() as u64);
            assert_eq!(entry.image(&limits).unwrap(), object);
        }
    }
}

#[test]
fn limits_hold() {
    let few = Limits::default().with_entries(2);
    for file in [STORED, ZSTD] {
        assert!(matches!(kpack::parse(file, &few).unwrap_err().kind(), ErrorKind::TooMany { .. }));
    }
    let little = Limits::default().with_raw_bytes(5000);
    let entry = kpack::parse(ZSTD, &little).unwrap().code_objects[0];
    assert!(matches!(entry.image(&little).unwrap_err().kind(), ErrorKind::TooLarge { .. }));
}

/// `file` with another byte behind `key`.
fn changed(file: &[u8], key: &[u8], value: u8) -> Vec<u8> {
    let mut changed = file.to_vec();
    let at = changed.windows(key.len()).position(|window| window == key).unwrap() + key.len();
    changed[at] = value;
    changed
}

#[test]
fn other_sizes_and_ordinals_are_refused() {
    let limits = Limits::default();
    for file in [STORED, ZSTD] {
        let beyond = changed(file, b"\xa7ordinal", 3);
        let error = kpack::parse(&beyond, &limits).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Invalid { value: 3, .. }), "{error}");
        let later = [&b"KPAK\x02"[..], &file[5..]].concat();
        assert!(matches!(kpack::parse(&later, &limits).unwrap_err().kind(), ErrorKind::Version { .. }));
        let unknown = changed(file, b"compression_scheme", 0xa0);
        assert!(kpack::parse(&unknown, &limits).is_err());
    }
    // The second code object of the stored file has the first one's place, and another size.
    let other = changed(STORED, b"\xa7ordinal", 1);
    let error = kpack::parse(&other, &limits).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Invalid { value: 7032, .. }), "{error}");
    let other = changed(ZSTD, b"\xa7ordinal", 1);
    assert!(kpack::parse(&other, &limits).unwrap().code_objects[0].image(&limits).is_err());
}

#[test]
fn every_truncation_is_refused() {
    for file in [STORED, ZSTD] {
        assert!((0..file.len()).all(|size| kpack::parse(&file[..size], &Limits::default()).is_err()));
    }
}

#[test]
fn records_that_are_lists_are_refused() {
    // `[]` in place of `{"type": ..}`: four bytes would become an entry of a hundred.
    let table = b"\x82\xb2compression_scheme\xa4none\xa3toc\x81\xa1a\x81\xa1b\x93\xa0\x00\x00";
    let file = [&b"KPAK\x01\0\0\0\x10\0\0\0\0\0\0\0"[..], table].concat();
    assert!(matches!(kpack::parse(&file, &Limits::default()).unwrap_err().kind(), ErrorKind::Text { .. }));
}

fn reference(paths: u16) -> Vec<u8> {
    let mut bytes = b"\x82\xabkernel_name\xa1k\xb2kpack_search_paths\xdc".to_vec();
    bytes.extend(paths.to_be_bytes());
    bytes.extend((0..paths).flat_map(|_| *b"\xa1p"));
    bytes
}

#[test]
fn references_are_bounded() {
    let limits = Limits::default().with_entries(9);
    assert_eq!(kpack::reference(&reference(9), &limits).unwrap().search_paths, ["p"; 9]);
    assert!(matches!(
        kpack::reference(&reference(10), &limits).unwrap_err().kind(),
        ErrorKind::TooMany { .. }
    ));
    // More than AMD's loader reads.
    assert!(kpack::reference(&reference(40_000), &Limits::default()).is_err());
    // What follows a reference in its section is not looked at.
    let padded = [&reference(1)[..], &[0; 100]].concat();
    assert_eq!(kpack::reference(&padded, &limits).unwrap().kernel_name, "k");
}
