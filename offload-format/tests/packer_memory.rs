//! What packing takes of memory: neither the number of images nor their size makes it more.
//!
//! One test alone is in this program: it measures the whole process, with what zstd allocates.
#![cfg(all(feature = "packer", target_os = "linux"))]
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use offload_format::packer::{self, Candidate, Effort, HUGE, Need, Plan, Settings, Source, Step, Workers};
use offload_format::{Error, Hash128, ImageKind, codec};

/// Images that are made whenever somebody reads them.
struct Made {
    leaders: Vec<Vec<u8>>,
    shapes: BTreeMap<Hash128, (usize, usize)>,
    order: Vec<Candidate>,
}

impl Source for Made {
    type Error = Error;

    fn read(&self, hash: Hash128) -> Result<Vec<u8>, Error> {
        Ok(self.image(self.shapes[&hash]))
    }
}

/// Bytes that compress to a half or so.
fn noise(seed: u64, size: usize) -> Vec<u8> {
    let mut state = seed * 2 + 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state & 0x0f0f_0003_0000_ff0f).to_le_bytes()
    };
    (0..size.div_ceil(8)).flat_map(|_| next()).take(size).collect()
}

impl Made {
    /// So many images, whose numbers tell their sizes; two neighbours are of one family.
    fn new(count: usize, size: impl Fn(usize) -> usize) -> Made {
        let largest = (0..count.min(10)).map(&size).max().unwrap();
        let leaders = (0..5).map(|family| noise(family, largest)).collect();
        let mut made = Made { leaders, shapes: BTreeMap::new(), order: Vec::new() };
        for shape in (0..count).map(|at| (at, size(at))) {
            let (hash, kind) = (Hash128::of(&made.image(shape)), ImageKind::Object);
            made.shapes.insert(hash, shape);
            made.order.push(Candidate { hash, size: shape.1 as u64, kind });
        }
        made
    }

    fn image(&self, (at, size): (usize, usize)) -> Vec<u8> {
        let mut image = self.leaders[at / 2 % 5][..size].to_vec();
        let own = noise(at as u64 + 10, size / 16);
        let place = at * 7919 % (size - own.len());
        image[place..place + own.len()].copy_from_slice(&own);
        image
    }

    /// Packs everything as a build does, dropping what is written; returns how much that is.
    fn pack(&self, settings: Settings) -> u64 {
        let plan = packer::plan(&self.order, self, settings, &Two).unwrap();
        let pool = packer::Pool::new(&Two);
        let alone = |image: &&Candidate| matches!(plan.step(image.hash), Some(Step::Frame { .. }));
        let images: Vec<&Candidate> = self.order.iter().filter(alone).collect();
        let need = |image: &&Candidate| self.need(&plan, image);
        let frames = pool.map_needing(&images, need, |image| self.frame(&plan, image));
        let numbers: Vec<usize> = (0..plan.blocks().len()).collect();
        let block =
            |number: &usize| Ok::<_, Error>(packer::encode_block(&plan, self, *number)?.info().stored_size);
        let blocks = pool.map(&numbers, |_| 1 << 20, block);
        frames.unwrap().into_iter().chain(blocks.unwrap()).sum()
    }

    fn need(&self, plan: &Plan, image: &Candidate) -> Need {
        let sizes = match plan.step(image.hash) {
            _ if image.size > HUGE => (codec::STREAM_WINDOW, 0),
            Some(Step::Frame { parent: Some(parent), .. }) => (image.size, self.shapes[parent].1 as u64),
            _ => (image.size, 0),
        };
        Need::encoding(plan.level(), sizes)
    }

    fn frame(&self, plan: &Plan, image: &Candidate) -> Result<u64, Error> {
        if image.size <= HUGE {
            return Ok(packer::encode_image(plan, self, image.hash)?.info().stored_size);
        }
        // A file is read piece by piece; this is one piece again and again.
        let piece = noise(image.size, 1 << 20);
        let (mut stored, mut stream) = (0, packer::stream(plan, image.size)?);
        let mut sink = |bytes: &[u8]| {
            stored += bytes.len() as u64;
            Ok::<_, Error>(())
        };
        (0..image.size >> 20).try_for_each(|_| stream.feed(&piece, &mut sink))?;
        stream.finish(&mut sink)?;
        Ok(stored)
    }
}

struct Two;

impl Workers for Two {
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let run = || {
            while let Some(at) = Some(next.fetch_add(1, Ordering::SeqCst)).filter(|at| *at < count) {
                work(at);
            }
        };
        std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(run))));
    }
}

/// A field of what the kernel says of this process, in bytes.
fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// The most memory, in MiB, that was resident while `images` were packed, beyond what the images themselves took, and
/// what the pack takes of them.
fn peak(images: &Made) -> (u64, u64) {
    // proc_pid_clear_refs(5): the peak is what is resident now.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let own: usize = images.leaders.iter().map(Vec::len).sum();
    let stored = images.pack(Settings { effort: Effort::Fast, level: 1 });
    ((status("VmHWM:") - own as u64) >> 20, stored)
}

#[test]
fn neither_number_nor_size_of_images_takes_memory() {
    // One in five stands for itself, the others share blocks.
    let mixed = |at: usize| if at.is_multiple_of(5) { 66 << 10 } else { 1000 + at % 64 };
    let mut peaks = Vec::new();
    for (count, size) in
        [(10, &mixed as &dyn Fn(usize) -> usize), (10_000, &mixed), (4, &|_| 1 << 20), (4, &|_| 15 << 20)]
    {
        let images = Made::new(count, size);
        let raw: u64 = images.order.iter().map(|image| image.size).sum();
        let (peak, stored) = peak(&images);
        assert!(stored > 0 && stored < raw, "{stored} of {raw}");
        peaks.push(peak);
    }
    // Above this size nothing is in memory as a whole.
    let huge = |at: u64| Candidate {
        hash: Hash128::of(&at.to_le_bytes()),
        size: HUGE + (at << 24),
        kind: ImageKind::Object,
    };
    let huge = Made { leaders: Vec::new(), shapes: BTreeMap::new(), order: (1..3).map(huge).collect() };
    peaks.push(peak(&huge).0);
    let [few, many, small, large, huge] = <[u64; 5]>::try_from(peaks.clone()).unwrap();
    // What is known of an image without looking at it: a line of the plan, and a sketch.
    assert!(many <= few + 24, "{peaks:?} MiB");
    // Images are at most 32 MiB together, and a window is 16 MiB; the system's allocator keeps as much again.
    assert!(large <= small + 112 && huge <= small + 112, "{peaks:?} MiB");
}
