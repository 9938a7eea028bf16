//! The packer: deduplication, delta chains and blocks for the images of a pack.
//!
//! Peers compress all architectures as one frame, and decode everything to load one image; or every image alone, and store
//! shared code many times. Here similar images form delta chains of at most two ancestors:
//!
//! 1. equal images are deduplicated;
//! 2. small images share blocks, which may have parent blocks; so do medium images if there are many, and larger ones in
//!    small sets where trial compression says so; small blocks of AMD's code objects have a preset dictionary;
//! 3. *near-duplicates* of equal size that differ in a few bytes (AMD's gfx1030 to gfx1036 differ in two) become patches;
//! 4. of the rest, sketches find candidates for parents, and trial compression measures them;
//! 5. a local search chooses the parent of each image.
//!
//! Names and targets are not used. The plan is a pure function of the images in their order, independent of the number of
//! threads and of the machine. Memory in use is bounded, whatever the number of images: see [`MEMORY`] and [`TABLES`].
//! [`plan`] computes a [`Plan`]; [`make_frames`] executes it with [`encode_image`] and [`encode_block`].
//!
//! The crate does no I/O, reads no environment and starts no process; it has no unsafe code, and no input makes it panic.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod block_parents;
mod blocks;
mod budget;
mod clusters;
mod encode;
mod frames;
mod measure;
mod members;
mod near_duplicates;
mod need;
mod pieces;
mod plan;
mod planner;
mod queue;
mod settings;
mod similarity_order;
mod sketch;
mod source;
mod tree;
mod work;

pub use self::budget::{Pool, Reservation, Sequential, Workers};
pub use self::encode::{block_need, encode_block, encode_image, image_need, in_block, stream};
pub use self::frames::{FrameMaker, Frames, StoredFrame, make_frames};
pub use self::need::{MEMORY, MemoryNeed, TABLES};
pub use self::pieces::{PIECE, Pieces, read_piece};
pub use self::plan::{BlockPlan, Plan, Step};
pub use self::settings::{
    LARGE_IMAGE, MAX_LEVEL, MAX_TRIED_BLOCKS, MAX_WHOLE, MEDIUM_IMAGE, MIN_BLOCK_GAIN, MIN_MEDIUM_IMAGES,
    Mode, SMALL_IMAGE, Settings,
};
pub use self::source::{ImageSource, RawImage};
pub use self::work::{Content, FrameWork, compressor};
pub use offload_format::codec::image_buffer;

use self::planner::Planner;
use self::settings::{MAX_THOROUGH_SET, exceeds_reach};
use self::sketch::Part;
use offload_format::codec::{Codec, Filter, MAX_ANCESTORS};

/// Plans the storage of `images`, whose bytes are in `source`.
///
/// ```
/// use offload_format::codec::{Codec, DEV_LEVEL};
/// use offload_packer::{RawImage, Mode, Sequential, Settings, ImageSource, Step, plan};
/// use offload_format::{Error, Hash128, ImageKind};
///
/// struct Images(Vec<Vec<u8>>);
///
/// impl ImageSource for Images {
///     type Error = Error;
///
///     fn read(&self, hash: Hash128) -> Result<Vec<u8>, Error> {
///         Ok(self.0.iter().find(|image| Hash128::digest(image) == hash).cloned().unwrap_or_default())
///     }
/// }
///
/// let image: Vec<u8> = (0..100_000u32).flat_map(|word| word.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();
/// let mut near_duplicate = image.clone();
/// near_duplicate[48] ^= 1;
/// let images = Images(vec![image, near_duplicate]);
/// let packed: Vec<RawImage> = images.0.iter()
///     .map(|image| RawImage { hash: Hash128::digest(image), size: image.len() as u64, kind: ImageKind::Object })
///     .collect();
/// let plan = plan(&packed, &images, Settings { mode: Mode::Fast, level: DEV_LEVEL }, &Sequential)?;
/// let Some(Step::Frame { codec: Codec::Patch, parent: Some(parent), .. }) = plan.step(packed[1].hash) else {
///     panic!("the second image is a patch of the first");
/// };
/// assert_eq!(*parent, packed[0].hash);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Those of `source`; those of zstd.
pub fn plan<S: ImageSource>(
    images: &[RawImage],
    source: &S,
    settings: Settings,
    workers: &dyn Workers,
) -> Result<Plan, S::Error> {
    let pool = Pool::new(workers);
    let images = distinct(images);
    if settings.mode == Mode::None {
        let mut plan = Plan::new(settings);
        for image in &images {
            plan.add_root(image.hash, Codec::Raw, Filter::None);
        }
        return Ok(plan);
    }
    let limit = choose_limit(&images, settings, &Planner { source, pool: &pool, mode: settings.mode })?;
    let planner = Planner { source, pool: &pool, mode: planning_mode(&images, settings.mode) };
    Ok(plan_with_limit(&images, settings, &planner, limit)?.plan)
}

