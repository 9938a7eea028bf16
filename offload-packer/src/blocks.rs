//! Grouping of small images into blocks.

use std::collections::{BTreeMap, BTreeSet};

use super::block_parents::BlockParents;
use super::encode::join_contents;
use super::measure::TRIAL_LEVEL;
use super::members::{Members, split_by_size};
use super::plan::{BlockPlan, Plan};
use super::planner::Planner;
use super::settings::Mode;
use super::sketch::{self, Sketch};
use super::source::{ImageSource, RawImage};
use super::{clusters, similarity_order};
use offload_format::codec::{self, Filter, PRESET};
use offload_format::{Hash128, ImageKind};

/// The size of blocks in bytes. To load an image a reader decodes its block and up to two ancestors: a few hundred
/// microseconds in the mode `balanced`, some milliseconds in the mode `archive`.
fn block_size(mode: Mode) -> u64 {
    match mode {
        Mode::None | Mode::Fast => 256 << 10,
        Mode::Balanced | Mode::Max => 1 << 20,
        Mode::Archive => 4 << 20,
    }
}

/// The size of a segment, for which the order of images is optimised.
const SEGMENT_SIZE: u64 = 64 << 20;
/// The size of the sketch of an image.
const SKETCH_SIZE: usize = 64;

/// Groups `images` into blocks by kind; returns their size under trial compression, in the mode `fast` that of their
/// contents.
pub(super) fn plan<S: ImageSource>(
    plan: &mut Plan,
    images: &[RawImage],
    planner: &Planner<'_, S>,
) -> Result<u64, S::Error> {
    let mut kinds: BTreeMap<u16, Vec<RawImage>> = BTreeMap::new();
    for image in images {
        kinds.entry(image.kind.to_u16()).or_default().push(*image);
    }
    let mut total = 0u64;
    for images in kinds.into_values() {
        let (order, BlockParents { parents, size }) = match planner.mode {
            Mode::None | Mode::Fast => {
                let order = unfiltered(split_by_size(&images, block_size(planner.mode)));
                let parents = vec![None; order.len()];
                let size = order.iter().map(Members::size).fold(0, u64::saturating_add);
                (order, BlockParents { parents, size })
            }
            _ => best_order(&images, planner)?,
        };
        let presets = resemble_preset(&order, &parents, planner)?;
        add_blocks(plan, order, &BlockRelations { parents, presets });
        total = total.saturating_add(size);
    }
    Ok(total)
}

/// What blocks are compressed relative to.
struct BlockRelations {
    parents: Vec<Option<usize>>,
    /// Whether the preset dictionary pays.
    presets: Vec<bool>,
}

/// The largest set of images for whose order the preset dictionary counts. It saves some hundred bytes.
const SMALL_SET: u64 = 4 << 20;
/// The bytes that the preset dictionary must save.
const MIN_PRESET_GAIN: u64 = 64;

/// Whether each block without a parent is smaller with the preset dictionary, under trial compression.
fn resemble_preset<S: ImageSource>(
    order: &Order,
    parents: &[Option<usize>],
    planner: &Planner<'_, S>,
) -> Result<Vec<bool>, S::Error> {
    if planner.mode <= Mode::Fast {
        return Ok(vec![false; order.len()]);
    }
    let blocks: Vec<(&Members, bool)> =
        order.iter().zip(parents).map(|(block, parent)| (block, parent.is_none())).collect();
    planner.pool.map(
        &blocks,
        |(block, _)| block.size().saturating_mul(3),
        |(block, is_root)| {
            let is_code = block.images.iter().all(|image| image.kind == ImageKind::Object);
            if !is_root || !is_code {
                return Ok(false);
            }
            let content = content(block, planner.source)?;
            let alone = codec::trial_size(&content, None, TRIAL_LEVEL)?;
            let with_preset = codec::trial_size(&content, Some(PRESET), TRIAL_LEVEL)?;
            Ok(with_preset.saturating_add(MIN_PRESET_GAIN) < alone)
        },
    )
}

