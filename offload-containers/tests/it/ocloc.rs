//! Archives and ELF files of Intel's compiler, read and written again.
#![cfg(feature = "ocloc")]

use offload_containers::ocloc::{self, Device, MemberKind, OclocImage, OpenClElfKind, SectionKind};
use offload_format::{ErrorKind, Limits};

const TWO: &[u8] = include_bytes!("../../../tests/data/two.ocloc");
const DG1: &[u8] = include_bytes!("../../../tests/data/saxpy-reduce-dg1.clelf");
const SPIRV: &[u8] = include_bytes!("../../../tests/data/saxpy-reduce.spv");

#[test]
fn an_archive_of_ocloc_is_read() {
    let archive = ocloc::parse(TWO, &Limits::default()).unwrap();
    let names: Vec<&str> = archive.members.iter().map(|member| member.name).collect();
    assert_eq!(names, ["64.12.60.7", "64.12.10.0", "generic_ir"]);
    assert_eq!(archive.spirv().unwrap(), Some(SPIRV));
    for member in &archive.members {
        let at = member.data.as_ptr() as usize - TWO.as_ptr() as usize;
        assert_eq!(at % 8, 0, "{}", member.name);
    }
    let native = ocloc::parse_elf(archive.members[0].data).unwrap();
    assert_eq!(native.kind, OpenClElfKind::Executable);
    assert!(native.section(SectionKind::DeviceBinary).unwrap().starts_with(b"CTNI"));
}

#[test]
fn an_archive_is_written_as_ocloc_writes_it() {
    let archive = ocloc::parse(TWO, &Limits::default()).unwrap();
    let images: Vec<OclocImage<'_>> = (archive.members.iter())
        .filter_map(|member| match member.kind() {
            MemberKind::Device(device) => Some(OclocImage { device, bytes: member.data }),
            _ => None,
        })
        .collect();
    assert_eq!(images.len(), 2);
    assert!(ocloc::write(&images, Some(SPIRV)).unwrap() == TWO);
}

#[test]
fn images_of_any_size_stay_aligned() {
    let bytes = [7; 20];
    let mut images = Vec::new();
    for size in 0..20 {
        let device = Device { pointer_bits: 64, major: 12, minor: size, revision: 0 };
        images.push(OclocImage { device, bytes: &bytes[..size as usize] });
    }
    for spirv in [None, Some(SPIRV)] {
        let file = ocloc::write(&images, spirv).unwrap();
        let archive = ocloc::parse(&file, &Limits::default()).unwrap();
        for (member, OclocImage { device, bytes }) in archive.members.iter().zip(&images) {
            assert_eq!((member.kind(), member.data), (MemberKind::Device(*device), *bytes));
            let at = (member.data.as_ptr() as usize).wrapping_sub(file.as_ptr() as usize);
            assert!(at.is_multiple_of(8) || bytes.is_empty(), "{device} at {at}");
        }
        assert_eq!(
            (archive.members.len(), archive.spirv().unwrap()),
            (20 + usize::from(spirv.is_some()), spirv)
        );
    }
    let twice = [images[0], images[0]];
    assert!(matches!(ocloc::write(&twice, None).unwrap_err().kind(), ErrorKind::Text { offset: 1, .. }));
    let long = Device { pointer_bits: 64, major: 65000, minor: 65000, revision: 100 };
    assert!(ocloc::write(&[OclocImage { device: long, bytes: b"" }], None).is_err());
}

#[test]
fn elf_files_of_the_compiler_are_read() {
    let file = ocloc::parse_elf(DG1).unwrap();
    let kinds: Vec<SectionKind> = file.sections.iter().map(|section| section.kind).collect();
    assert_eq!(kinds, [SectionKind::SpirV, SectionKind::DeviceBinary, SectionKind::Other(3)]);
    assert_eq!(file.section(SectionKind::SpirV), Some(SPIRV));
    assert_eq!(file.section(SectionKind::BuildOptions), None);
}

#[test]
fn other_files_are_not_taken_for_it() {
    let limits = Limits::default();
    let object = format!("!<arch>\n{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\nx\n", "main.o/", 0, 0, 0, 644, 1);
    for file in [&b"!<arch>\n"[..], object.as_bytes(), DG1] {
        let error = ocloc::parse(file, &limits).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Magic { .. }), "{error}");
    }
    assert!(matches!(ocloc::parse_elf(TWO).unwrap_err().kind(), ErrorKind::Magic { .. }));
    let few = limits.with_entries(2);
    assert!(matches!(ocloc::parse(TWO, &few).unwrap_err().kind(), ErrorKind::TooMany { .. }));
    for end in 0..TWO.len() {
        // What is cut behind a member is an archive of its own.
        let read = ocloc::parse(&TWO[..end], &limits);
        assert!(read.is_err() || read.unwrap().members.len() < 3);
    }
}
