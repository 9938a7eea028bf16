//! The search for device images in programs, libraries, objects and archives of real linkers.
#![cfg(feature = "carrier")]

use offload_containers::carrier::{FileKind, ImageRange, RangeOrigin, find};
use offload_format::codec::{self, Codec};
use offload_format::pack::{NewImage, PackBuilder};
use offload_format::{ErrorKind, Limits};

const PIE: &[u8] = include_bytes!("../../../tests/data/carrier/pie.elf");
const STATIC: &[u8] = include_bytes!("../../../tests/data/carrier/static.elf");
const NO_SECTIONS: &[u8] = include_bytes!("../../../tests/data/carrier/nosections.elf");
const A64: &[u8] = include_bytes!("../../../tests/data/carrier/a64.so");
const OBJECT: &[u8] = include_bytes!("../../../tests/data/carrier/elf.o");
const COFF: &[u8] = include_bytes!("../../../tests/data/carrier/coff.obj");
const PE: &[u8] = include_bytes!("../../../tests/data/carrier/win.exe");
const UNIVERSAL: &[u8] = include_bytes!("../../../tests/data/carrier/universal.o");
const ARCHIVE: &[u8] = include_bytes!("../../../tests/data/carrier/lib.a");
const TWO: &[u8] = include_bytes!("../../../tests/data/two.offload");

const FATBIN: &[u8] = b"\x50\xed\x55\xba\x01\0\x10\0\x08\0\0\0\0\0\0\0_cubin_";

fn all(file: &[u8]) -> Vec<ImageRange<'_>> {
    let found = find(file, &Limits::default()).unwrap();
    for it in &found {
        // Offset and bytes agree.
        assert_eq!(&file[it.offset as usize..][..it.bytes.len()], it.bytes);
    }
    found
}

