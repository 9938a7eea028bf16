//! Packs that take long, or much memory.

use std::error::Error;

use offload_format::Hash128;
use offload_format::codec::{Codec, encode};
use offload_format::pack::layout::NONE;

use super::Bomb;
use super::pack::{Frame, RawImage, RawPack, Text, zeros};

const MIB: u64 = 1 << 20;
const ZSTD: u16 = 1;
const PREFIX: u16 = 2;
const PATCH: u16 = 3;
const LZMA: u16 = 4;
const LZ: u16 = 6;

pub(crate) fn bombs() -> Result<Vec<Bomb>, Box<dyn Error>> {
    Ok(vec![
        bomb("pages", pages(ZSTD)),
        bomb("pages of matches", pages(LZ)),
        bomb("lzma", lzma()?),
        bomb("blocks", blocks()),
        bomb("one block", one_block()),
        bomb("frames", frames()),
        bomb("children", children(PREFIX, &zeros(16))),
        bomb("patches", children(PATCH, &[])),
        bomb("sidecars", sidecars()),
        bomb("missing", missing()),
        bomb("kernels", kernels()),
        bomb("arguments", arguments()),
        bomb("long names", names()),
        bomb("metadata", metadata()),
        Bomb::new("headers", headers()),
    ])
}

fn bomb(name: &'static str, pack: RawPack) -> Bomb {
    Bomb::new(name, pack.finish())
}

/// A pack of the package `bomb`, and its module and target.
fn start() -> (RawPack, Text, Text) {
    let mut pack = RawPack::default();
    let key = pack.text("package");
    let value = pack.text("bomb");
    pack.meta(key, value);
    let module = pack.text("module");
    let target = pack.text("spirv64");
    (pack, module, target)
}

fn image(module: Text, target: Text, frame: Frame) -> RawImage {
    let Frame { offset, stored, raw } = frame;
    RawImage { module, target, codec: ZSTD, parent: NONE, block: NONE, offset, stored, raw, kernels: 0 }
}

/// 100 pages of 64 MiB, which all have the same frame.
fn pages(codec: u16) -> RawPack {
    let (mut pack, ..) = start();
    let raw = 64 * MIB;
    let mut content = vec![0; raw as usize];
    content[0] = 16;
    content[12] = 12;
    let bytes = encode(&content, Codec::from_u16(codec), 3).expect("zeros compress").into_bytes();
    let hash = Hash128::digest(&bytes);
    let frame = pack.frame(&bytes, raw);
    (0..100).for_each(|_| pack.page(frame, codec, hash));
    pack
}

/// Images of 12 MiB in LZMA streams.
fn lzma() -> Result<RawPack, Box<dyn Error>> {
    let (mut pack, module, target) = start();
    let raw = 12 * MIB;
    let stream = encode(&vec![0; raw as usize], Codec::Lzma, 3)?;
    for _ in 0..40 {
        let frame = pack.frame(stream.bytes(), raw);
        pack.image(RawImage { codec: LZMA, ..image(module, target, frame) });
    }
    Ok(pack)
}

/// 8,000 blocks of 64 MiB, which all have the same frame, each with an image.
fn blocks() -> RawPack {
    let (mut pack, module, target) = start();
    let frame = pack.frame(&zeros(64 * MIB), 64 * MIB);
    for block in 0..8000 {
        pack.block(frame, ZSTD);
        let place = Frame { offset: 0, stored: 100, raw: 100 };
        pack.image(RawImage { codec: 0, block, ..image(module, target, place) });
    }
    pack
}

/// 8,000 images of one block that is within all limits, each nearly all of it.
fn one_block() -> RawPack {
    let (mut pack, module, target) = start();
    let frame = pack.frame(&zeros(8 * MIB), 8 * MIB);
    pack.block(frame, ZSTD);
    for offset in 0..8000 {
        let place = Frame { offset, stored: 8 * MIB - offset, raw: 8 * MIB - offset };
        pack.image(RawImage { codec: 0, block: 0, ..image(module, target, place) });
    }
    pack
}

/// Images of 2 GiB, which all have the same frame.
fn frames() -> RawPack {
    let (mut pack, module, target) = start();
    let frame = pack.frame(&zeros(2048 * MIB), 2048 * MIB);
    (0..1000).for_each(|_| pack.image(image(module, target, frame)));
    pack
}

/// 8,000 images of a few bytes that build on a large one.
fn children(codec: u16, child: &[u8]) -> RawPack {
    let (mut pack, module, target) = start();
    let raw = 8 * MIB;
    let parent = pack.frame(&zeros(raw), raw);
    pack.image(image(module, target, parent));
    for _ in 0..8000 {
        let frame = pack.frame(child, if codec == PATCH { raw } else { 16 });
        pack.image(RawImage { codec, parent: 0, ..image(module, target, frame) });
    }
    pack
}

/// A program's pack that names 26,000 sidecars.
fn sidecars() -> RawPack {
    let (mut pack, module, target) = start();
    let key = pack.text("elsewhere");
    for number in 0..26_000u32 {
        let value = pack.text(&format!("{} {number}.offload", Hash128::digest(&number.to_le_bytes())));
        pack.meta(key, value);
    }
    let reason = pack.text("0.offload");
    (0..100).for_each(|_| pack.missing(module, target, reason));
    pack
}

/// 30,000 records of what is missing, with long reasons.
fn missing() -> RawPack {
    let (mut pack, module, target) = start();
    let reason = pack.text(&"x".repeat(300_000));
    (0..30_000).for_each(|_| pack.missing(module, target, reason));
    pack
}

/// 4,000 images, each with all of 4,000 kernels.
fn kernels() -> RawPack {
    let (mut pack, module, target) = start();
    let frame = pack.frame(&zeros(100), 100);
    (0..4000).for_each(|_| pack.kernel(module, 0));
    (0..4000).for_each(|_| pack.image(RawImage { kernels: 4000, ..image(module, target, frame) }));
    pack
}

/// 4,000 kernels, each with all of 20,000 arguments.
fn arguments() -> RawPack {
    let (mut pack, module, target) = start();
    let frame = pack.frame(&zeros(100), 100);
    (0..20_000).for_each(|_| pack.arg(module));
    (0..4000).for_each(|_| pack.kernel(module, 20_000));
    pack.image(RawImage { kernels: 4000, ..image(module, target, frame) });
    pack
}

/// 5,000 images of a module with a name of 300 kB.
fn names() -> RawPack {
    let (mut pack, _, target) = start();
    let module = pack.text(&"m".repeat(300_000));
    let frame = pack.frame(&zeros(100), 100);
    (0..5000).for_each(|_| pack.image(image(module, target, frame)));
    pack
}

/// 5,000 images, and the package's name behind 60,000 other records.
fn metadata() -> RawPack {
    let (mut pack, module, target) = start();
    (0..60_000).for_each(|_| pack.meta(module, target));
    let frame = pack.frame(&zeros(100), 100);
    (0..5000).for_each(|_| pack.image(image(module, target, frame)));
    pack
}

/// A file in which a pack seems to start at each 64 bytes, each with an index that reaches to the end.
fn headers() -> Vec<u8> {
    const COUNT: u64 = 16_000;
    let mut file = vec![0; 64];
    for number in 0..COUNT {
        let size = (COUNT - number) * 64;
        file.extend_from_slice(b"OFLDPACK\x01\0\x03\0\x40\0\0\0");
        file.extend(super::pack::longs(&[size, 64, 12 << 32, size, 0, 0]));
    }
    file
}
