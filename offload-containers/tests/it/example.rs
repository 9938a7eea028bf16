//! The program `examples/list.rs`, over files of real tools.
#![cfg(feature = "contents")]

#[path = "../../examples/list.rs"]
#[allow(dead_code, reason = "its `main` is the program's")]
mod list;

fn lines(file: &[u8]) -> Vec<String> {
    let mut out = Vec::new();
    list::list(file, &mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(words).collect()
}

fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn targets(file: &[u8]) -> Vec<String> {
    lines(file).iter().map(|line| line.split(' ').next().unwrap().to_string()).collect()
}

#[test]
fn a_fatbin_and_an_archive_of_ocloc_are_listed() {
    let stored = include_bytes!("../../../tests/data/stored.fatbin");
    let zstd = include_bytes!("../../../tests/data/zstd.fatbin");
    // Compressed or not, the images and their sizes are the same.
    assert_eq!(lines(stored), lines(zstd));
    assert_eq!(targets(stored), ["cubin:sm_80", "cubin:sm_90a", "cubin:sm_100f", "nvptx:sm_75"]);
    assert!(lines(stored).iter().all(|line| line.ends_with("bytes, found at 0x0")), "{:?}", lines(stored));
    let two = include_bytes!("../../../tests/data/two.ocloc");
    assert!(targets(two).contains(&"intel:pvc".to_string()), "{:?}", targets(two));
}

#[test]
fn the_images_of_a_program_are_listed_where_they_lie() {
    // As `llvm-offload-binary` wrote it, and in a section of a program that was made around it.
    let two = include_bytes!("../../../tests/data/two.offload");
    let alone = lines(two);
    assert_eq!(alone.len(), 2, "{alone:?}");
    let mut program = object(two);
    let placed = lines(&program);
    assert_eq!(placed.len(), 2, "{placed:?}");
    for (alone, placed) in alone.iter().zip(&placed) {
        assert_eq!(alone.replace("0x0", "0x40"), *placed);
    }
    // What is damaged is an error that names it.
    program[0x40 + 8] = 0xff;
    program[0x40 + 15] = 0xff;
    assert!(list::list(&program, &mut Vec::new()).is_err());
}

/// A relocatable ELF file with `images` in the section `.llvm.offloading`.
fn object(images: &[u8]) -> Vec<u8> {
    const NAMES: &[u8] = b"\0.llvm.offloading\0.shstrtab\0";
    let padded = images.len().next_multiple_of(8);
    let names_at = 0x40 + padded;
    let headers_at = (names_at + NAMES.len()).next_multiple_of(8);
    let mut file = vec![0u8; 0x40];
    file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    file[0x10..0x18].copy_from_slice(&[1, 0, 62, 0, 1, 0, 0, 0]);
    file[0x28..0x30].copy_from_slice(&(headers_at as u64).to_le_bytes());
    file[0x34..0x40].copy_from_slice(&[64, 0, 0, 0, 0, 0, 64, 0, 3, 0, 2, 0]);
    file.extend_from_slice(images);
    file.resize(names_at, 0);
    file.extend_from_slice(NAMES);
    file.resize(headers_at + 64, 0);
    for (name, kind, offset, size) in [(1u32, 1u32, 0x40, images.len()), (18, 3, names_at, NAMES.len())] {
        let mut header = [0u8; 64];
        header[..4].copy_from_slice(&name.to_le_bytes());
        header[4..8].copy_from_slice(&kind.to_le_bytes());
        header[24..32].copy_from_slice(&(offset as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(size as u64).to_le_bytes());
        header[48] = 8;
        file.extend_from_slice(&header);
    }
    file
}
