//! Small files that claim, or hold, far more than they are.

use std::time::{Duration, Instant};

use offload_containers::{ccob, fatbin, kpack, offload_binary};
use offload_format::{Error, ErrorKind, Limits};

use crate::allocations;
use crate::clang::{as_clang, with_header};

/// A zstd frame of `size` zeros in blocks of 128 KiB that repeat a byte, as made by hand: 4 bytes make 131,072.
fn bomb(size: u64) -> Vec<u8> {
    const BLOCK: u64 = 128 << 10;
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0];
    frame.extend(size.to_le_bytes());
    let mut left = size;
    while left > 0 {
        let block = left.min(BLOCK);
        left -= block;
        let header = (block as u32) << 3 | 1 << 1 | u32::from(left == 0);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

/// Why `read` refuses, in 50 ms and 32 MiB.
fn refused_quickly<T>(read: impl FnOnce() -> Result<T, Error>) -> ErrorKind {
    let start = Instant::now();
    let (result, memory) = allocations::peak(read);
    let time = start.elapsed();
    assert!(time < Duration::from_millis(50), "{time:?}");
    assert!(memory < 32 << 20, "{memory} bytes");
    result.err().expect("a bomb is refused").kind().clone()
}

fn inflate(file: &[u8], limits: &Limits) -> Result<Vec<u8>, Error> {
    ccob::parse(file, limits)?.inflate(limits)
}

/// 131 kB that inflate to 4 GiB, for which clang's bundler takes 8 GiB of memory and half a minute.
#[test]
fn a_compressed_bundle() {
    let size = 4_294_900_000;
    let mut file = with_header(2, 1, b"", &bomb(size));
    file[12..16].copy_from_slice(&(size as u32).to_le_bytes());
    assert!(file.len() < 132_000);
    let limits = Limits::default();
    let limit = 128 * (file.len() as u64 - 24);
    let expected = ErrorKind::TooLarge { what: "the inflated offload bundle", size, limit };
    assert_eq!(refused_quickly(|| inflate(&file, &limits)), expected);
    // A lower declaration is a lie that the frame betrays.
    file[12..16].copy_from_slice(&(1_u32 << 20).to_le_bytes());
    assert!(matches!(refused_quickly(|| inflate(&file, &limits)), ErrorKind::Invalid { .. }));
    // A frame that tells no size is read no further than what is declared.
    let mut silent = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x58];
    silent.extend(&bomb(size)[13..]);
    let file = with_header(2, 1, &[0; 1 << 20], &silent);
    assert!(matches!(refused_quickly(|| inflate(&file, &limits)), ErrorKind::Invalid { .. }));
    // The caller's own limit comes first.
    let small = with_header(2, 1, &[0; 10_000_000], &bomb(10_000_000));
    let refused = refused_quickly(|| inflate(&small, &limits.with_raw_bytes(1000)));
    assert!(matches!(refused, ErrorKind::TooLarge { limit: 1000, .. }));
    // Zeros of a size that the limits allow are what they are.
    let honest = with_header(2, 1, &[0; 3 << 20], &bomb(3 << 20));
    assert_eq!(inflate(&honest, &limits).unwrap(), vec![0; 3 << 20]);
}

#[test]
fn a_zlib_stream_stops_at_the_declared_size() {
    let raw = vec![0; 64 << 20];
    let mut file = as_clang(2, 0, &raw);
    file[12..16].copy_from_slice(&1000_u32.to_le_bytes());
    let limits = Limits::default();
    assert!(matches!(refused_quickly(|| inflate(&file, &limits)), ErrorKind::Invalid { .. }));
    let mut first = as_clang(1, 0, &raw);
    first[8..12].copy_from_slice(&1000_u32.to_le_bytes());
    assert!(matches!(refused_quickly(|| inflate(&first, &limits)), ErrorKind::Invalid { .. }));
}

#[test]
fn a_compressed_offload_binary() {
    let body = bomb(1 << 30);
    let sizes = [40 + body.len() as u64, 40, 1, 40 + (1u64 << 30)].map(u64::to_le_bytes).concat();
    let mut file = [&offload_binary::MAGIC[..], &3u32.to_le_bytes(), &sizes, &body].concat();
    let limits = Limits::default().with_raw_bytes(16 << 20);
    let refusal = refused_quickly(|| offload_binary::parse(&file, &limits));
    assert!(matches!(refusal, ErrorKind::TooLarge { .. }));
    // The claim is small, what comes out is not.
    file[32..40].copy_from_slice(&(1u64 << 20).to_le_bytes());
    let refusal = refused_quickly(|| offload_binary::parse(&file, &limits));
    assert!(matches!(refusal, ErrorKind::Invalid { .. }));
}

fn fatbin_image_size(file: &[u8]) -> Result<usize, Error> {
    let limits = Limits::default();
    let fatbin = fatbin::parse(file, &limits)?;
    fatbin.entries[0].image(&limits).map(|image| image.len())
}

#[test]
fn a_fatbin() {
    let body = bomb(1 << 30);
    let mut file = include_bytes!("../../../tests/data/zstd.fatbin")[..16 + 112].to_vec();
    let header = u32::from_le_bytes(file[20..24].try_into().unwrap()) as usize;
    file.truncate(16 + header);
    file[24..32].copy_from_slice(&(body.len() as u64).next_multiple_of(8).to_le_bytes());
    file[32..36].copy_from_slice(&(body.len() as u32).to_le_bytes());
    file[72..80].copy_from_slice(&(1u64 << 30).to_le_bytes());
    file.extend(&body);
    file.resize((file.len()).next_multiple_of(8), 0);
    let size = file.len() as u64 - 16;
    file[8..16].copy_from_slice(&size.to_le_bytes());
    assert!(matches!(refused_quickly(|| fatbin_image_size(&file)), ErrorKind::TooLarge { .. }));
    file[72..80].copy_from_slice(&(1u64 << 20).to_le_bytes());
    assert!(matches!(refused_quickly(|| fatbin_image_size(&file)), ErrorKind::Invalid { .. }));
}

/// One code object in `frame` that says how large it is.
fn kpack_file(frame: &[u8], size: u32) -> Vec<u8> {
    let entry =
        [&b"\x83\xa4type\xa5hsaco\xa7ordinal\0\xadoriginal_size\xce"[..], &size.to_be_bytes()].concat();
    let part = [
        &b"\x84\xb2compression_scheme\xafzstd-per-kernel\xabzstd_offset\x10\xa9zstd_size\xce"[..],
        &(frame.len() as u32 + 8).to_be_bytes(),
    ]
    .concat();
    let table = [&part[..], b"\xa3toc\x81\xa3x#0\x81\xa6gfx900", &entry].concat();
    let end = 16 + 8 + frame.len() as u64;
    let frames = [1, frame.len() as u32].map(u32::to_le_bytes).concat();
    [b"KPAK\x01\0\0\0", &end.to_le_bytes()[..], &frames, frame, &table].concat()
}

fn kpack_image_size(file: &[u8]) -> Result<usize, Error> {
    let limits = Limits::default();
    let kpack = kpack::parse(file, &limits)?;
    kpack.code_objects[0].image(&limits).map(|image| image.len())
}

#[test]
fn a_kpack() {
    let frame = bomb(1 << 30);
    let true_size = kpack_file(&frame, 1 << 30);
    assert!(matches!(refused_quickly(|| kpack_image_size(&true_size)), ErrorKind::TooLarge { .. }));
    let small_size = kpack_file(&frame, 1 << 20);
    assert!(matches!(refused_quickly(|| kpack_image_size(&small_size)), ErrorKind::Invalid { .. }));
}
