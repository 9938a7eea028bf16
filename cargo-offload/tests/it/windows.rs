//! Changes of the packs in a program for Windows.

use std::fs;

use object::read::pe::PeFile64;
use object::read::{Object, ObjectSection};
use offload_format::codec::Codec;
use offload_format::pack::{NewImage, Pack, Pages};
use offload_format::section::{DESCRIPTOR_ADDRESS, DESCRIPTOR_SIZE, Descriptor, PE_SECTION};

use crate::support::{fails, ok, pack};

const BASE: u64 = 0x1_4000_0000;
const FILE_ALIGNMENT: usize = 0x200;
const PAGE: usize = 0x1000;
/// Offsets in the file, of the COFF header, of the optional header, and of the section headers.
const COFF: usize = 0x84;
const OPTIONAL: usize = COFF + 20;
const TABLE: usize = OPTIONAL + 240;
const CHECKSUM: usize = OPTIONAL + 64;
/// What lies behind the sections.
const SYMBOLS: &[u8] = b"symbols";
const CODE: &[u8] = b"code";
/// The offset of raw data in an entry of the debug directory.
const RAW_DATA: usize = 24;

fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

fn put_word(file: &mut [u8], at: usize, word: usize) {
    put(file, at, &(word as u32).to_le_bytes());
}

fn word(file: &[u8], at: usize) -> usize {
    u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize
}

fn image(target: &str, seed: u8, size: usize) -> (NewImage, Vec<u8>) {
    let mut content: Vec<u8> = (0..size).map(|at| (at as u8).wrapping_mul(seed)).collect();
    put(&mut content, 0, b"MZ");
    (NewImage::new("k", target.parse().unwrap()), content)
}

/// The packs of two crates.
fn packs() -> [Vec<u8>; 2] {
    let first = vec![image("host", 3, 5000), image("opencl-c", 5, 700)];
    let second = vec![image("host", 7, 9000), image("opencl-c", 11, 300)];
    [pack(first, Codec::Raw), pack(second, Codec::Raw)]
}

/// The section with the descriptors of `packs`, and the packs, for memory at `address`.
fn offload_section(packs: &[Vec<u8>], address: u64) -> Vec<u8> {
    let mut content = vec![0; packs.len() * DESCRIPTOR_SIZE as usize];
    for (number, pack) in packs.iter().enumerate() {
        content.resize(content.len().next_multiple_of(16), 0);
        let id = Pack::parse(pack, &Pages::default()).unwrap().id().unwrap().0;
        let mut descriptor = Descriptor::new(pack.len() as u64, id, DESCRIPTOR_ADDRESS);
        descriptor.pack = (address + content.len() as u64).cast_signed();
        put(&mut content, number * DESCRIPTOR_SIZE as usize, &descriptor.encode());
        content.extend(pack);
    }
    content
}

/// A program as a linker leaves it: code, packs, and a debug directory that refers to the symbols behind all.
fn program() -> Vec<u8> {
    let offload = offload_section(&packs(), BASE + 2 * PAGE as u64);
    let next = (2 * PAGE + offload.len()).next_multiple_of(PAGE);
    let sections =
        [(".text", PAGE, CODE.to_vec()), (PE_SECTION, 2 * PAGE, offload), (".rdata", next, vec![0; 28])];
    let mut file = vec![0; 0x400];
    put(&mut file, 0, b"MZ");
    put_word(&mut file, 60, COFF - 4);
    put(&mut file, COFF - 4, b"PE\0\0\x64\x86\x03\0");
    put(&mut file, COFF + 16, &[240, 0, 0x22, 0]);
    put(&mut file, OPTIONAL, &[0x0b, 0x02]);
    put(&mut file, OPTIONAL + 24, &BASE.to_le_bytes());
    put_word(&mut file, OPTIONAL + 32, PAGE);
    put_word(&mut file, OPTIONAL + 36, FILE_ALIGNMENT);
    put_word(&mut file, OPTIONAL + 56, next + PAGE);
    put_word(&mut file, CHECKSUM, 1);
    put_word(&mut file, OPTIONAL + 108, 16);
    // The debug directory.
    put_word(&mut file, OPTIONAL + 112 + 6 * 8, next);
    put_word(&mut file, OPTIONAL + 112 + 6 * 8 + 4, 28);
    let mut initialized = 0;
    for (number, (name, address, content)) in sections.into_iter().enumerate() {
        let header = TABLE + number * 40;
        let size = content.len().next_multiple_of(FILE_ALIGNMENT);
        let offset = file.len();
        put(&mut file, header, name.as_bytes());
        put_word(&mut file, header + 8, content.len());
        put_word(&mut file, header + 12, address);
        put_word(&mut file, header + 16, size);
        put_word(&mut file, header + 20, offset);
        put_word(&mut file, header + 36, 0x4000_0040);
        file.extend(content);
        file.resize(offset + size, 0);
        initialized += size;
    }
    put_word(&mut file, OPTIONAL + 8, initialized);
    let symbols = file.len();
    put_word(&mut file, COFF + 8, symbols);
    let debug = word(&file, TABLE + 2 * 40 + 20);
    put_word(&mut file, debug + RAW_DATA, symbols);
    file.extend(SYMBOLS);
    file
}

