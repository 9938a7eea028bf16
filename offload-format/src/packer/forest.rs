//! Which blocks are stored relative to another one: as with images, sketches tell who may resemble whom, and trial
//! compression how much. A reader decodes one block more then, so none has more than one ancestor.

use super::blocks::Members;
use super::budget::Pool;
use super::encode::joined;
use super::measure::TRIAL_LEVEL;
use super::{Effort, Source, sketch, tree};
use crate::codec;

/// How many blocks a reader decodes before an image's own.
const MOST_ANCESTORS: u8 = 1;
/// How many numbers the sketch of a block has.
const SKETCH: usize = 256;

/// The parent of each of `blocks`, by its place among them.
pub(super) fn parents<S: Source>(
    blocks: &[Members],
    (source, pool): (&S, &Pool<'_>),
    effort: Effort,
) -> Result<Vec<Option<usize>>, S::Error> {
    let seen = pool.map(
        blocks,
        |block| block.size().saturating_mul(3),
        |block| {
            let content = content(block, source)?;
            let alone = codec::trial(&content, None, TRIAL_LEVEL)?;
            Ok::<_, S::Error>((sketch::of(&content, SKETCH), alone))
        },
    )?;
    let (sketches, alone): (Vec<_>, Vec<_>) = seen.into_iter().unzip();
    let places: Vec<usize> = (0..blocks.len()).collect();
    let relations = sketch::relations(&places, &sketches, effort);
    let largest = blocks.iter().map(Members::size).max().unwrap_or(0);
    let related = pool.map(
        &places,
        |_| largest.saturating_mul(4),
        |place| {
            let alike = relations.get(*place).map(Vec::as_slice).unwrap_or_default();
            next_to((blocks, source), *place, alike)
        },
    )?;
    Ok(tree::choose(&alone, &related, MOST_ANCESTORS))
}

/// The sizes of the block at `place` next to each of `others`.
fn next_to<S: Source>(
    (blocks, source): (&[Members], &S),
    place: usize,
    others: &[(usize, usize)],
) -> Result<Vec<(usize, u64)>, S::Error> {
    let Some(block) = blocks.get(place) else { return Ok(Vec::new()) };
    let own = content(block, source)?;
    let mut sizes = Vec::new();
    for (other, _) in others.iter().filter(|(_, shared)| *shared > 0) {
        let Some(lender) = blocks.get(*other) else { continue };
        sizes.push((*other, codec::trial(&own, Some(&content(lender, source)?), TRIAL_LEVEL)?));
    }
    Ok(sizes)
}

fn content<S: Source>(block: &Members, source: &S) -> Result<Vec<u8>, S::Error> {
    joined(source, (block.images.iter().map(|image| &image.hash), block.filter))
}
