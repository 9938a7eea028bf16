//! The choice of parent blocks. As with images, sketches find candidates and trial compression measures them; no block has
//! more than two ancestors, because a reader decodes all of them.

use super::encode::join_contents;
use super::measure::TRIAL_LEVEL;
use super::members::Members;
use super::planner::Planner;
use super::sketch::{self, Similar};
use super::source::ImageSource;
use super::tree::{self, Candidate};
use offload_format::codec::{self, MAX_ANCESTORS};

/// The size of the sketch of a block.
const SKETCH_SIZE: usize = 256;

/// The parents of blocks, and the resulting size.
pub(super) struct BlockParents {
    /// The place of each block's parent.
    pub(super) parents: Vec<Option<usize>>,
    /// The size of all blocks under trial compression, in bytes.
    pub(super) size: u64,
}

impl BlockParents {
    /// Measures `blocks` and chooses their parents.
    pub(super) fn measure<S: ImageSource>(
        blocks: &[Members],
        planner: &Planner<'_, S>,
    ) -> Result<BlockParents, S::Error> {
        let Planner { source, pool, mode } = *planner;
        let measured: Vec<_> = pool.map(
            blocks,
            |block| block.size().saturating_mul(3),
            |block| {
                let content = content(block, source)?;
                let alone = codec::trial_size(&content, None, TRIAL_LEVEL)?;
                Ok::<_, S::Error>((sketch::new(&content, SKETCH_SIZE), alone))
            },
        )?;
        let (sketches, alone): (Vec<_>, Vec<_>) = measured.into_iter().unzip();
        let places: Vec<usize> = (0..blocks.len()).collect();
        let relations = sketch::relations(&places, &sketches, mode);
        let largest = blocks.iter().map(Members::size).max().unwrap_or(0);
        let trial = BlockTrial { blocks, source };
        let related = pool.map(
            &places,
            |_| largest.saturating_mul(4),
            |place| {
                let candidates = relations.get(*place).map(Vec::as_slice).unwrap_or_default();
                trial.related_sizes(*place, candidates)
            },
        )?;
        let parents = tree::choose(&alone, &related, MAX_ANCESTORS as u8);
        Ok(BlockParents { size: tree::size(&alone, &related, &parents), parents })
    }
}

/// Trial compression of blocks with parents.
struct BlockTrial<'a, S> {
    blocks: &'a [Members],
    source: &'a S,
}

impl<S: ImageSource> BlockTrial<'_, S> {
    /// The sizes of the block at `place` with each of `candidates` as parent.
    fn related_sizes(&self, place: usize, candidates: &[Similar]) -> Result<Vec<Candidate>, S::Error> {
        let Some(block) = self.blocks.get(place) else { return Ok(Vec::new()) };
        let own = content(block, self.source)?;
        let mut sizes = Vec::new();
        for candidate in candidates.iter().filter(|candidate| candidate.shared > 0) {
            let Some(parent) = self.blocks.get(candidate.place) else { continue };
            let size = codec::trial_size(&own, Some(&content(parent, self.source)?), TRIAL_LEVEL)?;
            sizes.push(Candidate { place: candidate.place, size });
        }
        Ok(sizes)
    }
}

fn content<S: ImageSource>(block: &Members, source: &S) -> Result<Vec<u8>, S::Error> {
    join_contents(source, block.images.iter().map(|image| &image.hash), block.filter)
}
