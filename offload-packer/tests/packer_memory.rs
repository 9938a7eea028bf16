//! Peak memory of packing, which depends neither on the number of images nor on their size.
//!
//! One test alone is in this program: it measures the whole process, with what zstd allocates.
#![cfg(target_os = "linux")]
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use offload_format::{Error, Hash128, ImageKind};
use offload_packer::{
    self as packer, ImageSource, MAX_WHOLE, Mode, PIECE, Pieces, Plan, RawImage, Settings, Step, Workers,
};

/// Images generated on each read.
struct Made {
    roots: Vec<Vec<u8>>,
    shapes: BTreeMap<Hash128, (usize, usize)>,
    order: Vec<RawImage>,
}

impl ImageSource for Made {
    type Error = Error;

    fn read(&self, hash: Hash128) -> Result<Vec<u8>, Error> {
        Ok(self.image(self.shapes[&hash]))
    }
}

/// Images above [`MAX_WHOLE`], which may only be streamed.
struct Streamed {
    /// The number of the cluster, of whose members only the first byte differs, and that byte.
    members: BTreeMap<Hash128, (usize, u8)>,
    order: Vec<RawImage>,
}

impl ImageSource for Streamed {
    type Error = Error;

    fn read(&self, _: Hash128) -> Result<Vec<u8>, Error> {
        panic!("an image to be streamed was read as a whole");
    }

    fn open(&self, hash: Hash128) -> Result<Box<dyn Pieces<Error> + '_>, Error> {
        let (cluster, first) = self.members[&hash];
        let left = MAX_WHOLE as usize / PIECE + 4 * cluster;
        Ok(Box::new(Repeated { piece: noise(cluster as u64, PIECE), first, left }))
    }

    fn held(&self, size: u64) -> u64 {
        size.min(PIECE as u64)
    }
}

/// One piece again and again.
struct Repeated {
    piece: Vec<u8>,
    first: u8,
    left: usize,
}

impl Pieces<Error> for Repeated {
    fn next(&mut self) -> Result<&[u8], Error> {
        self.piece[0] = std::mem::take(&mut self.first);
        let size = if self.left == 0 { 0 } else { PIECE };
        self.left = self.left.saturating_sub(1);
        Ok(&self.piece[..size])
    }
}

/// Bytes that compress to a half or so.
fn noise(seed: u64, size: usize) -> Vec<u8> {
    let mut state = seed * 2 + 1;
    let mut bytes = Vec::with_capacity(size.next_multiple_of(8));
    while bytes.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend((state & 0x0f0f_0003_0000_ff0f).to_le_bytes());
    }
    bytes.truncate(size);
    bytes
}

impl Made {
    /// So many images, whose numbers tell their sizes; two neighbours are of one cluster.
    fn new(count: usize, size: impl Fn(usize) -> usize) -> Made {
        let largest = (0..count.min(10)).map(&size).max().unwrap();
        let roots = (0..5).map(|cluster| noise(cluster, largest)).collect();
        let mut made = Made { roots, shapes: BTreeMap::new(), order: Vec::new() };
        for shape in (0..count).map(|at| (at, size(at))) {
            let hash = Hash128::digest(&made.image(shape));
            let kind = ImageKind::Object;
            made.shapes.insert(hash, shape);
            made.order.push(RawImage { hash, size: shape.1 as u64, kind });
        }
        made
    }

    fn image(&self, (at, size): (usize, usize)) -> Vec<u8> {
        let mut image = self.roots[at / 2 % 5][..size].to_vec();
        let own = noise(at as u64 + 10, size / 16);
        let place = at * 7919 % (size - own.len());
        image[place..place + own.len()].copy_from_slice(&own);
        image
    }
}

/// Packs everything as a build does, dropping what is written; returns how much that is.
fn pack<S: ImageSource<Error = Error>>(source: &S, order: &[RawImage], settings: Settings) -> u64 {
    let sizes: BTreeMap<Hash128, u64> = order.iter().map(|image| (image.hash, image.size)).collect();
    let plan = packer::plan(order, source, settings, &Two).unwrap();
    let pool = packer::Pool::new(&Two);
    let mut images = Vec::new();
    for image in order {
        if matches!(plan.step(image.hash), Some(Step::Frame { .. })) {
            images.push(image);
        }
    }
    let frames = pool.map_with_need(
        &images,
        |image| packer::image_need(&plan, image.hash, |hash| sizes[&hash]),
        |image| frame(&plan, source, image),
    );
    let numbers: Vec<usize> = (0..plan.blocks().len()).collect();
    let blocks = pool.map(&numbers, |_| 1 << 20, |number| block(&plan, source, *number));
    frames.unwrap().into_iter().chain(blocks.unwrap()).sum()
}

