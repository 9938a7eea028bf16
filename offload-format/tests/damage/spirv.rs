//! SPIR-V: reading, renaming, adding entry points.

use offload_format::Limits;
use offload_format::spirv::{Module, with_added_entry_points, with_prefixed_kernels};

use crate::harness::{Sample, Subject, fields, torture};

fn decode(bytes: &[u8]) -> Option<u64> {
    let module = Module::parse(bytes, &Limits::default()).ok()?;
    std::hint::black_box((module.execution_modes().count(), module.generator(), module.aspects()));
    let renamed = with_prefixed_kernels(bytes, "__sycl_kernel_").ok()?;
    let added = with_added_entry_points(bytes, "__sycl_kernel_").ok()?;
    // What was rewritten can be read; renamed and added modules are results, not structure.
    assert!(
        Module::parse(&renamed, &Limits::default()).is_ok()
            && Module::parse(&added, &Limits::default()).is_ok()
    );
    Some((renamed.len() + added.len()) as u64)
}

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
        &include_bytes!("../data/saxpy-reduce.spv")[..],
        include_bytes!("../data/import.spv"),
        include_bytes!("../data/aspects.spv"),
    ];
    let samples = samples.map(sample).into_iter().collect();
    torture(&Subject { name: "SPIR-V", samples, decode }).unwrap();
}