/// Adds the blocks of `order` to the plan. A single image needs no block, unless the block has a parent or is one.
fn add_blocks(plan: &mut Plan, order: Order, relations: &BlockRelations) {
    let BlockRelations { parents, presets } = relations;
    let sizes: Vec<u64> = order.iter().map(Members::size).collect();
    let used: BTreeSet<usize> = parents.iter().flatten().copied().collect();
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let first_number = plan.blocks().len();
    for (place, (block, parent)) in order.iter().zip(parents).enumerate() {
        if block.images.len() > 1 || parent.is_some() || used.contains(&place) {
            numbers.insert(place, first_number.saturating_add(numbers.len()));
        }
    }
    let settings = plan.settings;
    for (place, (Members { filter, images }, parent)) in order.into_iter().zip(parents).enumerate() {
        if !numbers.contains_key(&place) {
            for image in images {
                plan.add_root(image.hash, settings.codec(image.size, None), filter);
            }
            continue;
        }
        let size = sizes.get(place).copied().unwrap_or(0);
        let parent_size = parent.and_then(|parent| sizes.get(parent).copied());
        let has_preset = presets.get(place).copied().unwrap_or(false);
        plan.add_block(BlockPlan {
            codec: if has_preset { settings.preset_codec() } else { settings.codec(size, parent_size) },
            filter,
            members: images.iter().map(|image| image.hash).collect(),
            parent: parent.and_then(|place| numbers.get(&place).copied()),
        });
    }
}

type Order = Vec<Members>;

/// The best order under trial compression, with the parents of its blocks.
fn best_order<S: ImageSource>(
    images: &[RawImage],
    planner: &Planner<'_, S>,
) -> Result<(Order, BlockParents), S::Error> {
    let mut order = Order::new();
    let mut parents = BlockParents { parents: Vec::new(), size: 0 };
    let segments = split_by_size(images, SEGMENT_SIZE);
    for images in &segments {
        let sketches = ImageSketches::new(images, planner)?;
        let segment = Segment { images, sketches: &sketches, planner };
        let full = segment.full_blocks()?;
        let (blocks, block_parents) = segment.with_clusters(full)?;
        order.extend(blocks);
        parents = block_parents;
    }
    if segments.len() > 1 {
        parents = BlockParents::measure(&order, planner)?;
    }
    Ok((order, parents))
}

/// Images whose order is optimised together.
struct Segment<'a, S> {
    images: &'a [RawImage],
    sketches: &'a ImageSketches,
    planner: &'a Planner<'a, S>,
}

impl<S: ImageSource> Segment<'_, S> {
    /// Full blocks of neighbours, with or without filters. Three orders are tried: neighbours in the pack often have one
    /// source, neighbours by size are often similar, and sketches measure similarity. The best one differs between
    /// libraries.
    fn full_blocks(&self) -> Result<Order, S::Error> {
        let mut by_size = self.images.to_vec();
        by_size.sort_by_key(|image| image.size);
        let limit = block_size(self.planner.mode);
        let total = by_size.iter().map(|image| image.size).fold(0, u64::saturating_add);
        let has_preset = total <= SMALL_SET && by_size.iter().all(|image| image.kind == ImageKind::Object);
        let mut best: Option<(u64, Order)> = None;
        for images in [self.images, &by_size, &self.sketches.by_similarity] {
            let plain = unfiltered(split_by_size(images, limit));
            let filtered = self.sketches.by_filter(images, |images| split_by_size(images, limit));
            let filtered = Some(filtered).filter(has_filter);
            for order in [Some(plain), filtered].into_iter().flatten() {
                let sizes = self.planner.pool.map(
                    &order,
                    |block| 2 * block.size(),
                    |block| trial_size(block, has_preset, self.planner.source),
                )?;
                let size = sizes.into_iter().sum();
                if best.as_ref().is_none_or(|(best, _)| size < *best) {
                    best = Some((size, order));
                }
            }
        }
        Ok(best.map(|(_, order)| order).unwrap_or_default())
    }

    /// `full`, or blocks by cluster if these are smaller, with their parents.
    fn with_clusters(&self, full: Order) -> Result<(Order, BlockParents), S::Error> {
        let limit = block_size(self.planner.mode);
        let images = &self.sketches.by_similarity;
        let sketches = &self.sketches.sketches;
        let clusters = if has_filter(&full) {
            self.sketches.by_filter(images, |images| clusters::blocks(images, sketches, limit))
        } else {
            unfiltered(clusters::blocks(images, sketches, limit))
        };
        let cluster_parents = BlockParents::measure(&clusters, self.planner)?;
        let full_parents = BlockParents::measure(&full, self.planner)?;
        if cluster_parents.size < full_parents.size {
            Ok((clusters, cluster_parents))
        } else {
            Ok((full, full_parents))
        }
    }
}

