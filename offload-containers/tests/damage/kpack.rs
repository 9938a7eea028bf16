//! kpack files and references.

use crate::decode::{self, RAW_BYTES};
use crate::harness::{Reader, Sample, fields, torture};

/// The header, the frames' sizes where there are some, and the table of contents byte by byte.
fn sample(bytes: &[u8]) -> Sample {
    let table = u64::from_le_bytes(bytes[8..16].try_into().unwrap()) as usize;
    let mut all = fields(0, &[("magic", 0, 4), ("version", 4, 4), ("table's offset", 8, 8)]);
    all.extend(fields(64, &[("frames", 0, 4), ("frame's size", 4, 4), ("frame", 8, 4)]));
    all.extend((table..bytes.len()).flat_map(|at| fields(at, &[("table of contents", 0, 1)])));
    for key in [&b"offset"[..], b"zstd_offset", b"zstd_size", b"ordinal", b"original_size"] {
        let places = bytes.windows(key.len()).enumerate().filter(|(_, window)| *window == key);
        let values = places.map(|(at, _)| at + key.len() + 1).filter(|at| at + 4 <= bytes.len());
        all.extend(values.flat_map(|at| fields(at, &[("number of the table", 0, 4)])));
    }
    Sample { bytes: bytes.to_vec(), fields: all, header: 80 }
}

#[test]
fn kpacks() {
    let stored = sample(include_bytes!("../../../tests/data/stored.kpack"));
    let zstd = sample(include_bytes!("../../../tests/data/zstd.kpack"));
    // Only a table of contents, which then comes first.
    let table = b"\x82\xb2compression_scheme\xa4none\xa3toc\x80";
    let bytes = [&b"KPAK\x01\0\0\0\x10\0\0\0\0\0\0\0"[..], table].concat();
    let empty = Sample { header: bytes.len(), fields: fields(0, &[("table's offset", 8, 8)]), bytes };
    let samples = vec![stored, zstd, empty];
    torture(&Reader { name: "kpacks", samples, decode: decode::kpack, inflates: RAW_BYTES }).unwrap();
}

#[test]
fn references() {
    let samples = [&[][..], &["a.kpack"], &["../.kpack/lib_@GFXARCH@.kpack", "b"]].map(|paths| {
        let mut bytes = b"\x82\xabkernel_name\xa8lib/x.so\xb2kpack_search_paths".to_vec();
        bytes.push(0x90 + paths.len() as u8);
        for path in paths {
            bytes.push(0xa0 + path.len() as u8);
            bytes.extend(path.bytes());
        }
        let fields = (0..bytes.len()).flat_map(|at| fields(at, &[("byte", 0, 1)])).collect();
        Sample { header: bytes.len(), fields, bytes }
    });
    let samples = samples.into();
    torture(&Reader { name: "kpack references", samples, decode: decode::kpack_reference, inflates: 0 })
        .unwrap();
}
