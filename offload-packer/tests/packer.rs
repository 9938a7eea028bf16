//! The packer from outside: what it decides is carried out, read back, small, and the same for any number of threads.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use offload_format::codec::{self, Codec, Filter};
use offload_format::pack::{NewImage, Pack, PackBuilder, Pages};
use offload_format::{Error, Hash128, ImageKind};
use offload_packer::{
    self as packer, ImageSource, Mode, Plan, RawImage, Sequential, Settings, Step, Workers,
};

/// Images in memory, with a count of the reads.
struct Images {
    by_hash: BTreeMap<Hash128, Vec<u8>>,
    order: Vec<RawImage>,
    reads: AtomicUsize,
}

impl ImageSource for Images {
    type Error = Error;

    fn read(&self, hash: Hash128) -> Result<Vec<u8>, Error> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        Ok(self.by_hash[&hash].clone())
    }
}

impl Images {
    fn new(images: Vec<Vec<u8>>) -> Images {
        let mut by_hash = BTreeMap::new();
        let mut order = Vec::new();
        for image in images {
            let hash = Hash128::digest(&image);
            let is_spirv = image.starts_with(&[3, 2, 0x23, 7]);
            let kind = if is_spirv { ImageKind::SpirV } else { ImageKind::Object };
            order.push(RawImage { hash, size: image.len() as u64, kind });
            by_hash.insert(hash, image);
        }
        Images { by_hash, order, reads: AtomicUsize::new(0) }
    }

    fn plan(&self, mode: Mode, workers: &dyn Workers) -> Plan {
        packer::plan(&self.order, self, Settings { mode, level: 3 }, workers).unwrap()
    }

    /// The whole pack, and the bytes in its payload.
    fn pack(&self, plan: &Plan) -> (Vec<u8>, u64) {
        let mut builder = PackBuilder::new("p", "1.0.0");
        let mut frames = Vec::new();
        let mut infos = BTreeMap::new();
        for block in 0..plan.blocks().len() {
            let frame = packer::encode_block(plan, self, block).unwrap();
            let info = frame.info();
            builder.block(info.into());
            let images = packer::in_block(plan, block, info.hash, |hash| self.by_hash[&hash].len() as u64);
            infos.extend(images.into_iter().map(|info| (info.hash, info)));
            frames.push(frame);
        }
        for hash in self.by_hash.keys().filter(|hash| matches!(plan.step(**hash), Some(Step::Frame { .. }))) {
            let frame = packer::encode_image(plan, self, *hash).unwrap();
            infos.insert(*hash, frame.info());
            frames.push(frame);
        }
        for (at, image) in self.order.iter().enumerate() {
            let image_record = NewImage::new(&format!("m{at:04}"), "opencl-c".parse().unwrap());
            builder.image(image_record, infos[&image.hash]).unwrap();
        }
        let laid_out = builder.finish().unwrap();
        let bytes = laid_out.with_frames(&frames).unwrap();
        let stored = bytes.len() - laid_out.index.len();
        (bytes, stored as u64)
    }

    fn assert_reads_back(&self, pack: &[u8]) {
        let pages = Pages::default();
        let pack = Pack::parse(pack, &pages).unwrap();
        assert_eq!(pack.image_count(), self.order.len() as u64);
        for (image, candidate) in pack.images().zip(&self.order) {
            let image = image.unwrap();
            assert_eq!(codec::decode(&pack, &image).unwrap(), self.by_hash[&candidate.hash]);
        }
    }
}

fn noise(seed: u64, size: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2) | 1;
    let mut bytes = Vec::with_capacity(size);
    for _ in 0..size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.push((state % 97) as u8);
    }
    bytes
}

fn changed(image: &[u8], seed: u64, size: usize) -> Vec<u8> {
    let mut image = image.to_vec();
    let at = seed as usize * 977 % (image.len() - size);
    image[at..at + size].copy_from_slice(&noise(seed, size));
    image
}

