//! Images that filters change: SPIR-V with every opcode, ELF files with symbol tables.

use std::collections::BTreeMap;

use offload_format::codec::Filter;

use crate::support::random::Random;

pub const FILTERS: [Filter; 3] = [Filter::None, Filter::SpirvIds, Filter::ElfSymbols];

/// No size is a multiple of 16, because LZMA counts positions in its preset dictionary.
const SMALL: usize = 9_001;
/// Images of this size have frames of their own, but for the mode `archive`.
const LARGE: usize = 70_001;
/// Images of this size have frames of their own in every mode.
const WHOLE: usize = (1 << 20) + 4_097;
const SYMBOL: usize = 24;

fn bytes(mut random: Random, size: usize) -> Vec<u8> {
    (0..size).map(|_| random.below(97) as u8).collect()
}

/// An image for `filter` that has most of its bytes in common with those of other seeds.
pub fn small(filter: Filter, seed: u64) -> Vec<u8> {
    match filter {
        Filter::SpirvIds => spirv(seed, 1),
        Filter::ElfSymbols => elf(seed, SMALL),
        _ => changed(bytes(Random(7), SMALL), seed, 150),
    }
}

/// The same image with a few other bytes that no filter looks at.
pub fn near_duplicate(image: &[u8], seed: u64) -> Vec<u8> {
    let mut image = image.to_vec();
    let at = image.len() - 5;
    for (byte, change) in image[at..].iter_mut().zip((seed ^ 0x5a5a_5a5a_5a5a).to_le_bytes()) {
        *byte ^= change | 1;
    }
    image
}

/// A few images for frames of their own, each with relatives and a near-duplicate.
pub fn large() -> BTreeMap<String, Vec<u8>> {
    let mut images = BTreeMap::new();
    for seed in 1..4 {
        let plain = changed(bytes(Random(9), LARGE), seed, 9_000);
        for (kind, image) in [("plain", plain), ("elf", elf(seed, LARGE)), ("spirv", spirv(seed, 9))] {
            images.insert(format!("{kind}{seed}near"), near_duplicate(&image, seed));
            images.insert(format!("{kind}{seed}"), image);
        }
    }
    let whole = elf(5, WHOLE);
    images.insert("wholenear".to_string(), near_duplicate(&whole, 5));
    images.insert("wholechanged".to_string(), changed(whole.clone(), 6, 90_000));
    images.insert("whole".to_string(), whole);
    images
}

fn changed(mut image: Vec<u8>, seed: u64, size: usize) -> Vec<u8> {
    let at = seed as usize * 977 % (image.len() - size);
    image[at..at + size].copy_from_slice(&bytes(Random(seed + 100), size));
    image
}

/// A module with instructions of all opcodes, also with too few words; the last instruction has no meaning.
fn spirv(seed: u64, rounds: u64) -> Vec<u8> {
    let mut shape = Random(11);
    let mut ids = Random(seed + 100);
    let mut words = vec![0x0723_0203, 0x0001_0200, 0, 10_000, 0];
    for round in 0..rounds {
        for opcode in (0..400).chain(5570..5580) {
            let count = shape.below(13) as u32;
            words.push((count + 1) << 16 | opcode);
            words.extend((0..count).map(|at| round as u32 * 5000 + opcode + at + ids.below(3) as u32));
        }
    }
    words.extend([3 << 16 | 0xfff0, 1, seed as u32]);
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// A file with two symbol tables, of which one has bytes behind its last entry, and one that is too small to be one.
fn elf(seed: u64, size: usize) -> Vec<u8> {
    const HEADER: usize = 64;
    let tables = [(2, 60 * SYMBOL), (11, 40 * SYMBOL + 7), (2, SYMBOL - 1), (1, 5 * SYMBOL)];
    let mut file = vec![0; HEADER];
    file[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
    let mut headers = vec![0; HEADER];
    for (kind, size) in tables {
        let mut header = vec![0; HEADER];
        header[4..8].copy_from_slice(&u32::to_le_bytes(kind));
        header[24..32].copy_from_slice(&(file.len() as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(size as u64).to_le_bytes());
        header[56..64].copy_from_slice(&(SYMBOL as u64).to_le_bytes());
        headers.extend(header);
        file.extend(symbols(seed, size));
    }
    let start = file.len() as u64;
    file[40..48].copy_from_slice(&start.to_le_bytes());
    file[58..60].copy_from_slice(&(HEADER as u16).to_le_bytes());
    file[60..62].copy_from_slice(&(1 + tables.len() as u16).to_le_bytes());
    file.extend(headers);
    let rest = size.saturating_sub(file.len()).max(200);
    file.extend(changed(bytes(Random(13), rest), seed, 100));
    file
}

/// Names and values that grow, now and then fall, and wrap.
fn symbols(seed: u64, size: usize) -> Vec<u8> {
    let mut random = Random(seed / 3 + 100);
    let mut table = Vec::new();
    let mut name = u32::MAX - 50;
    let mut value = u64::MAX - 500;
    while table.len() < size {
        table.extend(name.to_le_bytes());
        table.extend([0x12, 0, 7, 0]);
        table.extend(value.to_le_bytes());
        table.extend(64u64.to_le_bytes());
        name = name.wrapping_add(random.below(30) as u32);
        value = value.wrapping_add(random.below(5) * 256).wrapping_sub(64);
    }
    table.truncate(size);
    table
}
