//! Native images of NVIDIA and AMD, and PTX.

use crate::carrier::elf;
use crate::decode;
use crate::harness::{Reader, Sample, fields, torture};

fn elf_sample(bytes: &[u8]) -> Sample {
    Sample { bytes: bytes.to_vec(), fields: elf(bytes), header: 128 }
}

#[test]
fn cubins() {
    let files = [
        &include_bytes!("../../../tests/data/calls-12.9-sm_100a.cubin")[..],
        include_bytes!("../../../tests/data/device-12.9-sm_80.cubin"),
        include_bytes!("../../../tests/data/device-13.5-sm_90a.cubin"),
    ];
    let samples = files.map(elf_sample).into();
    torture(&Reader { name: "cubins", samples, decode: decode::cubin, inflates: 0 }).unwrap();
}

#[test]
fn code_objects() {
    let files = [
        &include_bytes!("../../../tests/data/device-gfx1100.co")[..],
        include_bytes!("../../../tests/data/device-gfx11-generic.co"),
        include_bytes!("../../../tests/data/saxpy-reduce-gfx90a.co"),
    ];
    let samples = files.map(|bytes| {
        let mut sample = elf_sample(bytes);
        // The description in MessagePack: bytes that tell types and sizes.
        let start = bytes.windows(8).position(|window| window == b"AMDGPU\0\0").unwrap();
        let description = (0..400).step_by(3).flat_map(|at| fields(start + 8 + at, &[("description", 0, 1)]));
        sample
            .fields
            .extend(fields(start - 12, &[("note's name", 0, 4), ("note's size", 4, 4), ("note", 8, 4)]));
        sample.fields.extend(description);
        sample
    });
    let samples = samples.into();
    torture(&Reader { name: "code objects", samples, decode: decode::code_object, inflates: 0 }).unwrap();
}

#[test]
fn ptx() {
    let files = [
        &include_bytes!("../../../tests/data/calls.ptx")[..],
        include_bytes!("../../../tests/data/device-nvcc.ptx"),
        include_bytes!("../../../tests/data/device-clang.ptx"),
    ];
    let samples = files.map(|bytes| Sample { bytes: bytes.to_vec(), fields: Vec::new(), header: 800 }).into();
    torture(&Reader { name: "PTX", samples, decode: decode::ptx, inflates: 0 }).unwrap();
}