/// Origin and kind of each range, sorted.
fn shown(found: &[ImageRange<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    for it in found {
        let origin = match it.origin {
            RangeOrigin::Whole => "whole".to_string(),
            RangeOrigin::Section(name) => String::from_utf8_lossy(name).into_owned(),
            RangeOrigin::Wrapper => "wrapper".to_string(),
            RangeOrigin::KpackReference { index } => format!("kpack {index}"),
            RangeOrigin::Sycl(image) => format!("sycl {} {} {}", image.version, image.target, image.format),
            RangeOrigin::Bytes => "bytes".to_string(),
            _ => panic!("{it:?}"),
        };
        let kind = it.kind.map_or("-".to_string(), |kind| kind.to_string());
        lines.push(format!("{origin}: {kind}"));
    }
    lines.sort();
    lines
}

const SYCL: [&str; 3] =
    ["sycl 2 spir64 2: SPIR-V", "sycl 3 spir64 2: SPIR-V", "sycl 3 spir64_gen 4: zstd frame"];
const WRAPPERS: [&str; 2] = ["wrapper: CUDA fatbin", "wrapper: clang offload bundle"];

#[test]
fn programs_and_libraries_with_relocations() {
    // Position-independent with RELA, at fixed addresses, with packed relocations, and an object.
    for (name, file) in [("pie", PIE), ("static", STATIC), ("a64", A64), ("object", OBJECT)] {
        let found = all(file);
        let expected = [&["kpack 7: -"][..], &SYCL, &WRAPPERS].concat();
        assert_eq!(shown(&found), expected, "{name}");
        let fatbin = found.iter().find(|it| it.kind == Some(FileKind::CudaFatbin)).unwrap();
        assert!(fatbin.bytes.starts_with(FATBIN));
        let bundle = found.iter().find(|it| it.kind == Some(FileKind::ClangBundle)).unwrap();
        assert!(bundle.bytes.ends_with(b"_hipcode"));
        let kpack = found.iter().find(|it| matches!(it.origin, RangeOrigin::KpackReference { .. })).unwrap();
        assert!(kpack.bytes.starts_with(b"\x82kpack"));
        let sycl = found.iter().filter_map(|it| match it.origin {
            RangeOrigin::Sycl(image) => Some((image.target, it.bytes)),
            _ => None,
        });
        let mut sycl: Vec<_> = sycl.collect();
        sycl.sort_unstable();
        let spirv = &b"\x03\x02\x23\x07\0\0\x01\0first"[..];
        let native = &b"\x28\xb5\x2f\xfdsecond image"[..];
        assert_eq!(sycl, [("spir64", spirv), ("spir64", spirv), ("spir64_gen", native)], "{name}");
    }
}

#[test]
fn a_file_without_section_headers() {
    let found = all(NO_SECTIONS);
    let expected = [&["bytes: CUDA fatbin", "bytes: clang offload bundle"][..], &SYCL].concat();
    assert_eq!(shown(&found), expected);
    assert_eq!(
        found.iter().find(|it| it.kind == Some(FileKind::CudaFatbin)).unwrap().bytes,
        &[FATBIN, b"\0"].concat()[..24]
    );
}

#[test]
fn windows() {
    let expected = [&SYCL[..], &WRAPPERS].concat();
    assert_eq!(shown(&all(COFF)), expected);
    assert_eq!(shown(&all(PE)), expected);
}

#[test]
fn sections_that_no_wrapper_leads_into() {
    // The wrappers of HIP have lost their magic; those of CUDA are as they were.
    let mut file = PIE.to_vec();
    for magic in [0x4849_5046u32, 0x4b50_4948] {
        let at = file.windows(4).position(|window| window == magic.to_le_bytes()).unwrap();
        file[at] = 0;
    }
    let hip = [".hip_fatbin: clang offload bundle", "kpack 0: -"];
    let expected = [&hip[..], &SYCL, &["wrapper: CUDA fatbin"]].concat();
    assert_eq!(shown(&all(&file)), expected);
}

#[test]
fn mach_o_of_two_architectures() {
    let found = all(UNIVERSAL);
    assert_eq!(shown(&found), ["__nv_fatbin: CUDA fatbin"; 2]);
    assert!(found.iter().all(|it| it.bytes.starts_with(FATBIN)));
}

fn shown_of_member(found: &[ImageRange<'_>], member: &str) -> Vec<String> {
    let of_member = found.iter().filter(|it| it.member == Some(member.as_bytes()));
    shown(&of_member.copied().collect::<Vec<_>>())
}

#[test]
fn members_of_an_archive() {
    let found = all(ARCHIVE);
    assert_eq!(shown_of_member(&found, "embedded.o"), [".llvm.offloading: OffloadBinary"]);
    assert_eq!(shown_of_member(&found, "two.offload"), ["whole: OffloadBinary"]);
    assert_eq!(shown_of_member(&found, "coff.obj"), [&SYCL[..], &WRAPPERS].concat());
    assert_eq!(found.len(), 7);
    assert!(found.iter().filter(|it| it.kind == Some(FileKind::OffloadBinary)).all(|it| it.bytes == TWO));
}

#[test]
fn containers_are_found_as_they_are() {
    assert_eq!(shown(&all(TWO)), ["whole: OffloadBinary"]);
    assert_eq!(shown(&all(b"\x03\x02\x23\x07")), ["whole: SPIR-V"]);
    for nothing in [&b""[..], b"text", b"MZ", b"#!/bin/sh\n"] {
        assert!(find(nothing, &Limits::default()).unwrap_or_default().is_empty(), "{nothing:?}");
    }
}

fn pack() -> Vec<u8> {
    let frame = codec::encode(b"image", Codec::Raw, 0).unwrap();
    let mut builder = PackBuilder::new("sample", "1.0.0");
    builder.image(NewImage::new("m", "spirv64".parse().unwrap()), frame.info()).unwrap();
    builder.finish().unwrap().with_frames([&frame]).unwrap()
}

#[test]
fn packs_in_a_file_without_section_headers() {
    let pack = pack();
    let mut file = NO_SECTIONS.to_vec();
    file.resize(file.len().next_multiple_of(8) + 16, 0x55);
    let first = file.len();
    file.extend(&pack);
    file.resize(file.len().next_multiple_of(8), 0);
    file.extend(&pack);
    let found = all(&file);
    let packs: Vec<_> = found.iter().filter(|it| it.kind == Some(FileKind::Pack)).collect();
    assert_eq!(packs.len(), 2);
    assert_eq!((packs[0].offset, packs[0].bytes), (first as u64, &pack[..]));
}

#[test]
fn limits_hold() {
    let error = find(ARCHIVE, &Limits::default().with_entries(3)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::TooMany { .. }), "{error}");
    let error = find(ARCHIVE, &Limits::default().with_depth(0)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Nested { .. }), "{error}");
    // A universal file whose architectures are the file itself.
    let mut loops = [&b"\xca\xfe\xba\xbe\0\0\0\x08"[..], &[0; 8 * 20]].concat();
    let size = loops.len() as u8;
    (0..8).for_each(|arch| loops[8 + arch * 20 + 15] = size);
    for depth in [8, u32::MAX] {
        let error = find(&loops, &Limits::default().with_depth(depth)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Nested { .. } | ErrorKind::TooLarge { .. }), "{error}");
    }
}

fn elf(machine: u16, kind: u16) -> Vec<u8> {
    let mut header = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    header.extend(kind.to_le_bytes());
    header.extend(machine.to_le_bytes());
    header.resize(64, 0);
    header
}

fn archive(name: &[u8]) -> Vec<u8> {
    [b"!<arch>\n", name, &[b' '; 60]].concat()
}

