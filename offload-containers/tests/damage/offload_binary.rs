//! OffloadBinary of every version.

use offload_containers::offload_binary::{MAGIC, NewEntry, Version, write};
use offload_format::{ImageKind, OffloadKind};

use crate::decode::{RAW_BYTES, offload_binary};
use crate::harness::{Field, Reader, Sample, fields, size_at, torture};

const HEADER: [(&str, usize, usize); 5] = [
    ("magic", 0, 4),
    ("version", 4, 4),
    ("size", 8, 8),
    ("entries offset", 16, 8),
    ("entry size or count", 24, 8),
];
const ENTRY: [(&str, usize, usize); 7] = [
    ("image kind", 0, 2),
    ("offload kind", 2, 2),
    ("flags", 4, 4),
    ("strings offset", 8, 8),
    ("strings", 16, 8),
    ("image offset", 24, 8),
    ("image size", 32, 8),
];

fn entries() -> Vec<NewEntry<'static>> {
    let entries = [&b"first image"[..], b"", b"third"].map(|image| {
        NewEntry::new(ImageKind::Object, OffloadKind::Hip, image)
            .with_string("triple", "amdgcn-amd-amdhsa")
            .with_string("arch", "gfx90a")
    });
    entries.into()
}

/// The fields of a binary with its header at 0: those of the entries and of the string maps too.
fn all_fields(bytes: &[u8], header: usize, pair: usize) -> Vec<Field> {
    let count = if bytes[4] == 1 { 1 } else { size_at(bytes, 24, 8) };
    let mut all = fields(0, &HEADER);
    for entry in 0..count {
        let at = header + entry * 40;
        all.extend(fields(at, &ENTRY));
        for index in 0..size_at(bytes, at + 16, 8) {
            let pair_at = size_at(bytes, at + 8, 8) + index * pair;
            all.extend(fields(pair_at, &[("string key", 0, 8), ("string value", 8, 8)]));
            if pair == 24 {
                all.extend(fields(pair_at, &[("string size", 16, 8)]));
            }
        }
    }
    all
}

fn sample(bytes: Vec<u8>, pair: usize) -> Sample {
    Sample { fields: all_fields(&bytes, 32, pair), header: 200, bytes }
}

#[test]
fn versions_1_and_2() {
    let one = write(&entries()[..1], Version::V1).unwrap();
    let two = include_bytes!("../../../tests/data/two.offload").to_vec();
    let many = write(&entries(), Version::V2).unwrap();
    let samples = vec![sample(one, 16), sample(two, 16), sample(many, 24)];
    torture(&Reader { name: "OffloadBinary 1 and 2", samples, decode: offload_binary, inflates: RAW_BYTES })
        .unwrap();
}

fn version_3(compress: fn(&[u8]) -> Vec<u8>) -> Sample {
    // One entry without strings, behind the header of 40 bytes.
    let image = b"an image that is an image that is an image";
    let entry = [40u64 + 40, 0, 40 + 40, image.len() as u64].map(u64::to_le_bytes).concat();
    let body = [&[1, 0, 8, 0, 0, 0, 0, 0][..], &entry, image].concat();
    let packed = compress(&body);
    let sizes = [40 + packed.len() as u64, 40, 1, 40 + body.len() as u64].map(u64::to_le_bytes).concat();
    let mut bytes = [&MAGIC[..], &3u32.to_le_bytes(), &sizes, &packed].concat();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let fields = [fields(0, &HEADER), fields(0, &[("inflated size", 32, 8)])].concat();
    Sample { header: bytes.len(), fields, bytes }
}

#[test]
fn version_3_compressed() {
    let zstd = version_3(|body| zstd::encode_all(body, 3).unwrap());
    let zlib = version_3(|body| miniz_oxide::deflate::compress_to_vec_zlib(body, 6));
    let plain = version_3(<[u8]>::to_vec);
    let mut plain = Sample { ..plain };
    plain.bytes[32..40].fill(0);
    torture(&Reader {
        name: "OffloadBinary 3",
        samples: vec![zstd, zlib, plain],
        decode: offload_binary,
        inflates: RAW_BYTES,
    })
    .unwrap();
}
