//! Which blocks are stored relative to another one: as with images, sketches tell who may resemble whom, and trial
//! compression how much. A reader decodes those that a block builds on, so none has more than two ancestors.

use super::budget::Pool;
use super::encode::joined;
use super::measure::TRIAL_LEVEL;
use super::members::Members;
use super::settings::Mode;
use super::source::ImageSource;
use super::{sketch, tree};
use crate::codec::{self, MAX_ANCESTORS};

/// How many numbers the sketch of a block has.
const SKETCH: usize = 256;

/// Who builds on whom.
pub(super) struct Forest {
    /// The parent of each block, by its place among them.
    pub(super) parents: Vec<Option<usize>>,
    /// What trial compression makes of all blocks, in bytes.
    pub(super) size: u64,
}

impl Forest {
    /// The best one for `blocks`.
    pub(super) fn measure<S: ImageSource>(
        blocks: &[Members],
        (source, pool): (&S, &Pool<'_>),
        mode: Mode,
    ) -> Result<Forest, S::Error> {
        let look = |block: &Members| {
            let content = content(block, source)?;
            let alone = codec::trial(&content, None, TRIAL_LEVEL)?;
            Ok::<_, S::Error>((sketch::of(&content, SKETCH), alone))
        };
        let (sketches, alone): (Vec<_>, Vec<_>) =
            pool.map(blocks, |block| block.size().saturating_mul(3), look)?.into_iter().unzip();
        let places: Vec<usize> = (0..blocks.len()).collect();
        let relations = sketch::relations(&places, &sketches, mode);
        let largest = blocks.iter().map(Members::size).max().unwrap_or(0);
        let next_to = |place: &usize| {
            let alike = relations.get(*place).map(Vec::as_slice).unwrap_or_default();
            next_to((blocks, source), *place, alike)
        };
        let related = pool.map(&places, |_| largest.saturating_mul(4), next_to)?;
        let parents = tree::choose(&alone, &related, MAX_ANCESTORS as u8);
        Ok(Forest { size: tree::size(&alone, &related, &parents), parents })
    }
}

/// The sizes of the block at `place` next to each of `others`.
fn next_to<S: ImageSource>(
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

fn content<S: ImageSource>(block: &Members, source: &S) -> Result<Vec<u8>, S::Error> {
    joined(source, block.images.iter().map(|image| &image.hash), block.filter)
}
