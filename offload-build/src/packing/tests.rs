//! Packing through the cache: hits, misses and memory.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use offload_format::codec::{self, Codec};
use offload_format::pack::{NewImage, Pack as Reader, Pages};
use offload_jobs::Jobs;
use offload_packer::Mode;

use super::*;
use crate::cache::tests::{key, unlimited};
use crate::env::CargoEnv;
use crate::tool::ToolLimit;

fn context() -> (tempfile::TempDir, Context) {
    let (dir, cache) = unlimited();
    let env = CargoEnv::for_machine(dir.path(), dir.path());
    (
        dir,
        Context {
            env,
            cache,
            jobs: Jobs::new(None),
            tool_limit: ToolLimit::default(),
            libraries: None,
            tally: offload_cache::Tally::default(),
        },
    )
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

/// Images as modules `m0`, `m1`, and so on.
fn compiled(context: &Context, images: &[Vec<u8>]) -> Vec<DeviceImage> {
    images
        .iter()
        .enumerate()
        .map(|(at, bytes)| DeviceImage {
            record: NewImage::new(&format!("m{at}"), "opencl-c".parse().unwrap()),
            bytes: context.cache.put(key(&format!("raw {at} {}", Hash128::digest(bytes))), bytes).unwrap(),
        })
        .collect()
}

fn packed(context: &Context, settings: Settings, images: Vec<DeviceImage>) -> Vec<u8> {
    let builder = PackBuilder::new("p", "1.0.0");
    let pack = Packer { context, settings, remote: None }.pack(builder, images).unwrap();
    let mut bytes = Vec::new();
    pack.write_to(&mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, pack.layout.size);
    bytes
}

fn images() -> Vec<Vec<u8>> {
    let root = noise(1, 80_000);
    let mut child = root.clone();
    child[1000..3000].copy_from_slice(&noise(2, 2000));
    let mut near_duplicate = child.clone();
    near_duplicate[48] ^= 1;
    vec![root.clone(), child, near_duplicate, root, noise(3, 500), noise(4, 700), Vec::new()]
}

fn assert_reads_back(bytes: &[u8], images: &[Vec<u8>]) {
    let pages = Pages::default();
    let pack = Reader::parse(bytes, &pages).unwrap();
    pack.verify_index().unwrap();
    for (image, raw) in pack.images().zip(images) {
        assert_eq!(codec::decode(&pack, &image.unwrap()).unwrap(), *raw);
    }
}

const FAST: Settings = Settings { mode: Mode::Fast, level: 3 };

#[test]
fn every_effort_reads_back() {
    for mode in [Mode::None, Mode::Fast, Mode::Balanced, Mode::Max, Mode::Archive] {
        let (_dir, context) = context();
        let images = images();
        let bytes = packed(&context, Settings { mode, level: 3 }, compiled(&context, &images));
        assert_reads_back(&bytes, &images);
        let pages = Pages::default();
        let pack = Reader::parse(&bytes, &pages).unwrap();
        let codecs: Vec<Codec> = pack.images().map(|image| image.unwrap().codec).collect();
        let patched = codecs.iter().filter(|codec| **codec == Codec::Patch).count();
        // Where time matters, what differs in a 32nd is a patch too.
        let expected = match mode {
            Mode::None => 0,
            Mode::Fast => 2,
            _ => 1,
        };
        assert_eq!(patched, expected, "{codecs:?}");
    }
}

/// The files of a cache, with their times.
fn entries(dir: &Path) -> BTreeMap<PathBuf, SystemTime> {
    let mut found = BTreeMap::new();
    for path in crate::fs::list(dir).unwrap() {
        if path.is_dir() {
            found.extend(entries(&path));
        } else {
            found.insert(path.clone(), path.metadata().unwrap().modified().unwrap());
        }
    }
    found
}

#[test]
fn an_unchanged_build_compresses_nothing() {
    let (dir, context) = context();
    let images = images();
    let first = packed(&context, FAST, compiled(&context, &images));
    let again = compiled(&context, &images);
    let before = entries(dir.path());
    assert!(before.len() > 8, "{before:?}");
    assert_eq!(packed(&context, FAST, again), first);
    assert_eq!(entries(dir.path()), before);
}

#[test]
fn a_changed_image_leaves_the_frames_of_unrelated_ones() {
    let (dir, context) = context();
    let mut images = images();
    packed(&context, FAST, compiled(&context, &images));
    images[1] = noise(9, 80_001);
    let changed = compiled(&context, &images);
    let before = entries(dir.path());
    let bytes = packed(&context, FAST, changed);
    // That all images are for their targets, the plan, the frame of the changed image, that of its near-duplicate, which is
    // one no more, maybe that of the root; but not the block of the small ones.
    let made = entries(dir.path()).len() - before.len();
    assert!((3..=5).contains(&made), "{made} made");
    assert_reads_back(&bytes, &images);
}

#[test]
fn a_damaged_frame_is_missed_and_made_again() {
    let (dir, context) = context();
    let images = images();
    let first = packed(&context, FAST, compiled(&context, &images));
    for path in entries(dir.path()).into_keys().filter(|path| path.extension().is_some_and(|e| e == "blob")) {
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
    let again = context.cache.retry_lost_entries::<_, Error>(&context.env.out_dir, || {
        let images = compiled(&context, &images);
        let made = Packer { context: &context, settings: FAST, remote: None }
            .pack(PackBuilder::new("p", "1.0.0"), images)?;
        let mut bytes = Vec::new();
        made.write_to(&mut bytes).map_err(|error| Error::io("write", dir.path(), error))?;
        Ok(bytes)
    });
    assert_eq!(again.unwrap(), first);
}

#[test]
fn an_image_above_all_windows_is_streamed() {
    let (_dir, context) = context();
    let image = noise(1, 1 << 20).repeat(33);
    let bytes = packed(&context, FAST, compiled(&context, std::slice::from_ref(&image)));
    assert!(bytes.len() < image.len() / 20, "{} bytes", bytes.len());
    assert_reads_back(&bytes, &[image]);
}

#[test]
fn near_duplicates_above_all_windows_are_patches() {
    let (_dir, context) = context();
    let image = noise(1, 1 << 20).repeat(33);
    let mut near_duplicate = image.clone();
    let mut relative = image.clone();
    near_duplicate[48] ^= 1;
    // A fiftieth in runs, one of them across two pieces.
    relative.chunks_mut(10_000).for_each(|part| part[..200].copy_from_slice(&noise(2, 200)));
    let images = [image, near_duplicate, relative];
    for mode in [Mode::Fast, Mode::Balanced] {
        let bytes = packed(&context, Settings { mode, level: 1 }, compiled(&context, &images));
        assert_reads_back(&bytes, &images);
        let pages = Pages::default();
        let pack = Reader::parse(&bytes, &pages).unwrap();
        let stored: Vec<_> = pack.images().map(|image| image.unwrap()).collect();
        let codecs: Vec<Codec> = stored.iter().map(|image| image.codec).collect();
        assert_eq!(codecs, [Codec::Zstd, Codec::Patch, Codec::Patch]);
        assert!(stored[1].stored_size < 16 && stored[2].stored_size < images[2].len() as u64 / 45);
    }
}

const SM_80: &[u8] = include_bytes!("../../../tests/data/device-12.9-sm_80.cubin");
const SM_90A: &[u8] = include_bytes!("../../../tests/data/device-12.9-sm_90a.cubin");

/// The images of both cubins, written on a miss, and the number of misses.
fn two_cubins(context: &Context) -> Result<(Vec<u8>, usize)> {
    let made = std::cell::Cell::new(0);
    let bytes = context.cache.retry_lost_entries::<_, Error>(&context.env.out_dir, || {
        let mut images = Vec::new();
        for (target, cubin) in [("cubin:sm_80", SM_80), ("cubin:sm_90a", SM_90A)] {
            let record = NewImage::new("m", target.parse().unwrap());
            let bytes = context.cache.get_or(key(target), || {
                made.set(made.get() + 1);
                Ok::<_, Error>(cubin.to_vec())
            })?;
            images.push(DeviceImage { record, bytes });
        }
        let packer = Packer { context, settings: FAST, remote: None };
        let pack = packer.pack(PackBuilder::new("p", "1.0.0"), images)?;
        let mut bytes = Vec::new();
        pack.write_to(&mut bytes).map_err(|error| Error::new(error.to_string()))?;
        Ok(bytes)
    })?;
    Ok((bytes, made.get()))
}

/// Each entry names its key and is undamaged, and holds the other's image.
#[test]
fn images_for_other_targets_are_made_anew() {
    let (_dir, context) = context();
    let (first, made) = two_cubins(&context).unwrap();
    assert_eq!(made, 2);
    assert_reads_back(&first, &[SM_80.to_vec(), SM_90A.to_vec()]);
    context.cache.put(key("cubin:sm_80"), SM_90A).unwrap();
    context.cache.put(key("cubin:sm_90a"), SM_80).unwrap();
    assert_eq!(two_cubins(&context).unwrap(), (first, 2));
}

#[test]
fn an_image_that_is_always_for_another_target_is_an_error() {
    let (_dir, context) = context();
    let error = context.cache.retry_lost_entries::<_, Error>(&context.env.out_dir, || {
        let bytes = context.cache.get_or::<Error>(key("a"), || Ok(SM_80.to_vec()))?;
        let record = NewImage::new("m", "cubin:sm_90a".parse().unwrap());
        Packer { context: &context, settings: FAST, remote: None }
            .pack(PackBuilder::new("p", "1.0.0"), vec![DeviceImage { record, bytes }])
    });
    let printed = error.unwrap_err().to_string();
    assert_eq!(printed, "kernel module `m`, target `cubin:sm_90a`: the image is for cubin:sm_80");
}
