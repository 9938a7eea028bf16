//! CUDA's fatbins: stored, LZ4, zstd, and in groups.

use crate::decode::{self, RAW_BYTES};
use crate::harness::{Field, Reader, Sample, fields, size_at, torture};

const ENTRY: [(&str, usize, usize); 14] = [
    ("kind", 0, 2),
    ("entry's version", 2, 2),
    ("entry's header size", 4, 4),
    ("payload size", 8, 8),
    ("compressed size", 16, 4),
    ("options", 20, 4),
    ("minor", 24, 2),
    ("major", 26, 2),
    ("architecture", 28, 4),
    ("name", 32, 4),
    ("name's size", 36, 4),
    ("flags", 40, 8),
    ("unused", 48, 8),
    ("raw size", 56, 8),
];

fn sample(bytes: &[u8]) -> Sample {
    let header = [("magic", 0, 4), ("version", 4, 2), ("header size", 6, 2), ("size", 8, 8)];
    let mut all: Vec<Field> = fields(0, &header);
    let mut at = 16;
    while at + 64 <= bytes.len() {
        all.extend(fields(at, &ENTRY));
        let options = size_at(bytes, at + 20, 4);
        if options > 0 {
            all.extend(fields(at + options, &[("options' offset", 0, 4), ("options' size", 4, 4)]));
        }
        at += size_at(bytes, at + 4, 4) + size_at(bytes, at + 8, 8);
    }
    Sample { bytes: bytes.to_vec(), fields: all, header: 112 }
}

#[test]
fn fatbins() {
    let files = [
        &include_bytes!("../../../tests/data/stored.fatbin")[..],
        include_bytes!("../../../tests/data/zstd.fatbin"),
        include_bytes!("../../../tests/data/lz4.fatbin"),
        include_bytes!("../../../tests/data/group.fatbin"),
    ];
    // Behind the options of a group there is a record of 64 bytes for each member.
    let mut samples: Vec<Sample> = files.map(sample).into();
    samples[3].header = 16 + 0xc8;
    torture(&Reader { name: "fatbins", samples, decode: decode::fatbins, inflates: RAW_BYTES }).unwrap();
}
