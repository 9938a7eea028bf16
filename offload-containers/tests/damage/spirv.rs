//! SPIR-V: reading, renaming, adding entry points.

use crate::decode;
use crate::harness::{Reader, Sample, fields, torture};

#[test]
fn modules() {
    let sample = |bytes: &[u8]| {
        let words: Vec<(&'static str, usize, usize)> =
            (0..bytes.len().min(240) / 4).map(|word| ("word", word * 4, 4)).collect();
        let halves = (5..bytes.len().min(240) / 4).map(|word| ("word count", word * 4 + 2, 2));
        let all = [words.clone(), halves.collect()].concat();
        Sample { bytes: bytes.to_vec(), fields: fields(0, &all), header: 400 }
    };
    let samples = [
        &include_bytes!("../../../tests/data/saxpy-reduce.spv")[..],
        include_bytes!("../../../tests/data/import.spv"),
        include_bytes!("../../../tests/data/aspects.spv"),
    ];
    let samples = samples.map(sample).into_iter().collect();
    torture(&Reader { name: "SPIR-V", samples, decode: decode::spirv, inflates: 0 }).unwrap();
}
