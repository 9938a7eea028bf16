//! SPIR-V: reading, renaming, adding entry points.

use crate::decode;
use crate::harness::{Reader, Sample, fields, torture};

fn sample(bytes: &[u8]) -> Sample {
    let words = bytes.len().min(240) / 4;
    let mut all = Vec::new();
    all.extend((0..words).map(|word| ("word", word * 4, 4)));
    all.extend((5..words).map(|word| ("word count", word * 4 + 2, 2)));
    Sample { bytes: bytes.to_vec(), fields: fields(0, &all), header: 400 }
}

#[test]
fn modules() {
    let samples = [
        &include_bytes!("../../../tests/data/saxpy-reduce.spv")[..],
        include_bytes!("../../../tests/data/import.spv"),
        include_bytes!("../../../tests/data/aspects.spv"),
    ];
    let samples = samples.map(sample).into_iter().collect();
    torture(&Reader { name: "SPIR-V", samples, decode: decode::spirv, inflates: 0 }).unwrap();
}
