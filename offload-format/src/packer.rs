//! Deciding how the images of a pack are stored: alone, relative to one another, or together in blocks.
//!
//! Peers compress all architectures as one frame, and decode everything to use one; or every image alone, and store
//! everything many times. Here images that resemble each other are stored in delta chains, and each is reachable
//! through at most two others:
//!
//! 1. equal images are one;
//! 2. small ones share blocks, some of which are stored relative to other blocks, and so do medium ones where they
//!    are many;
//! 3. *near-duplicates* of one size that differ in a few bytes (AMD's gfx1030 to gfx1036 differ in two) become patches;
//! 4. of the rest, sketches of the bytes tell which may resemble each other, and trial compression tells how much;
//! 5. a search chooses the parent of each.
//!
//! Names and targets play no part. The plan is a function of the images, in their order: neither the number of
//! threads nor the machine changes it. What is in memory at a time is limited, whatever the number of images: see
//! [`MEMORY`] and [`TABLES`]. [`plan`] decides, [`Plan`] says what was decided, [`make_frames`] carries it out by
//! [`encode_image`] and [`encode_block`].

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

pub use self::budget::{Pool, Sequential, Share, Workers};
pub use self::encode::{block_need, encode_block, encode_image, image_need, in_block, stream};
pub use self::frames::{FrameMaker, Frames, StoredFrame, make_frames};
pub use self::need::{MEMORY, Need, TABLES};
pub use self::pieces::{PIECE, Pieces, read_piece};
pub use self::plan::{BlockPlan, Plan, Step};
pub use self::settings::{MANY, MAX_LEVEL, MAX_WHOLE, MEDIUM, Mode, SMALL, Settings};
pub use self::source::{ImageSource, RawImage};
pub use self::work::{Content, FrameWork, compressor};
pub use crate::codec::memory::image_buffer;

use self::planner::Planner;
use self::settings::is_out_of_reach;
use self::sketch::Part;
use crate::codec::{Codec, Filter, MAX_ANCESTORS};

/// Decides how `images` are stored; `source` has their bytes.
///
/// ```
/// use offload_format::codec::{Codec, DEV_LEVEL};
/// use offload_format::packer::{RawImage, Mode, Sequential, Settings, ImageSource, Step, plan};
/// use offload_format::{Error, Hash128, ImageKind};
///
/// struct Images(Vec<Vec<u8>>);
///
/// impl ImageSource for Images {
///     type Error = Error;
///
///     fn read(&self, hash: Hash128) -> Result<Vec<u8>, Error> {
///         Ok(self.0.iter().find(|image| Hash128::of(image) == hash).cloned().unwrap_or_default())
///     }
/// }
///
/// let image: Vec<u8> = (0..100_000u32).flat_map(|word| word.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();
/// let mut near_duplicate = image.clone();
/// near_duplicate[48] ^= 1;
/// let images = Images(vec![image, near_duplicate]);
/// let packed: Vec<RawImage> = images.0.iter()
///     .map(|image| RawImage { hash: Hash128::of(image), size: image.len() as u64, kind: ImageKind::Object })
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
    let planner = Planner { source, pool: &pool, mode: settings.mode };
    let mut plan = Plan::new(settings);
    let images = distinct(images);
    if settings.mode == Mode::None {
        images.iter().for_each(|image| plan.alone(image.hash, Codec::Raw, Filter::None));
        return Ok(plan);
    }
    let limit = block_limit(&images, settings.mode);
    let (small, rest): (Vec<_>, Vec<_>) = images.into_iter().partition(|image| image.size < limit);
    blocks::plan(&mut plan, &small, &planner)?;

    let size = sketch::size(rest.len());
    let sketch = |image: &RawImage| {
        let part = if is_out_of_reach(image, settings.mode) { Part::Sample } else { Part::Whole };
        sketch::of_pieces(&mut *source.open(image.hash)?, size, part)
    };
    let sketches = pool.map(&rest, |image| source.held(image.size), sketch)?;
    let near_duplicates = near_duplicates::find(&rest, &sketches, &planner)?;
    let others = (0..rest.len()).filter(|at| !near_duplicates.contains_key(at));
    let (far, candidates): (Vec<usize>, Vec<usize>) =
        others.partition(|at| rest.get(*at).is_some_and(|image| is_out_of_reach(image, settings.mode)));
    let far = far.into_iter().filter_map(|at| rest.get(at));
    far.for_each(|image| plan.alone(image.hash, Codec::Zstd, Filter::None));
    let relations = sketch::relations(&candidates, &sketches, settings.mode);
    let measured = match settings.mode {
        Mode::Fast => measure::guess(&rest, &candidates, size, &relations),
        _ => measure::measure(&rest, &candidates, &relations, &planner)?,
    };
    let parents = tree::choose(&measured.alone, &measured.related, MAX_ANCESTORS as u8);
    plan.tree(&rest, &candidates, &measured.filters, &parents);
    plan.patches(&rest, near_duplicates);
    Ok(plan)
}

/// The size from which on images have frames of their own.
fn block_limit(images: &[RawImage], mode: Mode) -> u64 {
    let medium = images.iter().filter(|image| image.size < MEDIUM).count();
    if mode > Mode::Fast && medium >= MANY { MEDIUM } else { SMALL }
}

/// Each image once, where it came first.
fn distinct(images: &[RawImage]) -> Vec<RawImage> {
    let mut seen = std::collections::BTreeSet::new();
    images.iter().filter(|image| seen.insert(image.hash)).copied().collect()
}
