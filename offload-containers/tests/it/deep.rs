//! Images that lie outside of the sections in which tool chains put them.
#![cfg(feature = "contents")]

use offload_containers::carrier::{self, FileKind};
use offload_containers::{Limits, bundle, contents, deep};

const CODE_OBJECT: &[u8] = include_bytes!("../../../tests/data/device-gfx906.co");
const CUBIN: &[u8] = include_bytes!("../../../tests/data/device-12.9-sm_80.cubin");
const FATBIN: &[u8] = include_bytes!("../../../tests/data/zstd.fatbin");

fn section_header(words: [u32; 2], [offset, size]: [u64; 2]) -> Vec<u8> {
    let mut header = [words[0].to_le_bytes(), words[1].to_le_bytes()].concat();
    [0, 0, offset, size, 0, 1, 0].iter().for_each(|field| header.extend(field.to_le_bytes()));
    header
}

/// An ELF object with one section, `.rodata`, that holds `content`.
fn library(content: &[u8]) -> Vec<u8> {
    let names = b"\0.rodata\0.shstrtab\0";
    let start = 64u64;
    let names_at = 64 + content.len() as u64;
    let table = (names_at + names.len() as u64).next_multiple_of(8);
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x01\0\x3e\0\x01\0\0\0".to_vec();
    [0, 0, table].iter().for_each(|field| file.extend(field.to_le_bytes()));
    [0u16, 0, 64, 0, 0, 64, 3, 2].iter().for_each(|field| file.extend(field.to_le_bytes()));
    file.extend_from_slice(content);
    file.extend_from_slice(names);
    file.resize(table as usize, 0);
    file.resize(table as usize + 64, 0);
    file.extend(section_header([1, 1], [start, content.len() as u64]));
    file.extend(section_header([9, 3], [names_at, names.len() as u64]));
    file
}

/// `parts`, each at a multiple of 16, with other bytes between them.
fn laid_out(parts: &[&[u8]]) -> Vec<u8> {
    let mut content = b"constants".to_vec();
    for part in parts {
        content.resize(content.len().next_multiple_of(16), 0xa5);
        content.extend_from_slice(part);
    }
    [&content[..], b"more constants"].concat()
}

fn kinds(file: &[u8]) -> Vec<FileKind> {
    let found = deep::find(file, &Limits::default()).unwrap();
    found.iter().filter_map(|found| found.kind).collect()
}

#[test]
fn images_among_constants_are_found_whole() {
    let id = "hipv4-amdgcn-amd-amdhsa--gfx906";
    let bundled =
        bundle::write(&[bundle::BundleImage { id, bytes: CODE_OBJECT }], bundle::HIP_ALIGN).unwrap();
    let parts = [FATBIN, CODE_OBJECT, &bundled, CUBIN, FATBIN];
    let file = library(&laid_out(&parts));
    let limits = Limits::default();
    assert!(carrier::find(&file, &limits).unwrap().is_empty());
    let found = deep::find(&file, &limits).unwrap();
    assert_eq!(found.len(), parts.len());
    for (found, part) in found.iter().zip(parts) {
        assert!(found.bytes.len() <= part.len() && part.starts_with(found.bytes), "{:?}", found.kind);
        let images = contents::images_of(found, &limits).unwrap();
        assert!(images.iter().all(|image| image.decode(&limits).is_ok()) && !images.is_empty());
    }
}

#[test]
fn what_no_reader_takes_is_not_found() {
    let cut = &CODE_OBJECT[..CODE_OBJECT.len() - 64];
    let magics: [&[u8]; 4] = [b"\x50\xed\x55\xba", b"\x7fELF", b"CCOB", b"__CLANG_OFFLOAD_BUNDLE__"];
    assert_eq!(kinds(&library(&laid_out(&magics))), []);
    // The last one reaches beyond the end of the file.
    assert_eq!(
        kinds(&laid_out(&[CODE_OBJECT, cut])[..CODE_OBJECT.len() + cut.len()]),
        [FileKind::AmdCodeObject]
    );
}

#[test]
fn a_thousand_headers_are_found_and_false_ones_are_refused_soon() {
    let raw: Vec<&[u8]> = vec![CODE_OBJECT; 1184];
    assert_eq!(kinds(&library(&laid_out(&raw))).len(), 1184);
    // Each claims all that follows it.
    let mut header = CODE_OBJECT[..64].to_vec();
    header[56..58].copy_from_slice(&0u16.to_le_bytes());
    header[60..62].copy_from_slice(&0x0fffu16.to_le_bytes());
    let file = [&b"constant"[..], &header.repeat(1 << 14)].concat();
    let error = deep::find(&file, &Limits::default()).map(|found| found.len()).unwrap_err();
    assert!(error.to_string().contains("the search of the file"), "{error}");
}

/// Every byte of the headers of what lies in the file is changed once: nothing panics, and what is found can be listed.
#[test]
fn damaged_images_are_refused_or_listed() {
    let file = library(&laid_out(&[FATBIN, CODE_OBJECT, CUBIN]));
    let limits = Limits::default();
    let starts: Vec<usize> =
        deep::find(&file, &limits).unwrap().iter().map(|it| it.offset as usize).collect();
    assert_eq!(starts.len(), 3);
    let mut refused = 0;
    for at in starts.into_iter().flat_map(|start| start..start + 64) {
        let mut damaged = file.clone();
        damaged[at] ^= 0x91;
        let found = deep::find(&damaged, &limits).unwrap_or_default();
        assert!(found.iter().all(|found| contents::images_of(found, &limits).is_ok()), "byte {at}");
        refused += usize::from(found.len() < 3);
    }
    assert!(refused > 32, "{refused}");
}
