//! Which small images lie together.

use std::collections::BTreeMap;

use super::budget::Pool;
use super::encode::joined;
use super::measure::TRIAL_LEVEL;
use super::plan::{BlockPlan, Plan};
use super::sketch::{self, Sketch};
use super::{Candidate, Effort, Source, chain, forest};
use crate::Hash128;
use crate::codec::{self, Filter};

/// A reader decodes a block to get at one image: a few hundred microseconds for this much.
const SIZE: u64 = 1 << 20;
/// The same where nobody waits for the last percent.
const FAST_SIZE: u64 = 256 << 10;
/// For so many bytes of neighbours the best order is chosen, each stretch for itself.
const STRETCH: u64 = 16 << 20;
/// How many numbers the sketch of an image has.
const SKETCH: usize = 64;

/// Puts `images` into blocks of their kind.
pub(super) fn plan<S: Source>(
    plan: &mut Plan,
    images: &[Candidate],
    (source, pool): (&S, &Pool<'_>),
) -> Result<(), S::Error> {
    let mut kinds: BTreeMap<u16, Vec<Candidate>> = BTreeMap::new();
    for image in images {
        kinds.entry(image.kind.to_u16()).or_default().push(*image);
    }
    let settings = plan.settings;
    for images in kinds.into_values() {
        let order = match settings.effort {
            Effort::None | Effort::Fast => unfiltered(cut(&images, FAST_SIZE)),
            _ => best(&images, (source, pool))?,
        };
        // Alone it needs no block.
        let (single, several): (Vec<_>, Vec<_>) =
            order.into_iter().partition(|block| block.images.len() == 1);
        for Members { filter, images } in &single {
            images.iter().for_each(|image| plan.alone(image.hash, (settings.alone(), *filter)));
        }
        let parents = match settings.effort {
            Effort::None | Effort::Fast => vec![None; several.len()],
            effort => forest::parents(&several, (source, pool), effort)?,
        };
        let first = plan.blocks().len();
        for (Members { filter, images }, parent) in several.into_iter().zip(parents) {
            let codec = if parent.is_some() { settings.related() } else { settings.alone() };
            let members = images.iter().map(|image| image.hash).collect();
            let parent = parent.map(|place| first.saturating_add(place));
            plan.block(BlockPlan { codec, filter, members, parent });
        }
    }
    Ok(())
}

/// What a block will hold.
#[derive(Clone, Debug)]
pub(super) struct Members {
    /// All of the images go through it.
    pub(super) filter: Filter,
    pub(super) images: Vec<Candidate>,
}

impl Members {
    pub(super) fn size(&self) -> u64 {
        total(&self.images)
    }
}

type Order = Vec<Members>;

/// The best order, with or without filters, by trial compression. Neighbours of one size are often relatives;
/// neighbours in the pack are often of one source; sketches tell who resembles whom. What is best differs from library to library.
fn best<S: Source>(images: &[Candidate], (source, pool): (&S, &Pool<'_>)) -> Result<Order, S::Error> {
    let mut order = Order::new();
    for stretch in cut(images, STRETCH) {
        order.extend(best_of(&stretch, (source, pool))?);
    }
    Ok(order)
}

type Filters = BTreeMap<Hash128, Filter>;

fn best_of<S: Source>(images: &[Candidate], (source, pool): (&S, &Pool<'_>)) -> Result<Order, S::Error> {
    let (filters, sketches) = look(images, (source, pool))?;
    let mut by_size = images.to_vec();
    by_size.sort_by_key(|image| image.size);
    let chained = chain::order(&sketches);
    let chained: Vec<Candidate> =
        chained.into_iter().filter_map(|place| images.get(place)).copied().collect();
    let mut best: Option<(u64, Order)> = None;
    for images in [images, &by_size, &chained] {
        let plain = unfiltered(cut(images, SIZE));
        let filtered = by_filter(images, &filters);
        let with_filters = filtered.iter().any(|block| block.filter != Filter::None);
        for order in [Some(plain), Some(filtered).filter(|_| with_filters)].into_iter().flatten() {
            let sizes = pool.map(&order, |block| 2 * block.size(), |block| size(block, source))?;
            let size = sizes.into_iter().sum();
            if best.as_ref().is_none_or(|(best, _)| size < *best) {
                best = Some((size, order));
            }
        }
    }
    Ok(best.map(|(_, order)| order).unwrap_or_default())
}

/// The filter of each image, if it takes one, and the sketch of what comes out of it.
fn look<S: Source>(
    images: &[Candidate],
    (source, pool): (&S, &Pool<'_>),
) -> Result<(Filters, Vec<Sketch>), S::Error> {
    let look = |image: &Candidate| {
        let bytes = source.read(image.hash)?;
        let filter = Filter::for_image(&bytes);
        Ok::<_, S::Error>(match filter.forward(&bytes) {
            Some(content) => ((image.hash, filter), sketch::of(&content, SKETCH)),
            None => ((image.hash, Filter::None), sketch::of(&bytes, SKETCH)),
        })
    };
    Ok(pool.map(images, |image| 2 * image.size, look)?.into_iter().unzip())
}

fn unfiltered(blocks: Vec<Vec<Candidate>>) -> Order {
    blocks.into_iter().map(|images| Members { filter: Filter::None, images }).collect()
}

/// Blocks of images that take the same filter.
fn by_filter(images: &[Candidate], filters: &Filters) -> Order {
    let filter = |image: &Candidate| filters.get(&image.hash).copied().unwrap_or(Filter::None);
    let mut groups: BTreeMap<u16, Vec<Candidate>> = BTreeMap::new();
    for image in images {
        groups.entry(filter(image).to_u16()).or_default().push(*image);
    }
    let blocks = groups.into_iter().flat_map(|(filter, group)| {
        let filter = Filter::from_u16(filter);
        cut(&group, SIZE).into_iter().map(move |images| Members { filter, images })
    });
    blocks.collect()
}

fn size<S: Source>(block: &Members, source: &S) -> Result<u64, S::Error> {
    let content = joined(source, (block.images.iter().map(|image| &image.hash), block.filter))?;
    Ok(codec::trial(&content, None, TRIAL_LEVEL)?)
}

fn cut(images: &[Candidate], limit: u64) -> Vec<Vec<Candidate>> {
    let mut blocks: Vec<Vec<Candidate>> = Vec::new();
    for image in images {
        match blocks.last_mut() {
            Some(block) if total(block).saturating_add(image.size) <= limit => block.push(*image),
            _ => blocks.push(vec![*image]),
        }
    }
    blocks
}

fn total(block: &[Candidate]) -> u64 {
    block.iter().map(|image| image.size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ImageKind;

    #[test]
    fn blocks_are_full_and_in_order() {
        let image =
            |size: u64| Candidate { hash: Hash128::of(&size.to_le_bytes()), size, kind: ImageKind::SpirV };
        let images: Vec<Candidate> = [60, 30, 20, 90, 5, 5].into_iter().map(image).collect();
        let sizes: Vec<Vec<u64>> =
            cut(&images, 100).iter().map(|block| block.iter().map(|image| image.size).collect()).collect();
        assert_eq!(sizes, [vec![60, 30], vec![20], vec![90, 5, 5]]);
    }
}
