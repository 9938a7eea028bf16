//! Which small images lie together.

use std::collections::{BTreeMap, BTreeSet};

use super::block_parents::BlockParents;
use super::encode::joined;
use super::measure::TRIAL_LEVEL;
use super::members::{Members, cut};
use super::plan::{BlockPlan, Plan};
use super::planner::Planner;
use super::settings::Mode;
use super::sketch::{self, Sketch};
use super::source::{ImageSource, RawImage};
use super::{clusters, similarity_order};
use crate::Hash128;
use crate::codec::{self, Filter};

/// How large blocks are, in bytes. A reader decodes one, and up to two others, to get at an image: a few hundred
/// microseconds for a block of `balanced`, some milliseconds where a download shall be small.
fn block_size(mode: Mode) -> u64 {
    match mode {
        Mode::None | Mode::Fast => 256 << 10,
        Mode::Balanced | Mode::Max => 1 << 20,
        Mode::Archive => 4 << 20,
    }
}

/// For so many bytes of neighbours the best order is chosen, each segment for itself.
const SEGMENT: u64 = 64 << 20;
/// How many numbers the sketch of an image has.
const SKETCH: usize = 64;

/// Puts `images` into blocks of their kind.
pub(super) fn plan<S: ImageSource>(
    plan: &mut Plan,
    images: &[RawImage],
    planner: &Planner<'_, S>,
) -> Result<(), S::Error> {
    let mut kinds: BTreeMap<u16, Vec<RawImage>> = BTreeMap::new();
    for image in images {
        kinds.entry(image.kind.to_u16()).or_default().push(*image);
    }
    for images in kinds.into_values() {
        let (order, parents) = match planner.mode {
            Mode::None | Mode::Fast => {
                let order = unfiltered(cut(&images, block_size(planner.mode)));
                let parents = vec![None; order.len()];
                (order, parents)
            }
            _ => best(&images, planner)?,
        };
        add(plan, order, &parents);
    }
    Ok(())
}

/// Adds the blocks of `order`. An image needs none that is alone in its block, which has no parent and is none.
fn add(plan: &mut Plan, order: Order, parents: &[Option<usize>]) {
    let sizes: Vec<u64> = order.iter().map(Members::size).collect();
    let used: BTreeSet<usize> = parents.iter().flatten().copied().collect();
    let needed = |(place, (block, parent)): (usize, (&Members, &Option<usize>))| {
        (block.images.len() > 1 || parent.is_some() || used.contains(&place)).then_some(place)
    };
    let numbers = order.iter().zip(parents).enumerate().filter_map(needed).zip(plan.blocks().len()..);
    let numbers: BTreeMap<usize, usize> = numbers.collect();
    let settings = plan.settings;
    for (place, (Members { filter, images }, parent)) in order.into_iter().zip(parents).enumerate() {
        if !numbers.contains_key(&place) {
            let codec = |image: &RawImage| settings.codec(image.size, None);
            images.iter().for_each(|image| plan.alone(image.hash, codec(image), filter));
            continue;
        }
        let size = |place: usize| sizes.get(place).copied();
        let codec = settings.codec(size(place).unwrap_or(0), parent.and_then(size));
        let members = images.iter().map(|image| image.hash).collect();
        let parent = parent.and_then(|place| numbers.get(&place).copied());
        plan.block(BlockPlan { codec, filter, members, parent });
    }
}

type Order = Vec<Members>;

/// The best order, by trial compression, and the block that each of its blocks builds on.
fn best<S: ImageSource>(
    images: &[RawImage],
    planner: &Planner<'_, S>,
) -> Result<(Order, Vec<Option<usize>>), S::Error> {
    let (mut order, mut parents) = (Order::new(), Vec::new());
    let segments = cut(images, SEGMENT);
    for images in &segments {
        let sketched = sketched(images, planner)?;
        let segment = Segment { images, sketched: &sketched, planner };
        let full = segment.full()?;
        let (blocks, of_blocks) = segment.with_clusters(full)?;
        order.extend(blocks);
        parents = of_blocks.parents;
    }
    if segments.len() > 1 {
        parents = BlockParents::measure(&order, planner)?.parents;
    }
    Ok((order, parents))
}

/// Images of which the order is sought.
struct Segment<'a, S> {
    images: &'a [RawImage],
    sketched: &'a Sketched,
    planner: &'a Planner<'a, S>,
}

