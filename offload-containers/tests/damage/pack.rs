//! Packs of this project, and descriptors.

use offload_format::codec::{self, Codec};
use offload_format::pack::{NewImage, PackBuilder};
use offload_format::section::Descriptor;

use crate::decode::{self, RAW_BYTES};
use crate::harness::{Reader, Sample, fields, size_at, torture};

/// How an index is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Index {
    Paged,
    Plain,
}

/// A pack of images stored in each way that stands alone.
fn written(index: Index, codecs: &[Codec]) -> Vec<u8> {
    let mut builder = PackBuilder::new("sample", "1.0.0");
    if index == Index::Plain {
        builder.plain_index();
    }
    let frames: Vec<_> =
        codecs.iter().map(|codec| codec::encode(&[b'x'; 3000], *codec, 3).unwrap()).collect();
    for (number, frame) in frames.iter().enumerate() {
        let module = format!("m{number}");
        builder.image(NewImage::new(&module, "spirv64".parse().unwrap()), frame.info()).unwrap();
    }
    builder.finish().unwrap().with_frames(&frames).unwrap()
}

fn sample(bytes: &[u8]) -> Sample {
    let directory = size_at(bytes, 24, 8);
    let tables = size_at(bytes, 32, 4);
    let directory_step = size_at(bytes, 36, 4);
    let header = [
        ("major", 8, 2),
        ("size", 16, 8),
        ("directory", 24, 8),
        ("tables", 32, 4),
        ("directory's step", 36, 4),
        ("payload", 40, 8),
    ];
    let mut all = fields(0, &header);
    for table in 0..tables {
        let at = directory + table * directory_step;
        let entry = [("table", 0, 2), ("record size", 2, 2), ("table's offset", 4, 4), ("records", 8, 4)];
        all.extend(fields(at, &entry));
        let step = size_at(bytes, at + 2, 2);
        let start = size_at(bytes, at + 4, 4);
        let records = size_at(bytes, at + 8, 4);
        if step >= 8 {
            let ends = start..start + records.min(4) * step;
            all.extend(ends.step_by(4).flat_map(|at| fields(at, &[("record's word", 0, 4)])));
        }
    }
    Sample { bytes: bytes.to_vec(), fields: all, header: 64 + tables * directory_step }
}

#[test]
fn packs() {
    let samples = vec![
        sample(include_bytes!("../../../tests/data/sample.pack")),
        sample(&written(Index::Paged, &[Codec::Raw, Codec::Zstd])),
        sample(&written(Index::Plain, &[Codec::Raw, Codec::ZstdPreset])),
        sample(&written(Index::Plain, &[Codec::Lzma, Codec::Zstd, Codec::Raw, Codec::LzmaPreset])),
    ];
    torture(&Reader { name: "packs", samples, decode: decode::pack, inflates: RAW_BYTES }).unwrap();
}

#[test]
fn descriptors() {
    let mut descriptor = Descriptor::new(1 << 20, [7; 16], 0);
    descriptor.pack = -4096;
    let one = descriptor.encode().to_vec();
    let two = [one.clone(), one.clone()].concat();
    let mut longer = [&one[..], &[0; 8]].concat();
    longer[8] = 72;
    let samples = [one, two, longer].map(|bytes| {
        let list = [
            ("magic", 0, 8),
            ("size", 8, 4),
            ("version", 12, 2),
            ("flags", 14, 2),
            ("pack", 16, 8),
            ("pack's size", 24, 8),
        ];
        Sample { header: bytes.len(), fields: fields(0, &list), bytes }
    });
    let samples = samples.into();
    torture(&Reader { name: "descriptors", samples, decode: decode::descriptors, inflates: 0 }).unwrap();
}
