//! Generated images, the same on every machine: words of a small vocabulary in runs, as code has them.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::random::Random;

/// AMD's processors of two generations: in each two whose images differ in a few per cent, and for both another that
/// differs in two bytes, as shipped libraries have them.
const TARGETS: [(&str, u64, u64); 8] = [
    ("amdgcn:gfx1030", 0, 0),
    ("amdgcn:gfx1031", 0, 0),
    ("amdgcn:gfx1010", 0, 1),
    ("amdgcn:gfx1012", 0, 1),
    ("amdgcn:gfx1100", 1, 0),
    ("amdgcn:gfx1101", 1, 0),
    ("amdgcn:gfx1150", 1, 1),
    ("amdgcn:gfx1152", 1, 1),
];
/// Sizes of a module's images in MiB, in turn.
const SIZES: [u64; 8] = [1, 2, 4, 8, 16, 1, 6, 40];

/// Modules for eight targets, until they have so many bytes together.
pub fn large(bytes: u64, folder: &Path) {
    let mut left = bytes;
    for module in 0u64.. {
        let directory = folder.join(format!("m{module:04}"));
        fs::create_dir_all(&directory).unwrap();
        for (number, (target, generation, relative)) in TARGETS.into_iter().enumerate() {
            if left == 0 {
                return;
            }
            let size = (SIZES[module as usize % SIZES.len()] << 20).min(left);
            let code = Code { seed: module << 8 | generation, relative, mark: number as u64 };
            code.write(size, &directory.join(target));
            left -= size;
        }
    }
}

struct Code {
    seed: u64,
    relative: u64,
    mark: u64,
}

/// Words that are chosen at a time.
const RUN: u64 = 64;

impl Code {
    fn write(&self, size: u64, path: &Path) {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
        let mut random = Random(self.seed);
        let mut other = Random(self.seed ^ 0xffff);
        // The header: the two bytes in which images of like processors differ.
        out.write_all(&[0x7f, b'E', b'L', b'F', self.mark as u8, self.mark as u8]).unwrap();
        let mut left = size.saturating_sub(6);
        while left > 0 {
            // A run of an old idiom, or of new words; a relative has others in one of 25.
            let changed = self.relative > 0 && other.below(25) == 0;
            let start = random.next();
            let run = if changed { start ^ other.next() } else { start };
            let bytes = words(run);
            let taken = left.min(bytes.len() as u64);
            out.write_all(&bytes[..taken as usize]).unwrap();
            left -= taken;
        }
        out.flush().unwrap();
    }
}

/// Three of four runs are one of 4,096 idioms.
fn words(run: u64) -> Vec<u8> {
    let mut random = if run & 3 == 0 { Random(run) } else { Random(run >> 8 & 0xfff) };
    (0..RUN).flat_map(|_| (random.next() as u32 & 0x3fff_00ff).to_le_bytes()).collect()
}

/// Modules of 2 to 20 kB, each of which is one of 48 templates with other types.
pub fn spirv(number: u64, folder: &Path) {
    let directory = folder.join("templates");
    fs::create_dir_all(&directory).unwrap();
    for module in 0..number {
        fs::write(directory.join(format!("{module:06}")), spirv_module(module % 48, module / 48)).unwrap();
    }
}

/// Instructions with running ids. The template says which, and how far their operands lie back; the instance says what
/// the types are, and adds an instruction here and there
/// (<https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#PhysicalLayout>).
fn spirv_module(template: u64, instance: u64) -> Vec<u8> {
    const CAPABILITIES: [u32; 4] = [2 << 16 | 17, 4, 2 << 16 | 17, 6];
    const MEMORY_MODEL: [u32; 3] = [3 << 16 | 14, 2, 2];
    /// Arithmetic and comparisons: type, result and two operands.
    const BINARY: [u32; 8] = [128, 129, 130, 131, 132, 133, 170, 172];
    let mut shape = Random(template);
    let mut choice = Random(template << 32 | instance);
    let mut words = vec![0x0723_0203, 0x0001_0200, 0, 0, 0];
    words.extend(CAPABILITIES.into_iter().chain(MEMORY_MODEL));
    for of in 2..8 {
        let width = 8 << choice.below(4) as u32;
        words.extend([4 << 16 | 21, of, width, 0]);
    }
    let mut id = 60 + shape.below(30) as u32;
    for _ in 0..100 + shape.below(850) {
        let opcode = BINARY[shape.below(8)];
        let of = 2 + shape.below(6) as u32;
        let operands = [shape.below(12), shape.below(24)];
        for _ in 0..1 + u32::from(choice.below(150) == 0) {
            let [one, other] = operands.map(|back| id - 1 - back as u32);
            words.extend([5 << 16 | opcode, of, id, one, other]);
            id += 1;
        }
    }
    words[3] = id;
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}