fn has_filter(order: &Order) -> bool {
    order.iter().any(|block| block.filter != Filter::None)
}

/// The filters and sketches of images.
struct ImageSketches {
    /// The filters that apply to them.
    filters: BTreeMap<Hash128, Filter>,
    /// The sketches of their contents.
    sketches: BTreeMap<Hash128, Sketch>,
    /// The images in similarity order.
    by_similarity: Vec<RawImage>,
}

impl ImageSketches {
    fn new<S: ImageSource>(images: &[RawImage], planner: &Planner<'_, S>) -> Result<ImageSketches, S::Error> {
        let sketched: Vec<(Filter, Sketch)> = planner.pool.map(
            images,
            |image| 2 * image.size,
            |image| {
                let bytes = planner.source.read(image.hash)?;
                let filter = Filter::for_image(&bytes);
                Ok::<_, S::Error>(match filter.forward(&bytes) {
                    Some(content) => (filter, sketch::new(&content, SKETCH_SIZE)),
                    None => (Filter::None, sketch::new(&bytes, SKETCH_SIZE)),
                })
            },
        )?;
        let (filters, sketches): (Vec<_>, Vec<_>) = sketched.into_iter().unzip();
        let order = similarity_order::order(&sketches);
        let hashes: Vec<Hash128> = images.iter().map(|image| image.hash).collect();
        Ok(ImageSketches {
            by_similarity: order.into_iter().filter_map(|place| images.get(place)).copied().collect(),
            filters: hashes.iter().copied().zip(filters).collect(),
            sketches: hashes.into_iter().zip(sketches).collect(),
        })
    }

    /// Blocks by filter, each group divided by `split`.
    fn by_filter(&self, images: &[RawImage], split: impl Fn(&[RawImage]) -> Vec<Vec<RawImage>>) -> Order {
        let mut groups: BTreeMap<u16, Vec<RawImage>> = BTreeMap::new();
        for image in images {
            let filter = self.filters.get(&image.hash).copied().unwrap_or(Filter::None);
            groups.entry(filter.to_u16()).or_default().push(*image);
        }
        let mut blocks = Vec::new();
        for (filter, group) in groups {
            let filter = Filter::from_u16(filter);
            blocks.extend(split(&group).into_iter().map(|images| Members { filter, images }));
        }
        blocks
    }
}

fn unfiltered(blocks: Vec<Vec<RawImage>>) -> Order {
    blocks.into_iter().map(|images| Members { filter: Filter::None, images }).collect()
}

/// The size of a block under trial compression; with `has_preset`, relative to the preset dictionary if that is smaller.
fn trial_size<S: ImageSource>(block: &Members, has_preset: bool, source: &S) -> Result<u64, S::Error> {
    let content = content(block, source)?;
    let alone = codec::trial_size(&content, None, TRIAL_LEVEL)?;
    if !has_preset {
        return Ok(alone);
    }
    Ok(codec::trial_size(&content, Some(PRESET), TRIAL_LEVEL)?.min(alone))
}

fn content<S: ImageSource>(block: &Members, source: &S) -> Result<Vec<u8>, S::Error> {
    join_contents(source, block.images.iter().map(|image| &image.hash), block.filter)
}
