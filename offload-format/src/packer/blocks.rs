//! Which small images lie together.

use std::collections::BTreeMap;

use super::budget::Pool;
use super::plan::{BlockPlan, Plan};
use super::{Candidate, Effort, Source};
use crate::codec::{self, Codec, DEV_LEVEL, Filter};

/// A reader decodes a block to get at one image: a few hundred microseconds for this much.
const SIZE: u64 = 1 << 20;
/// The same where nobody waits for the last percent.
const FAST_SIZE: u64 = 256 << 10;

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
        let (order, filter) = match plan.settings.effort {
            Effort::None | Effort::Fast => (cut(&images, FAST_SIZE), Filter::None),
            _ => best(&images, (source, pool))?,
        };
        for members in order {
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

type Order = Vec<Vec<Candidate>>;

/// The best of two orders with and without a filter, by trial compression. Neighbours of one size are often relatives;
/// neighbours in the pack are often of one source.
fn best<S: Source>(
    images: &[Candidate],
    (source, pool): (&S, &Pool<'_>),
) -> Result<(Order, Filter), S::Error> {
    let mut by_size = images.to_vec();
    by_size.sort_by_key(|image| image.size);
    let filters = filters(images, source)?;
    let mut best: Option<(u64, Order, Filter)> = None;
    for order in [cut(images, SIZE), cut(&by_size, SIZE)] {
        for filter in &filters {
            let sizes = pool.map(&order, |block| 2 * total(block), |block| size(block, source, *filter))?;
            let size = sizes.into_iter().sum();
            if best.as_ref().is_none_or(|(best, _, _)| size < *best) {
                best = Some((size, order.clone(), *filter));
            }
        }
    }
    Ok(best.map_or((Vec::new(), Filter::None), |(_, order, filter)| (order, filter)))
}

/// None, and the one that every image takes, if there is one.
fn filters<S: Source>(images: &[Candidate], source: &S) -> Result<Vec<Filter>, S::Error> {
    let mut found: Option<Filter> = None;
    for image in images {
        let bytes = source.read(image.hash)?;
        let filter = Filter::for_image(&bytes);
        let takes = filter.forward(&bytes).is_some() && found.is_none_or(|found| found == filter);
        if !takes {
            return Ok(vec![Filter::None]);
        }
        found = Some(filter);
    }
    Ok([Filter::None].into_iter().chain(found).collect())
}

fn size<S: Source>(block: &[Candidate], source: &S, filter: Filter) -> Result<u64, S::Error> {
    let mut content = Vec::new();
    for Candidate { hash, .. } in block {
        content.extend_from_slice(&codec::content_of(&source.read(*hash)?, filter)?);
    }
    Ok(codec::encode(&content, Codec::Zstd, DEV_LEVEL)?.info().stored_size)
}

fn cut(images: &[Candidate], limit: u64) -> Order {
    let mut blocks: Order = Vec::new();
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
    use crate::{Hash128, ImageKind};

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