impl<S: ImageSource> Segment<'_, S> {
    /// Full blocks of neighbours, with or without filters. Neighbours of one size are often similar; neighbours in the
    /// pack are often of one source; sketches tell who resembles whom. What is best differs from library to library.
    fn full(&self) -> Result<Order, S::Error> {
        let mut by_size = self.images.to_vec();
        by_size.sort_by_key(|image| image.size);
        let mut best: Option<(u64, Order)> = None;
        let cut = |images: &[RawImage]| cut(images, block_size(self.planner.mode));
        for images in [self.images, &by_size, &self.sketched.by_similarity] {
            let plain = unfiltered(cut(images));
            let filtered = self.sketched.by_filter(images, cut);
            for order in [Some(plain), Some(filtered).filter(has_filter)].into_iter().flatten() {
                let size = |block: &Members| size(block, self.planner.source);
                let size = self.planner.pool.map(&order, |block| 2 * block.size(), size)?.into_iter().sum();
                if best.as_ref().is_none_or(|(best, _)| size < *best) {
                    best = Some((size, order));
                }
            }
        }
        Ok(best.map(|(_, order)| order).unwrap_or_default())
    }

    /// `full`, or blocks for clusters if these take less, each next to its parent.
    fn with_clusters(&self, full: Order) -> Result<(Order, BlockParents), S::Error> {
        let size = block_size(self.planner.mode);
        let clusters = |images: &[RawImage]| clusters::blocks(images, &self.sketched.sketches, size);
        let clusters = match has_filter(&full) {
            true => self.sketched.by_filter(&self.sketched.by_similarity, clusters),
            false => unfiltered(clusters(&self.sketched.by_similarity)),
        };
        let measured = |order: Order| {
            let parents = BlockParents::measure(&order, self.planner)?;
            Ok::<_, S::Error>((order, parents))
        };
        let (clusters, full) = (measured(clusters)?, measured(full)?);
        Ok(if clusters.1.size < full.1.size { clusters } else { full })
    }
}

fn has_filter(order: &Order) -> bool {
    order.iter().any(|block| block.filter != Filter::None)
}

/// What is known of images.
struct Sketched {
    /// The filters that they could take.
    filters: BTreeMap<Hash128, Filter>,
    /// The sketches of what comes out of these.
    sketches: BTreeMap<Hash128, Sketch>,
    /// The images in an order in which similar ones are neighbours.
    by_similarity: Vec<RawImage>,
}

impl Sketched {
    /// Blocks of images that take the same filter, as `split` makes them.
    fn by_filter(&self, images: &[RawImage], split: impl Fn(&[RawImage]) -> Vec<Vec<RawImage>>) -> Order {
        let filter = |image: &RawImage| self.filters.get(&image.hash).copied().unwrap_or(Filter::None);
        let mut groups: BTreeMap<u16, Vec<RawImage>> = BTreeMap::new();
        for image in images {
            groups.entry(filter(image).to_u16()).or_default().push(*image);
        }
        let blocks = groups.into_iter().flat_map(|(filter, group)| {
            let filter = Filter::from_u16(filter);
            split(&group).into_iter().map(move |images| Members { filter, images })
        });
        blocks.collect()
    }
}

fn sketched<S: ImageSource>(images: &[RawImage], planner: &Planner<'_, S>) -> Result<Sketched, S::Error> {
    let sketch = |image: &RawImage| {
        let bytes = planner.source.read(image.hash)?;
        let filter = Filter::for_image(&bytes);
        Ok::<_, S::Error>(match filter.forward(&bytes) {
            Some(content) => (filter, sketch::of(&content, SKETCH)),
            None => (Filter::None, sketch::of(&bytes, SKETCH)),
        })
    };
    let (filters, sketches): (Vec<_>, Vec<_>) =
        planner.pool.map(images, |image| 2 * image.size, sketch)?.into_iter().unzip();
    let order = similarity_order::order(&sketches);
    let hashes = || images.iter().map(|image| image.hash);
    Ok(Sketched {
        by_similarity: order.into_iter().filter_map(|place| images.get(place)).copied().collect(),
        filters: hashes().zip(filters).collect(),
        sketches: hashes().zip(sketches).collect(),
    })
}

fn unfiltered(blocks: Vec<Vec<RawImage>>) -> Order {
    blocks.into_iter().map(|images| Members { filter: Filter::None, images }).collect()
}

fn size<S: ImageSource>(block: &Members, source: &S) -> Result<u64, S::Error> {
    let content = joined(source, block.images.iter().map(|image| &image.hash), block.filter)?;
    Ok(codec::trial(&content, None, TRIAL_LEVEL)?)
}
