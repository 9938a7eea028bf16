//! Containers of other tool chains that take long, or much memory.

use std::error::Error;

use offload_containers::{bundle, ccob};

use super::Bomb;
use super::pack::{longs, padded, words, zeros};

const MIB: u64 = 1 << 20;
const CODE_OBJECT: &str = "hipv4-amdgcn-amd-amdhsa--gfx90a";

pub(crate) fn bombs() -> Result<Vec<Bomb>, Box<dyn Error>> {
    let bomb = Bomb::new;
    Ok(vec![
        bomb("ccob 512 MiB", compressed(512 * MIB - 1)),
        bomb("ccob 4 GiB", compressed((4096 * MIB) - 1)),
        bomb("ccob that lies", lying()),
        bomb("ccob of entries", crowded()),
        bomb("ccob zlib", zlib()),
        bomb("ccob in ccob", nested()?),
        bomb("ccobs", compressed(8 * MIB).repeat(1000)),
        bomb("window of 2 GiB", wide()),
        bomb("zstd", zeros(2048 * MIB)),
        bomb("skippable frames", [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0].repeat(100_000)),
        bomb("empty frames", zstd::bulk::compress(&[], 1)?.repeat(100_000)),
        bomb("bundles", bundle::write(&[image(b"x")], 1)?.repeat(10_000)),
        bomb("overlapping images", overlapping()),
        bomb("kpack", kpack()),
        bomb("offload binary", offload_binary(512 * MIB)),
        bomb("offload binaries", offload_binary(8 * MIB).repeat(1000)),
        bomb("long strings", strings()),
        bomb("fatbin group", group(4 * MIB)),
        bomb("fatbin lz4", lz4()),
        bomb("fatbins", fatbins(8 * MIB).repeat(1000)),
    ])
}

pub(super) fn image(bytes: &[u8]) -> bundle::BundleImage<'_> {
    bundle::BundleImage { id: CODE_OBJECT, bytes }
}

/// The table of a bundle with images at these offsets and of these sizes.
fn table(images: impl ExactSizeIterator<Item = [u64; 2]>) -> Vec<u8> {
    let mut table = bundle::MAGIC.to_vec();
    table.extend(longs(&[images.len() as u64]));
    for [offset, size] in images {
        table.extend(longs(&[offset, size, CODE_OBJECT.len() as u64]));
        table.extend_from_slice(CODE_OBJECT.as_bytes());
    }
    table
}

/// The header of version 3, and `payload`.
fn ccob(payload: &[u8], method: u32, raw: u64) -> Vec<u8> {
    let mut file = ccob::MAGIC.to_vec();
    file.extend(words(&[method << 16 | 3]));
    file.extend(longs(&[payload.len() as u64 + 32, raw, 0]));
    file.extend_from_slice(payload);
    file
}

/// A bundle of `raw` bytes, with one image that is all of it.
fn compressed(raw: u64) -> Vec<u8> {
    ccob(&padded(&table([[4096, raw - 4096]].into_iter()), raw), 1, raw)
}

/// Its frame has a gibibyte, and its header says so.
fn lying() -> Vec<u8> {
    let mut frame = padded(&table([[4096, 100]].into_iter()), 1024 * MIB);
    // No content size: the last eight bytes of the frame's header.
    frame[4] = 0;
    frame.drain(6..14);
    ccob(&frame, 1, 4 * MIB)
}

/// 1,000 images in a bundle of 8 MiB, each all of it.
fn crowded() -> Vec<u8> {
    let raw = 8 * MIB;
    ccob(&padded(&table((0..1000u32).map(|at| [65536 + u64::from(at), raw - 70000])), raw), 1, raw)
}

fn zlib() -> Vec<u8> {
    let raw = 24 * MIB;
    let mut content = table([[4096, raw - 4096]].into_iter());
    content.resize(raw as usize, 0);
    ccob(&miniz_oxide::deflate::compress_to_vec_zlib(&content, 6), 0, raw)
}

/// Six compressed bundles in one another; the innermost has 4 GiB.
fn nested() -> Result<Vec<u8>, Box<dyn Error>> {
    let mut file = compressed(4096 * MIB);
    for _ in 0..5 {
        file = ccob::write(&bundle::write(&[image(&file)], 1)?, ccob::Version::V3, 3)?;
    }
    Ok(file)
}

/// A frame that wants a window of 2 GiB.
fn wide() -> Vec<u8> {
    let mut frame = zeros(2048 * MIB);
    frame[5] = 21 << 3;
    frame
}

/// 10,000 images in a bundle of a mebibyte, each all of it.
fn overlapping() -> Vec<u8> {
    let mut file = table((0..10_000u32).map(|at| [700_000 + u64::from(at), 300_000]));
    file.resize(1_100_000, 0);
    file
}

/// A table in MessagePack that names one frame a thousand times.
fn kpack() -> Vec<u8> {
    let frame = zeros(512 * MIB);
    let mut table = vec![0x84];
    table.extend([packed_text("compression_scheme"), packed_text("zstd-per-kernel")].concat());
    table.extend([packed_text("zstd_offset"), packed_number(16)].concat());
    table.extend([packed_text("zstd_size"), packed_number(frame.len() as u64 + 8)].concat());
    table.extend([packed_text("toc"), vec![0x81], packed_text("lib.so#0"), vec![0xde, 3, 0xe8]].concat());
    for at in 0..1000 {
        table.extend(
            [packed_text(&format!("gfx{at}")), vec![0x83], packed_text("type"), packed_text("hsaco")]
                .concat(),
        );
        table.extend(
            [packed_text("ordinal"), vec![0], packed_text("original_size"), packed_number(512 * MIB)]
                .concat(),
        );
    }
    let mut file = b"KPAK\x01\0\0\0".to_vec();
    file.extend(longs(&[16 + 8 + frame.len() as u64]));
    file.extend(words(&[1, frame.len() as u32]));
    [file, frame, table].concat()
}