#[test]
fn every_kind_is_known_by_its_first_bytes() {
    for (bytes, kind) in [
        (include_bytes!("../../../tests/data/sample.pack").to_vec(), FileKind::Pack),
        (include_bytes!("../../../tests/data/saxpy-reduce.spv").to_vec(), FileKind::SpirV),
        (include_bytes!("../../../tests/data/saxpy-reduce.zebin").to_vec(), FileKind::Zebin),
        (include_bytes!("../../../tests/data/saxpy-reduce-gfx90a.co").to_vec(), FileKind::AmdCodeObject),
        (include_bytes!("../../../tests/data/device-12.9-sm_80.cubin").to_vec(), FileKind::Cubin),
        (include_bytes!("../../../tests/data/device-clang.ptx").to_vec(), FileKind::Ptx),
        (include_bytes!("../../../tests/data/device-nvcc.ptx").to_vec(), FileKind::Ptx),
        (include_bytes!("../../../tests/data/triton-add.ptx").to_vec(), FileKind::Ptx),
        (OBJECT.to_vec(), FileKind::Elf),
        (COFF.to_vec(), FileKind::Coff),
        (PE.to_vec(), FileKind::Pe),
        (UNIVERSAL.to_vec(), FileKind::MachOUniversal),
        (ARCHIVE.to_vec(), FileKind::Archive),
        (TWO.to_vec(), FileKind::OffloadBinary),
        (elf(0, 0xff04), FileKind::IntelOpenClElf),
        (elf(62, 0xff04), FileKind::IntelOpenClElf),
        (elf(0, 0xff12), FileKind::Zebin),
        (elf(205, 1), FileKind::Zebin),
        (archive(b"64.12.60.7/     "), FileKind::OclocArchive),
        (archive(b"generic_ir/     "), FileKind::OclocArchive),
        (archive(b"main.o/         "), FileKind::Archive),
        (b"IBYS\x01\0\0\0".to_vec(), FileKind::Syclbin),
        (b"CCOB\x02\0".to_vec(), FileKind::CompressedBundle),
        (b"__CLANG_OFFLOAD_BUNDLE__".to_vec(), FileKind::ClangBundle),
        (b"# __CLANG_OFFLOAD_BUNDLE____START__ host-x".to_vec(), FileKind::ClangBundleText),
        (b"\n; __CLANG_OFFLOAD_BUNDLE____START__ host-x".to_vec(), FileKind::ClangBundleText),
        (b"KPAK\x01\0\0\0".to_vec(), FileKind::Kpack),
        (b"BC\xc0\xde".to_vec(), FileKind::LlvmBitcode),
        (b"CTNI".to_vec(), FileKind::PatchTokens),
        (b"\x78\x9c\x01".to_vec(), FileKind::Zlib),
        (b"\n\n /* a */ // b\n.version 8.7".to_vec(), FileKind::Ptx),
        (b"\xcf\xfa\xed\xfe".to_vec(), FileKind::MachO),
    ] {
        assert_eq!(FileKind::detect(&bytes), Some(kind), "{:02x?}", &bytes[..bytes.len().min(16)]);
    }
    for nothing in [&b"// a comment"[..], b"/* open", b"\xca\xfe\xba\xbe\0\0\0\x34", b"\x64\x86", b"/", b"//"]
    {
        assert_eq!(FileKind::detect(nothing), None, "{nothing:?}");
    }
}

#[cfg(feature = "syclbin")]
#[test]
fn a_syclbin_is_distinguished_from_other_images() {
    use offload_containers::syclbin::{BundleState, ImageKindNumber, NewModule, write};
    let module = NewModule::default().with_spirv(b"...");
    let file = write(BundleState::Executable, &[module], ImageKindNumber::ONEAPI_2025_3).unwrap();
    assert_eq!(FileKind::detect(&file), Some(FileKind::Syclbin));

    // Each SYCLBIN is a range, with or without an envelope; the binaries between two of them are one range.
    let bare = file[0x50..].to_vec();
    // The image's three bytes are padded.
    let unpadded = bare.len() - 5;
    let all = [&file[..], TWO, TWO, &bare, &file].concat();
    let found = find(&all, &Limits::default()).unwrap();
    let sizes: Vec<_> = found.iter().map(|it| (it.offset as usize, it.bytes.len())).collect();
    let two = 2 * TWO.len();
    let ends = [file.len(), file.len() + two, file.len() + two + bare.len()];
    assert_eq!(sizes, [(0, file.len()), (ends[0], two), (ends[1], unpadded), (ends[2], file.len())]);
    assert_eq!(shown(&found)[..2], ["whole: OffloadBinary", "whole: SYCLBIN"]);
    // A runtime ignores trailing bytes; a truncated SYCLBIN is found.
    assert_eq!(find(&[&file[..], b"trailing"].concat(), &Limits::default()).unwrap().len(), 1);
    let cut = [&file[..], &file[..file.len() - 8]].concat();
    assert_eq!(find(&cut, &Limits::default()).unwrap()[1].bytes.len(), file.len() - 8);
}

#[test]
fn binaries_in_a_section_of_any_name() {
    let at = ARCHIVE.windows(17).position(|window| window == b".llvm.offloading\0").unwrap();
    let mut file = ARCHIVE.to_vec();
    file[at..at + 5].copy_from_slice(b".mine");
    let found = all(&file);
    assert!(shown(&found).contains(&".mine.offloading: OffloadBinary".to_string()), "{found:?}");
    assert_eq!(found.len(), 7);
    // Data may start like an envelope by chance.
    let section = found.iter().find(|it| it.origin == RangeOrigin::Section(b".mine.offloading")).unwrap();
    let size = section.offset as usize + 8;
    file[size + 2] = 255;
    assert_eq!(all(&file).len(), 6);
}