/// A module in the manner of a compiler, whose ids begin at `first`.
fn spirv(first: u32, instructions: u32) -> Vec<u8> {
    let mut words = vec![0x0723_0203, 0x0001_0200, 0, 10_000, 0];
    for at in 0..instructions {
        let id = first + at;
        words.extend([5 << 16 | (128 + at % 7), 3, id, id - 1 - at % 3, id - 2]);
        words.extend([4 << 16 | 61, 3, id + 10_000, id]);
    }
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Two clusters of large images with near-duplicates in them, equal ones, unrelated ones, and many small ones.
fn mixed() -> Images {
    let mut images = Vec::new();
    for cluster in [1, 2] {
        let root = noise(cluster, 70_000);
        for member in 1..5 {
            let child = changed(&root, cluster * 10 + member, 14_000);
            let mut near_duplicate = child.clone();
            near_duplicate[48] ^= 1;
            near_duplicate[69_000] ^= 3;
            images.extend([child.clone(), near_duplicate, child]);
        }
        images.push(root);
    }
    images.push(noise(7, 80_000));
    images.extend((0..40).map(|at| spirv(100 + 13 * at, 300 + at % 3)));
    images.push(noise(8, 500));
    images.push(Vec::new());
    Images::new(images)
}

struct Threads(usize);

impl Workers for Threads {
    fn each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..self.0 {
                scope.spawn(|| {
                    while let Some(at) = Some(next.fetch_add(1, Ordering::SeqCst)).filter(|at| *at < count) {
                        work(at);
                    }
                });
            }
        });
    }
}

/// The images that have to be decoded before this one.
fn ancestors(plan: &Plan, image: Hash128) -> Vec<(Hash128, Codec)> {
    match plan.step(image) {
        Some(Step::Frame { codec, parent: Some(parent), .. }) => {
            [vec![(*parent, *codec)], ancestors(plan, *parent)].concat()
        }
        _ => Vec::new(),
    }
}

#[test]
fn every_effort_packs_everything() {
    let images = mixed();
    let raw: u64 = images.by_hash.values().map(|image| image.len() as u64).sum();
    let mut sizes = Vec::new();
    for mode in [Mode::None, Mode::Fast, Mode::Balanced, Mode::Max] {
        let plan = images.plan(mode, &Sequential);
        for image in &images.order {
            let ancestors = ancestors(&plan, image.hash);
            let frames = ancestors.iter().filter(|(_, codec)| *codec != Codec::Patch).count();
            assert!(frames <= codec::MAX_ANCESTORS, "{ancestors:?}");
            assert!(ancestors.iter().skip(1).all(|(_, codec)| *codec != Codec::Patch), "{ancestors:?}");
        }
        let (pack, stored) = images.pack(&plan);
        images.assert_reads_back(&pack);
        sizes.push(stored);
        assert_eq!(plan.to_string().parse::<Plan>().unwrap(), plan);
    }
    let [none, fast, balanced, max] = <[u64; 4]>::try_from(sizes.clone()).unwrap();
    // Padding between frames comes on top.
    assert!(none >= raw && none < raw + 16 * images.order.len() as u64, "{none} of {raw}");
    // Two roots, an unrelated image, and a fifth of each member; noise of 97 values takes 6.6 bits a byte.
    assert!(fast * 2 < raw && balanced < fast && max <= balanced + 64, "{raw}: {sizes:?}");
}

#[test]
#[cfg(feature = "archive")]
fn archives_read_back() {
    let root = noise(1, 70_000);
    let images = Images::new(vec![changed(&root, 3, 5_000), root, spirv(100, 200), spirv(300, 200)]);
    let plan = images.plan(Mode::Archive, &Sequential);
    let codecs: Vec<_> = images.order.iter().filter_map(|image| plan.step(image.hash)).collect();
    assert!(matches!(codecs[2], Step::InBlock { filter: Filter::SpirvIds, .. }), "{codecs:?}");
    assert!(codecs.iter().any(|step| matches!(step, Step::Frame { codec: Codec::LzmaPrefix, .. })));
    let (pack, _) = images.pack(&plan);
    images.assert_reads_back(&pack);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let images = mixed();
    for mode in [Mode::Fast, Mode::Balanced] {
        let one = images.plan(mode, &Sequential);
        assert_eq!(one, images.plan(mode, &Threads(7)));
        assert_eq!(images.pack(&one), images.pack(&images.plan(mode, &Threads(3))));
    }
}

#[test]
fn images_beyond_the_reach_of_a_fast_compressor_are_patches() {
    let root = noise(1, 5 << 20);
    let mut near_duplicate = root.clone();
    let mut relative = root.clone();
    near_duplicate[48] ^= 1;
    // More than what makes a patch of a smaller image.
    relative.chunks_exact_mut(5000).for_each(|part| part[..200].fill(7));
    // Of another size, so that only a prefix could relate it.
    let longer = [root.as_slice(), &[1, 2, 3]].concat();
    let images = Images::new(vec![root, near_duplicate, relative, longer]);
    let plan = images.plan(Mode::Fast, &Sequential);
    let mut codecs = Vec::new();
    for image in &images.order {
        let Some(Step::Frame { codec, .. }) = plan.step(image.hash) else { panic!("{plan}") };
        codecs.push(*codec);
    }
    assert_eq!(codecs, [Codec::Zstd, Codec::Patch, Codec::Patch, Codec::Zstd]);
    let (pack, _) = images.pack(&plan);
    images.assert_reads_back(&pack);
    // Neither the threads nor the patches that a plan keeps change a byte.
    assert_eq!(images.pack(&images.plan(Mode::Fast, &Threads(7))).0, pack);
    assert_eq!(images.pack(&plan.to_string().parse().unwrap()).0, pack);
}

