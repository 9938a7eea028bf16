//! Files of Intel's ocloc: archives, ELF files with a device binary, zebins.

use offload_containers::ocloc::OclocImage;

use crate::carrier::elf;
use crate::decode;
use crate::harness::{Field, Reader, Sample, fields, torture};

const MEMBER: [(&str, usize, usize); 4] =
    [("member's name", 0, 8), ("member's size", 48, 8), ("member's size", 50, 8), ("member's end", 58, 2)];

fn members(bytes: &[u8]) -> Vec<Field> {
    let mut all = Vec::new();
    let mut at = 8;
    while at + 60 <= bytes.len() {
        all.extend(fields(at, &MEMBER));
        let size: usize = std::str::from_utf8(&bytes[at + 48..at + 58]).unwrap().trim().parse().unwrap();
        at += 60 + size + size % 2;
    }
    all
}

#[test]
fn archives() {
    let whole = include_bytes!("../../../tests/data/two.ocloc");
    let elf = include_bytes!("../../../tests/data/saxpy-reduce-dg1.clelf");
    let image = OclocImage { device: "64.12.10.0".parse().unwrap(), bytes: elf };
    let one = offload_containers::ocloc::write(&[image], None).unwrap();
    let ir = offload_containers::ocloc::write(&[], Some(include_bytes!("../../../tests/data/import.spv")))
        .unwrap();
    let samples = [&whole[..], &one, &ir].map(|bytes| Sample {
        bytes: bytes.to_vec(),
        fields: members(bytes),
        header: 160,
    });
    let samples = samples.into();
    let decode = decode::ocloc_archive;
    torture(&Reader { name: "archives of ocloc", samples, decode, inflates: 0 }).unwrap();
}

/// A file with its fields; where the table of sections lies at the end, its first headers are attacked too.
fn elf_sample(bytes: &[u8]) -> Sample {
    Sample { bytes: bytes.to_vec(), fields: elf(bytes), header: 128 }
}

#[test]
fn elf_files_with_a_device_binary() {
    let whole = include_bytes!("../../../tests/data/saxpy-reduce-dg1.clelf");
    let ir = offload_containers::ocloc::write(&[], Some(include_bytes!("../../../tests/data/import.spv")))
        .unwrap();
    let limits = offload_format::Limits::default();
    let inner = offload_containers::ocloc::parse(&ir, &limits).unwrap().members[0].data;
    let mut other = whole.to_vec();
    other[16] = 5;
    let samples = vec![elf_sample(whole), elf_sample(inner), elf_sample(&other)];
    let decode = decode::ocloc_elf;
    torture(&Reader { name: "ELF files of Intel's OpenCL", samples, decode, inflates: 0 }).unwrap();
}

#[test]
fn zebins() {
    let whole = include_bytes!("../../../tests/data/saxpy-reduce.zebin");
    let note = whole.windows(8).position(|window| window == b"IntelGT\0").unwrap() - 12;
    let mut samples = Vec::new();
    // As it is; and without a machine number, with a type that older compilers write.
    for type_and_machine in [&whole[16..20], &[0x12, 0xff, 0, 0], &[0x13, 0xff, 0, 0]] {
        let mut sample = elf_sample(whole);
        sample.bytes[16..20].copy_from_slice(type_and_machine);
        for at in (note..note + 100).step_by(4) {
            sample.fields.extend(fields(at, &[("note", 0, 4)]));
        }
        samples.push(sample);
    }
    torture(&Reader { name: "zebins", samples, decode: decode::zebin, inflates: 0 }).unwrap();
}
