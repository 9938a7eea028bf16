//! The parents of blocks, which are stored relative to them: as with images, sketches tell who may resemble whom, and trial
//! compression how much. A reader decodes those that a block builds on, so none has more than two ancestors.

use super::encode::joined;
use super::measure::TRIAL_LEVEL;
use super::members::Members;
use super::planner::Planner;
use super::sketch::{self, Similar};
use super::source::ImageSource;
use super::tree::{self, Candidate};
use crate::codec::{self, MAX_ANCESTORS};

/// How many numbers the sketch of a block has.
const SKETCH: usize = 256;

/// The parent of each block, and what that makes of their size.
pub(super) struct BlockParents {
    /// By the block's place among them.
    pub(super) parents: Vec<Option<usize>>,
    /// What trial compression makes of all blocks, in bytes.
    pub(super) size: u64,
}

impl BlockParents {
    /// The best ones for `blocks`.
    pub(super) fn measure<S: ImageSource>(
        blocks: &[Members],
        planner: &Planner<'_, S>,
    ) -> Result<BlockParents, S::Error> {
        let Planner { source, pool, mode } = *planner;
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
        let trial = BlockTrial { blocks, source };
        let next_to = |place: &usize| {
            let candidates = relations.get(*place).map(Vec::as_slice).unwrap_or_default();
            trial.next_to(*place, candidates)
        };
        let related = pool.map(&places, |_| largest.saturating_mul(4), next_to)?;
        let parents = tree::choose(&alone, &related, MAX_ANCESTORS as u8);
        Ok(BlockParents { size: tree::size(&alone, &related, &parents), parents })
    }
}

/// Trial compression of blocks next to others.
struct BlockTrial<'a, S> {
    blocks: &'a [Members],
    source: &'a S,
}

impl<S: ImageSource> BlockTrial<'_, S> {
    /// The sizes of the block at `place` next to each of `candidates`.
    fn next_to(&self, place: usize, candidates: &[Similar]) -> Result<Vec<Candidate>, S::Error> {
        let Some(block) = self.blocks.get(place) else { return Ok(Vec::new()) };
        let own = content(block, self.source)?;
        let mut sizes = Vec::new();
        for candidate in candidates.iter().filter(|candidate| candidate.shared > 0) {
            let Some(parent) = self.blocks.get(candidate.place) else { continue };
            let size = codec::trial(&own, Some(&content(parent, self.source)?), TRIAL_LEVEL)?;
            sizes.push(Candidate { place: candidate.place, size });
        }
        Ok(sizes)
    }
}

fn content<S: ImageSource>(block: &Members, source: &S) -> Result<Vec<u8>, S::Error> {
    joined(source, block.images.iter().map(|image| &image.hash), block.filter)
}