/// The sum that the loader computes.
fn checksum(file: &[u8]) -> usize {
    let mut words = file.to_vec();
    put_word(&mut words, CHECKSUM, 0);
    let length = words.len();
    words.resize(length.next_multiple_of(2), 0);
    let mut sum = 0usize;
    for pair in words.chunks_exact(2) {
        sum += usize::from(u16::from_le_bytes([pair[0], pair[1]]));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum + length
}

/// Everything but the packs is what and where it was in memory, and references in the file lead to it.
fn assert_sound(file: &[u8]) {
    let parsed = PeFile64::parse(file).unwrap();
    let text = parsed.section_by_name(".text").unwrap();
    assert_eq!((text.address(), &text.data().unwrap()[..CODE.len()]), (BASE + PAGE as u64, CODE));
    let symbols = word(file, COFF + 8);
    assert_eq!(&file[symbols..], SYMBOLS);
    let debug = word(file, TABLE + 2 * 40 + 20);
    assert_eq!(word(file, debug + RAW_DATA), symbols);
    assert_eq!(word(file, CHECKSUM), checksum(file));
    let sizes: usize = (0..3).map(|number| word(file, TABLE + number * 40 + 16)).sum();
    assert_eq!(word(file, OPTIONAL + 8), sizes);
    for number in 0..3 {
        let header = TABLE + number * 40;
        assert_eq!(word(file, header + 16) % FILE_ALIGNMENT, 0);
        assert_eq!(word(file, header + 8), word(&program(), header + 8), "memory stays");
    }
}

#[test]
fn a_pruned_program_is_smaller_and_all_else_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    let before = program();
    fs::write(path.join("app.exe"), &before).unwrap();
    assert!(ok(path, &["verify", "app.exe"]).contains("4 images verified, 0 problems"));
    ok(path, &["prune", "app.exe", "--keep", "opencl-c", "-o", "small.exe"]);
    let after = fs::read(path.join("small.exe")).unwrap();
    assert_sound(&after);
    assert!(after.len() + 14_000 < before.len() + 2 * FILE_ALIGNMENT, "{}", after.len());
    assert!(ok(path, &["verify", "small.exe"]).contains("2 images verified, 0 problems"));
}

#[test]
fn images_leave_a_program_and_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    fs::write(path.join("app.exe"), program()).unwrap();
    ok(path, &["repack", "app.exe", "--sidecar", "--in-place"]);
    let apart = fs::read(path.join("app.exe")).unwrap();
    assert_sound(&apart);
    assert!(ok(path, &["verify", "app.exe"]).contains("4 images verified, 0 problems"));
    ok(path, &["repack", "app.exe", "--embed", "--in-place"]);
    let whole = fs::read(path.join("app.exe")).unwrap();
    assert_sound(&whole);
    assert!(whole.len() > apart.len() + 14_000);
    assert_eq!(
        fs::read_dir(path).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_file()).count(),
        1
    );
}

#[test]
fn a_signed_program_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut signed = program();
    let certificates = OPTIONAL + 112 + 4 * 8;
    let size = signed.len();
    put_word(&mut signed, certificates, size);
    put_word(&mut signed, certificates + 4, 8);
    signed.extend([8, 0, 0, 0, 0, 2, 2, 0]);
    fs::write(dir.path().join("app.exe"), signed).unwrap();
    let error = fails(dir.path(), &["prune", "app.exe", "--keep", "opencl-c", "-o", "small.exe"], 1);
    assert!(error.contains("is signed") && error.contains("signtool remove"), "{error}");
}

#[test]
fn every_flipped_bit_of_a_descriptor_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let program = program();
    let table = word(&program, TABLE + 40 + 20);
    fs::write(dir.path().join("app.exe"), &program).unwrap();
    ok(dir.path(), &["verify", "app.exe"]);
    for bit in (0..DESCRIPTOR_SIZE as usize * 8).step_by(5) {
        // A descriptor may count the zeros that align the next pack.
        if (192..256).contains(&bit) {
            continue;
        }
        let mut flipped = program.clone();
        flipped[table + bit / 8] ^= 1 << (bit % 8);
        fs::write(dir.path().join("app.exe"), flipped).unwrap();
        fails(dir.path(), &["verify", "app.exe"], 1);
    }
}