#[test]
fn a_filter_is_taken_where_it_pays() {
    let images = mixed();
    let plan = images.plan(Mode::Balanced, &Sequential);
    let filters: Vec<Filter> = plan.blocks().iter().map(|block| block.filter).collect();
    assert!(filters.contains(&Filter::SpirvIds), "{filters:?}");
    let step = plan.step(Hash128::digest(&noise(7, 80_000)));
    assert_eq!(step, Some(&Step::Frame { codec: Codec::Zstd, filter: Filter::None, parent: None }));
}

#[test]
fn damaged_plans_are_refused() {
    let text = mixed().plan(Mode::Balanced, &Sequential).to_string();
    for bad in ["", "plan", "plan lots 3", "plan fast x", "plan fast 3\nimage 1", "plan fast 3\nimage 1 0 12"]
    {
        assert!(bad.parse::<Plan>().is_err(), "{bad}");
    }
    assert!(text.replace("block ", "blocks ").parse::<Plan>().is_err());
}

/// The plan and the payload's size of images that are too many for one block.
fn in_blocks(images: &Images, mode: Mode) -> (Plan, u64) {
    let plan = images.plan(mode, &Sequential);
    assert_eq!(plan.to_string().parse::<Plan>().unwrap(), plan);
    let (pack, stored) = images.pack(&plan);
    images.assert_reads_back(&pack);
    (plan, stored)
}

/// How many blocks have to be decoded before this one.
fn depth(plan: &Plan, block: usize) -> usize {
    plan.blocks()[block].parent.map_or(0, |parent| 1 + depth(plan, parent))
}

/// Of eight files for eight processors: two generations of four. Generations have the file's data in common, and files
/// the generation's templates; processors of a generation differ in little, more with each.
fn image_of_family(at: u64) -> Vec<u8> {
    let file = at / 8;
    let generation = at / 4 % 2;
    let processor = at % 4;
    let own = noise(1000 + at / 4, 30_000);
    let image = [noise(100 + generation, 40_000), noise(200 + file, 2_000), own].concat();
    if processor == 0 { image } else { changed(&image, at, 2_000 >> processor) }
}

#[test]
fn families_are_spread_over_blocks_that_build_on_each_other() {
    let images = Images::new((0..64).map(image_of_family).collect());
    let (plan, stored) = in_blocks(&images, Mode::Balanced);
    let deepest = (0..plan.blocks().len()).map(|block| depth(&plan, block)).max();
    assert_eq!(deepest, Some(codec::MAX_ANCESTORS), "{plan}");
    // What is new in each cluster, generation and processor; blocks of neighbours take one per cent more.
    assert!(stored < 510_000, "{stored}");
}

#[test]
fn blocks_build_on_one_that_stands_for_itself() {
    let common = noise(1, 6000);
    let images = Images::new((100..260).map(|at| [&common[..], &noise(at, 14_000)].concat()).collect());
    let (plan, stored) = in_blocks(&images, Mode::Balanced);
    let parents: Vec<usize> = plan.blocks().iter().filter_map(|block| block.parent).collect();
    assert!(!parents.is_empty() && parents.len() < plan.blocks().len(), "{parents:?}");
    assert!((0..plan.blocks().len()).all(|block| depth(&plan, block) <= codec::MAX_ANCESTORS), "{parents:?}");
    // What is common to all is in the payload once, but in the roots of a mode that measures nothing.
    let (fast, larger) = in_blocks(&images, Mode::Fast);
    assert!(fast.blocks().iter().all(|block| block.parent.is_none()));
    assert!(stored + 4000 < larger, "{stored} {larger}");
}

fn medium_image(at: u64) -> Vec<u8> {
    changed(&noise(at % 8, 70_000), at, 5000)
}

#[test]
fn many_medium_images_share_blocks_where_size_matters() {
    let few = Images::new((0..20).map(medium_image).collect());
    assert!(in_blocks(&few, Mode::Balanced).0.blocks().is_empty());
    let many = Images::new((0..packer::MIN_MEDIUM_IMAGES as u64).map(medium_image).collect());
    assert!(!in_blocks(&many, Mode::Balanced).0.blocks().is_empty());
    assert!(in_blocks(&many, Mode::Fast).0.blocks().is_empty());
}
