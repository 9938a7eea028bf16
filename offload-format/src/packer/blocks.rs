//! Which small images lie together.

use std::collections::BTreeMap;

use super::budget::Pool;
use super::measure::TRIAL_LEVEL;
use super::plan::{BlockPlan, Plan};
use super::{Candidate, Effort, Source};
use crate::Hash128;
use crate::codec::{self, Codec, Filter};

/// A reader decodes a block to get at one image: a few hundred microseconds for this much.
const SIZE: u64 = 1 << 20;
/// The same where nobody waits for the last percent.
const FAST_SIZE: u64 = 256 << 10;
/// For so many bytes of neighbours the best order is chosen, each stretch for itself.
const STRETCH: u64 = 16 << 20;

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
    let codec = plan.settings.alone();
    for images in kinds.into_values() {
        let order = match plan.settings.effort {
            Effort::None | Effort::Fast => unfiltered(cut(&images, FAST_SIZE)),
            _ => best(&images, (source, pool))?,
        };
        for (filter, members) in order {
            match members.as_slice() {
                // Alone it needs no block.
                [image] => plan.alone(image.hash, (codec, filter)),
                _ => {
                    plan.block(BlockPlan { codec, filter, members: members.iter().map(|i| i.hash).collect() })
                }
            }
        }
    }
    Ok(())
}

/// Blocks, each with the filter that all of its members go through.
type Order = Vec<(Filter, Vec<Candidate>)>;

/// The best order, with or without filters, by trial compression. Neighbours of one size are often relatives;
/// neighbours in the pack are often of one source. What is best differs from library to library.
fn best<S: Source>(images: &[Candidate], (source, pool): (&S, &Pool<'_>)) -> Result<Order, S::Error> {
    let filters = filters(images, (source, pool))?;
    let mut order = Order::new();
    for stretch in cut(images, STRETCH) {
        order.extend(best_of(&stretch, &filters, (source, pool))?);
    }
    Ok(order)
}

type Filters = BTreeMap<Hash128, Filter>;

fn best_of<S: Source>(
    images: &[Candidate],
    filters: &Filters,
    (source, pool): (&S, &Pool<'_>),
) -> Result<Order, S::Error> {
    let mut by_size = images.to_vec();
    by_size.sort_by_key(|image| image.size);
    let mut best: Option<(u64, Order)> = None;
    for images in [images, &by_size] {
        let plain = unfiltered(cut(images, SIZE));
        let filtered = by_filter(images, filters);
        let with_filters = filtered.iter().any(|(filter, _)| *filter != Filter::None);
        for order in [Some(plain), Some(filtered).filter(|_| with_filters)].into_iter().flatten() {
            let sizes = pool.map(&order, |(_, block)| 2 * total(block), |block| size(block, source))?;
            let size = sizes.into_iter().sum();
            if best.as_ref().is_none_or(|(best, _)| size < *best) {
                best = Some((size, order));
            }
        }
    }
    Ok(best.map(|(_, order)| order).unwrap_or_default())
}

/// The filter of each image, if it takes one.
fn filters<S: Source>(images: &[Candidate], (source, pool): (&S, &Pool<'_>)) -> Result<Filters, S::Error> {
    let filter = |image: &Candidate| {
        let bytes = source.read(image.hash)?;
        let filter = Filter::for_image(&bytes);
        Ok::<_, S::Error>(if filter.forward(&bytes).is_some() { filter } else { Filter::None })
    };
    let found = pool.map(images, |image| 2 * image.size, filter)?;
    Ok(images.iter().map(|image| image.hash).zip(found).collect())
}

fn unfiltered(blocks: Vec<Vec<Candidate>>) -> Order {
    blocks.into_iter().map(|block| (Filter::None, block)).collect()
}

/// Blocks of images that take the same filter.
fn by_filter(images: &[Candidate], filters: &Filters) -> Order {
    let filter = |image: &Candidate| filters.get(&image.hash).copied().unwrap_or(Filter::None);
    let mut groups: BTreeMap<u16, Vec<Candidate>> = BTreeMap::new();
    for image in images {
        groups.entry(filter(image).to_u16()).or_default().push(*image);
    }
    let blocks = groups.into_iter().flat_map(|(filter, group)| {
        cut(&group, SIZE).into_iter().map(move |block| (Filter::from_u16(filter), block))
    });
    blocks.collect()
}

fn size<S: Source>((filter, block): &(Filter, Vec<Candidate>), source: &S) -> Result<u64, S::Error> {
    let mut content = Vec::new();
    for Candidate { hash, .. } in block {
        content.extend_from_slice(&codec::content_of(&source.read(*hash)?, *filter)?);
    }
    Ok(codec::encode(&content, Codec::Zstd, TRIAL_LEVEL)?.info().stored_size)
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
