//! Programs, objects and archives.

use crate::decode;
use crate::harness::{Field, Reader, Sample, fields, size_at, torture};

fn sample(bytes: &[u8], fields: Vec<Field>) -> Sample {
    Sample { bytes: bytes.to_vec(), fields, header: 128 }
}

/// Header, segments and sections of a 64-bit file.
pub fn elf(bytes: &[u8]) -> Vec<Field> {
    let header = [
        ("e_phoff", 32, 8),
        ("e_shoff", 40, 8),
        ("e_phentsize", 54, 2),
        ("e_phnum", 56, 2),
        ("e_shentsize", 58, 2),
        ("e_shnum", 60, 2),
        ("e_shstrndx", 62, 2),
        ("e_machine", 18, 2),
        ("e_type", 16, 2),
    ];
    let mut all = fields(0, &header);
    for index in 0..size_at(bytes, 56, 2) {
        let at = size_at(bytes, 32, 8) + index * 56;
        all.extend(fields(
            at,
            &[("p_offset", 8, 8), ("p_vaddr", 16, 8), ("p_filesz", 32, 8), ("p_type", 0, 4)],
        ));
    }
    for index in 0..size_at(bytes, 60, 2) {
        let at = size_at(bytes, 40, 8) + index * 64;
        let section = [
            ("sh_name", 0, 4),
            ("sh_type", 4, 4),
            ("sh_offset", 24, 8),
            ("sh_size", 32, 8),
            ("sh_info", 44, 4),
        ];
        all.extend(fields(at, &section));
    }
    all
}

#[test]
fn elf_files() {
    let files = [
        &include_bytes!("../../../tests/data/carrier/pie.elf")[..],
        include_bytes!("../../../tests/data/carrier/elf.o"),
        include_bytes!("../../../tests/data/carrier/nosections.elf"),
    ];
    let samples = files.map(|bytes| sample(bytes, elf(bytes))).into_iter().collect();
    torture(&Reader { name: "ELF carriers", samples, decode: decode::carrier, inflates: 0 }).unwrap();
}

#[test]
fn windows_mac_and_archives() {
    let coff = fields(
        0,
        &[
            ("sections", 2, 2),
            ("symbols", 8, 4),
            ("symbol count", 12, 4),
            ("section size", 36, 4),
            ("section offset", 40, 4),
        ],
    );
    let archive = fields(0, &[("member size", 56, 4), ("member size", 60, 4)]);
    let samples = vec![
        sample(include_bytes!("../../../tests/data/carrier/coff.obj"), coff),
        sample(include_bytes!("../../../tests/data/carrier/lib.a"), archive),
        sample(include_bytes!("../../../tests/data/carrier/win.exe"), fields(0, &[("e_lfanew", 60, 4)])),
    ];
    torture(&Reader { name: "COFF, PE and archive carriers", samples, decode: decode::carrier, inflates: 0 })
        .unwrap();
}

#[test]
fn universal_mach_o() {
    let all = fields(0, &[("architectures", 4, 4), ("offset", 16, 4), ("size", 20, 4), ("offset", 36, 4)]);
    // The two files lie far apart; what is between them says nothing.
    let bytes = include_bytes!("../../../tests/data/carrier/universal.o");
    let mut small = bytes[..48].to_vec();
    let first = u32::from_be_bytes(bytes[16..20].try_into().unwrap()) as usize;
    let size = u32::from_be_bytes(bytes[20..24].try_into().unwrap()) as usize;
    small[4..8].copy_from_slice(&1u32.to_be_bytes());
    small[16..20].copy_from_slice(&48u32.to_be_bytes());
    small.extend(&bytes[first..first + size]);
    torture(&Reader {
        name: "Mach-O carriers",
        samples: vec![sample(&small, all)],
        decode: decode::carrier,
        inflates: 0,
    })
    .unwrap();
}
