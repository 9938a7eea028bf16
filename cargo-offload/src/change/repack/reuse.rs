//! Selection of the frames of old packs that are reused.

use std::collections::{BTreeMap, BTreeSet};

use offload_format::Hash128;
use offload_format::codec::{Codec, FrameInfo, InBlock};
use offload_format::pack::{Block, Image, NewBlock};
use offload_packer::{Plan, Step};

use super::images::{Images, LocatedImage};
use crate::error::{Error, Result};
use crate::files::pieces::Piece;

/// Longer chains of parents are damage.
const MOST_ANCESTORS: usize = 4;

/// A frame that is copied, and what the new pack records.
#[derive(Debug)]
pub(super) struct ReusedFrame {
    pub(super) info: FrameInfo,
    pub(super) block: Option<NewBlock>,
    pub(super) piece: Piece,
    /// Of the image, or of the block's content.
    pub(super) hash: Hash128,
}

/// The images to compress again: whole delta trees in which a parent is removed, because another
/// parent may be better for all, and the images of blocks of which more than a tenth goes: what stays in a block stays in
/// the file.
pub(super) fn loose(images: &Images<'_>) -> Result<BTreeSet<Hash128>> {
    let mut trees: BTreeMap<(usize, Hash128), DeltaTree> = BTreeMap::new();
    let mut blocks = Blocks::new();
    for located in images.all() {
        let hash = located.image.hash;
        let payload = located.payload;
        if let Some(block) = located.image.block {
            let block = located.source.pack.block(block)?;
            let parent = block.parent.map(|parent| located.source.pack.block(parent)).transpose()?;
            let parent = parent.map(|parent| parent.hash);
            let kept = blocks.entry((payload, block.hash)).or_insert_with(|| PartialBlock {
                members: Vec::new(),
                held: 0,
                size: block.raw_size,
                parent,
            });
            kept.members.push(hash);
            kept.held = kept.held.saturating_add(located.image.raw_size);
        } else {
            let (root, chain) = chain(images, located)?;
            let tree = trees
                .entry((payload, root))
                .or_insert_with(|| DeltaTree { members: Vec::new(), chain: Chain::Whole });
            tree.members.push(hash);
            tree.chain = tree.chain.min(chain);
        }
    }
    let trees = trees.into_values().filter(|tree| tree.chain == Chain::Broken);
    let trees = trees.flat_map(|tree| tree.members);
    let going = blocks.iter().filter(|((payload, _), kept)| !stays(&blocks, *payload, kept));
    let going = going.flat_map(|(_, kept)| &kept.members).copied();
    Ok(trees.chain(going).collect())
}

/// Images of one payload with the same oldest ancestor.
struct DeltaTree {
    members: Vec<Hash128>,
    /// Broken if that of one member is.
    chain: Chain,
}

/// Blocks by payload and hash.
type Blocks = BTreeMap<(usize, Hash128), PartialBlock>;

/// Whether most is left of a block and of all that it builds on.
fn stays(blocks: &Blocks, payload: usize, block: &PartialBlock) -> bool {
    let mut next = block;
    for _ in 0..MOST_ANCESTORS {
        match next.parent.map(|parent| blocks.get(&(payload, parent))) {
            _ if !next.most() => return false,
            None => return true,
            Some(None) => return false,
            Some(Some(parent)) => next = parent,
        }
    }
    false
}

/// Remaining part of a block.
struct PartialBlock {
    members: Vec<Hash128>,
    /// Their bytes.
    held: u64,
    /// Those of all members that there were.
    size: u64,
    parent: Option<Hash128>,
}

impl PartialBlock {
    fn most(&self) -> bool {
        self.held >= self.size - self.size / 10
    }
}

/// Whether all ancestors of an image stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Chain {
    Broken,
    Whole,
}

/// The oldest ancestor of an image, the root of its tree.
fn chain(images: &Images<'_>, located: &LocatedImage<'_>) -> Result<(Hash128, Chain)> {
    let mut oldest = located.image.hash;
    let mut chain = Chain::Whole;
    let mut next = located.image.parent;
    for _ in 0..MOST_ANCESTORS {
        let Some(index) = next else { return Ok((oldest, chain)) };
        let parent = located.source.pack.image(index)?;
        // Images in a block have no children.
        if parent.block.is_some() || !images.lends(parent.hash, located.payload) {
            chain = Chain::Broken;
        }
        (oldest, next) = (parent.hash, parent.parent);
    }
    Ok((oldest, Chain::Broken))
}

impl ReusedFrame {
    /// The reused frame of an image.
    pub(super) fn new(source: &LocatedImage<'_>) -> Result<ReusedFrame> {
        let pack = &source.source.pack;
        let image = &source.image;
        let info = FrameInfo::new(image.codec, image.stored_size, image.raw_size, image.hash);
        let Some(index) = image.block else {
            let info = info.related(image.filter, parent(source)?.map(|parent| parent.hash));
            let piece = piece(source, image.offset, image.stored_size)?;
            return Ok(ReusedFrame { info, block: None, piece, hash: image.hash });
        };
        let block = pack.block(index)?;
        let parent = block.parent.map(|parent| pack.block(parent)).transpose()?;
        let info = info.related(image.filter, None);
        let info = info.in_block(InBlock { hash: block.hash, offset: image.offset });
        let piece = piece(source, block.offset, block.stored_size)?;
        Ok(ReusedFrame { info, block: Some(new_block(&block, parent)), piece, hash: block.hash })
    }

    /// The same, if the image's old frame is the one that `plan` asks for.
    pub(super) fn as_planned(plan: &Plan, source: &LocatedImage<'_>) -> Result<Option<ReusedFrame>> {
        let image = &source.image;
        let Some(Step::Frame { codec, filter, parent: planned }) = plan.step(image.hash) else {
            return Ok(None);
        };
        let same_parent = match (parent(source)?, planned) {
            (None, None) => true,
            (Some(parent), Some(planned)) => {
                parent.hash == *planned && parent.filter == plan.filter(*planned)
            }
            _ => false,
        };
        let codec = codec.for_content(image.raw_size, plan.level());
        let alone = image.block.is_none() && image.codec == codec && image.filter == *filter;
        if alone && same_parent && codec != Codec::Raw {
            ReusedFrame::new(source).map(Some)
        } else {
            Ok(None)
        }
    }
}

fn parent<'a>(source: &LocatedImage<'a>) -> Result<Option<Image<'a>>> {
    Ok(source.image.parent.map(|parent| source.source.pack.image(parent)).transpose()?)
}

/// A part of the payload that the image lies in.
fn piece(source: &LocatedImage<'_>, offset: u64, size: u64) -> Result<Piece> {
    let offset = source
        .source
        .payload()
        .checked_add(offset)
        .ok_or_else(|| Error::check("an image lies outside its file"))?;
    Ok(Piece::Copy { from: source.source.file.file().clone(), offset, size })
}

fn new_block(block: &Block, parent: Option<Block>) -> NewBlock {
    let mut new = NewBlock::new(block.codec, block.stored_size, block.raw_size, block.hash);
    new.parent = parent.map(|parent| parent.hash);
    new
}