/// The size from which images have frames of their own.
fn choose_limit<S: ImageSource>(
    images: &[RawImage],
    settings: Settings,
    planner: &Planner<'_, S>,
) -> Result<u64, S::Error> {
    let limits = block_limits(images, settings.mode);
    if let [limit] = limits.as_slice() {
        return Ok(*limit);
    }
    let mut best = (SMALL_IMAGE, u64::MAX);
    for limit in limits {
        let size = plan_with_limit(images, settings, planner, limit)?.size;
        if size < best.1.saturating_sub(best.1 / MIN_BLOCK_GAIN) {
            best = (limit, size);
        }
    }
    Ok(best.0)
}

/// The mode that determines the effort of planning: small sets are planned as in the mode `max`, which takes seconds.
fn planning_mode(images: &[RawImage], mode: Mode) -> Mode {
    let total = images.iter().map(|image| image.size).fold(0, u64::saturating_add);
    if mode == Mode::Balanced && total <= MAX_THOROUGH_SET { Mode::Max } else { mode }
}

/// A plan with its size under trial compression in bytes.
struct SizedPlan {
    plan: Plan,
    size: u64,
}

/// Plans images below `limit` in blocks, and larger ones as delta chains.
fn plan_with_limit<S: ImageSource>(
    images: &[RawImage],
    settings: Settings,
    planner: &Planner<'_, S>,
    limit: u64,
) -> Result<SizedPlan, S::Error> {
    let Planner { source, pool, .. } = *planner;
    let mut plan = Plan::new(settings);
    let (small, rest): (Vec<RawImage>, Vec<RawImage>) = images.iter().partition(|image| image.size < limit);
    let in_blocks = blocks::plan(&mut plan, &small, planner)?;

    let size = sketch::size(rest.len());
    let sketches = pool.map(
        &rest,
        |image| source.held(image.size),
        |image| {
            let part = if exceeds_reach(image, settings.mode) { Part::Sample } else { Part::Whole };
            sketch::from_pieces(&mut *source.open(image.hash)?, size, part)
        },
    )?;
    let near_duplicates = near_duplicates::find(&rest, &sketches, planner)?;
    let mut candidates = Vec::new();
    for (place, image) in rest.iter().enumerate() {
        if near_duplicates.contains_key(&place) {
            continue;
        }
        if exceeds_reach(image, settings.mode) {
            plan.add_root(image.hash, Codec::Zstd, Filter::None);
        } else {
            candidates.push(place);
        }
    }
    let relations = sketch::relations(&candidates, &sketches, settings.mode);
    let measured = match settings.mode {
        Mode::Fast => measure::estimate(&rest, &candidates, size, &relations),
        _ => measure::measure(&rest, &candidates, &relations, planner)?,
    };
    let parents = tree::choose(&measured.alone, &measured.related, MAX_ANCESTORS as u8);
    let in_trees = tree::size(&measured.alone, &measured.related, &parents);
    plan.add_tree(&rest, &candidates, &measured.filters, &parents);
    plan.add_patches(&rest, near_duplicates);
    Ok(SizedPlan { plan, size: in_blocks.saturating_add(in_trees) })
}

/// The sizes from which images may have frames of their own, of which trial compression chooses.
fn block_limits(images: &[RawImage], mode: Mode) -> Vec<u64> {
    let medium = images.iter().filter(|image| image.size < MEDIUM_IMAGE).count();
    if mode == Mode::Fast {
        return vec![SMALL_IMAGE];
    }
    if medium >= MIN_MEDIUM_IMAGES {
        return vec![MEDIUM_IMAGE];
    }
    let mut limits = vec![SMALL_IMAGE];
    for limit in [MEDIUM_IMAGE, LARGE_IMAGE] {
        let larger = images.iter().filter(|image| image.size < limit);
        let total = larger.clone().map(|image| image.size).fold(0, u64::saturating_add);
        let is_new = larger.clone().any(|image| limits.iter().all(|limit| image.size >= *limit));
        if is_new && total <= MAX_TRIED_BLOCKS {
            limits.push(limit);
        }
    }
    limits
}

/// Removes duplicates; the first of equal images stays.
fn distinct(images: &[RawImage]) -> Vec<RawImage> {
    let mut seen = std::collections::BTreeSet::new();
    images.iter().filter(|image| seen.insert(image.hash)).copied().collect()
}

/// The example of the README, as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