fn block<S: ImageSource<Error = Error>>(plan: &Plan, source: &S, number: usize) -> Result<u64, Error> {
    Ok(packer::encode_block(plan, source, number)?.info().stored_size)
}

fn frame<S: ImageSource<Error = Error>>(plan: &Plan, source: &S, image: &RawImage) -> Result<u64, Error> {
    let alone = matches!(plan.step(image.hash), Some(Step::Frame { parent: None, .. }));
    if image.size <= MAX_WHOLE || !alone {
        return Ok(packer::encode_image(plan, source, image.hash)?.info().stored_size);
    }
    let mut stored = 0;
    let mut stream = packer::stream(plan, image.size)?;
    let mut pieces = source.open(image.hash)?;
    loop {
        match pieces.next()? {
            [] => break,
            piece => stream.feed(piece, &mut |bytes| count(&mut stored, bytes))?,
        }
    }
    stream.finish(&mut |bytes| count(&mut stored, bytes))?;
    Ok(stored)
}

fn count(stored: &mut u64, bytes: &[u8]) -> Result<(), Error> {
    *stored += bytes.len() as u64;
    Ok(())
}

impl Streamed {
    /// Members of clusters, by their numbers and first bytes.
    fn new(members: &[(usize, u8)]) -> Streamed {
        let mut streamed = Streamed { members: BTreeMap::new(), order: Vec::new() };
        for member in members.iter().copied() {
            // These hashes are never verified.
            let hash = Hash128::digest(&[member.0 as u8, member.1]);
            let size = MAX_WHOLE + (4 * member.0 * PIECE) as u64;
            streamed.members.insert(hash, member);
            streamed.order.push(RawImage { hash, size, kind: ImageKind::Object });
        }
        streamed
    }
}

struct Two;

impl Workers for Two {
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while let Some(at) = Some(next.fetch_add(1, Ordering::SeqCst)).filter(|at| *at < count) {
                        work(at);
                    }
                });
            }
        });
    }
}

/// A field of what the kernel says of this process, in bytes.
fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// The most memory, in MiB, that was resident while `images` were packed, and what the pack takes of them.
fn peak<S: ImageSource<Error = Error>>(source: &S, images: &[RawImage]) -> (u64, u64) {
    // proc_pid_clear_refs(5): the peak is what is resident now.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let stored = pack(source, images, Settings { mode: Mode::Fast, level: 1 });
    (status("VmHWM:") >> 20, stored)
}

/// One in five stands for itself, the others share blocks.
fn mixed_size(at: usize) -> usize {
    if at.is_multiple_of(5) { 66 << 10 } else { 1000 + at % 64 }
}

#[test]
fn neither_number_nor_size_of_images_takes_memory() {
    let mut peaks = Vec::new();
    for (count, size) in [
        (10, &mixed_size as &dyn Fn(usize) -> usize),
        (10_000, &mixed_size),
        (4, &|_| 1 << 20),
        (4, &|_| 15 << 20),
    ] {
        let images = Made::new(count, size);
        let own = images.roots.iter().map(Vec::len).sum::<usize>() as u64 >> 20;
        let raw: u64 = images.order.iter().map(|image| image.size).sum();
        let (peak, stored) = peak(&images, &images.order);
        assert!(stored > 0 && stored < raw, "{stored} of {raw}");
        peaks.push(peak - own);
    }
    let streamed = Streamed::new(&[(1, 0), (1, 1), (2, 0)]);
    let (peak, stored) = peak(&streamed, &streamed.order);
    // A window repeats in each; what differs in a byte takes a few.
    assert!(stored < 3 * PIECE as u64, "{stored}");
    peaks.push(peak);
    let [few, many, small, large, streamed] = <[u64; 5]>::try_from(peaks.clone()).unwrap();
    // What is known of an image without looking at it: a line of the plan, and a sketch.
    assert!(many <= few + 24, "{peaks:?} MiB");
    // Images are at most 32 MiB together, and a window is 16 MiB; the system's allocator keeps as much again.
    assert!(large <= small + 112 && streamed <= small + 112, "{peaks:?} MiB");
}