/// A text of MessagePack.
fn packed_text(text: &str) -> Vec<u8> {
    [&[0xd9, text.len() as u8], text.as_bytes()].concat()
}

/// A number of MessagePack.
fn packed_number(value: u64) -> Vec<u8> {
    [&[0xcf][..], &value.to_be_bytes()].concat()
}

/// Version 3 of `raw` bytes, with one image.
pub(super) fn offload_binary(raw: u64) -> Vec<u8> {
    let body = raw - 40;
    // An entry without strings: image and offload kind, flags, strings, image.
    let mut entry = words(&[1 | 4 << 16, 0]);
    entry.extend(longs(&[40, 0, 80, body - 40]));
    let frame = padded(&entry, body);
    let mut file = vec![0x10, 0xff, 0x10, 0xad];
    file.extend(words(&[3]));
    file.extend(longs(&[frame.len() as u64 + 40, 40, 1, raw]));
    [file, frame].concat()
}

/// 1,000 images, each with 1,000 strings of 100 kB.
fn strings() -> Vec<u8> {
    const ENTRIES: u64 = 1000;
    let pairs = 32 + 40 * ENTRIES;
    let text = pairs + 24 * 1000;
    let mut file = vec![0x10, 0xff, 0x10, 0xad];
    file.extend(words(&[2]));
    file.extend(longs(&[text + 100_001, 32, ENTRIES]));
    for _ in 0..ENTRIES {
        file.extend(words(&[1 | 4 << 16, 0]));
        file.extend(longs(&[pairs, 1000, text, 8]));
    }
    (0..1000).for_each(|_| file.extend(longs(&[text, text, 100_000])));
    file.extend(vec![b'a'; 100_000]);
    file.push(0);
    file
}

/// An entry of a fatbin whose header has `appendix`.
struct FatbinEntry<'a> {
    kind: u32,
    flags: u64,
    appendix: &'a [u8],
    stored: &'a [u8],
    raw: u64,
}

impl FatbinEntry<'_> {
    fn bytes(&self) -> Vec<u8> {
        let FatbinEntry { kind, flags, appendix, stored, raw } = self;
        let mut out = words(&[0x101 << 16 | kind, 64 + appendix.len() as u32]);
        out.extend(longs(&[stored.len().next_multiple_of(8) as u64]));
        out.extend(words(&[
            stored.len() as u32,
            if appendix.is_empty() { 0 } else { 64 },
            7 << 16 | 1,
            80,
            0,
            0,
        ]));
        out.extend(longs(&[*flags, 0, *raw]));
        out.extend_from_slice(appendix);
        out.extend_from_slice(stored);
        out.resize(out.len().next_multiple_of(8), 0);
        out
    }
}

fn fatbin(entries: &[u8]) -> Vec<u8> {
    let mut file = vec![0x50, 0xed, 0x55, 0xba];
    file.extend(words(&[16 << 16 | 1]));
    file.extend(longs(&[entries.len() as u64]));
    file.extend_from_slice(entries);
    file
}

/// 12,000 images in one stream of a group, each nearly all of it.
fn group(raw: u64) -> Vec<u8> {
    const COUNT: u32 = 12_000;
    let mut table = words(&[COUNT, 8 + 64 * COUNT]);
    for at in 0..COUNT {
        table.extend(words(&[0x101 << 16 | 2, at]));
        table.extend(longs(&[raw - u64::from(COUNT)]));
        table.extend(words(&[0, 0, 7 << 16 | 1, 80, 0, 0]));
        table.extend(longs(&[0, 0, 0]));
    }
    fatbin(&FatbinEntry { kind: GROUP, flags: 0x8000, appendix: &table, stored: &zeros(raw), raw }.bytes())
}

/// `EntryKind::Group`.
const GROUP: u32 = 0x100;

/// A fatbin of `image`.
pub(super) fn fatbin_of(image: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let stored = zstd::bulk::compress(image, 3)?;
    let raw = image.len() as u64;
    Ok(fatbin(&FatbinEntry { kind: 2, flags: 0x8000, appendix: &[], stored: &stored, raw }.bytes()))
}

fn fatbins(raw: u64) -> Vec<u8> {
    fatbin(&FatbinEntry { kind: 2, flags: 0x8000, appendix: &[], stored: &zeros(raw), raw }.bytes())
}

/// 200 LZ4 blocks of 4 kB that make a mebibyte each.
fn lz4() -> Vec<u8> {
    // A literal, then a match of so many bytes at offset 1.
    let mut block = vec![0x1f, 0, 1, 0];
    block.extend([255; 4000]);
    block.extend([0, 0x50, 0, 0, 0, 0, 0]);
    let raw = 1 + 19 + 255 * 4000 + 5;
    let entry = FatbinEntry { kind: 2, flags: 0x2000, appendix: &[], stored: &block, raw }.bytes();
    fatbin(&entry.repeat(200))
}
