//! Which frames of old packs can be taken as they are, and how.

use std::collections::{BTreeMap, BTreeSet};

use offload_format::Hash128;
use offload_format::codec::{Codec, FrameInfo, InBlock};
use offload_format::pack::{Block, Image, NewBlock};
use offload_format::packer::{Plan, Step};

use super::stock::{Item, Stock};
use crate::error::Result;

/// Longer chains of parents are damage.
const MOST_ANCESTORS: usize = 4;

/// A frame that is copied: its place in its payload, its size, and what the new pack records.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) info: FrameInfo,
    pub(super) block: Option<NewBlock>,
    pub(super) offset: u64,
    pub(super) size: u64,
    /// Of the image, or of the block's content.
    pub(super) hash: Hash128,
}

/// The images that have to be stored anew: whole families of which somebody's parent is gone, because another parent may
/// be better for all, and the images of blocks of which more than a tenth goes: what stays in a block stays in the file.
pub(super) fn loose(stock: &Stock<'_>) -> Result<BTreeSet<Hash128>> {
    let mut families: BTreeMap<(usize, Hash128), (Vec<Hash128>, Chain)> = BTreeMap::new();
    let mut blocks = Blocks::new();
    for item in stock.items() {
        let (hash, payload) = (item.image.hash, item.payload);
        if let Some(block) = item.image.block {
            let block = item.source.pack.block(block)?;
            let parent = block.parent.map(|parent| item.source.pack.block(parent)).transpose()?;
            let parent = parent.map(|parent| parent.hash);
            let new = || Kept { members: Vec::new(), held: 0, size: block.raw_size, parent };
            let kept = blocks.entry((payload, block.hash)).or_insert_with(new);
            kept.members.push(hash);
            kept.held = kept.held.saturating_add(item.image.raw_size);
        } else {
            let (root, chain) = chain(stock, item)?;
            let (members, whole) =
                families.entry((payload, root)).or_insert_with(|| (Vec::new(), Chain::Whole));
            members.push(hash);
            *whole = (*whole).min(chain);
        }
    }
    let families = families.into_values().filter(|(_, chain)| *chain == Chain::Broken).map(|(all, _)| all);
    let going = blocks.iter().filter(|((payload, _), kept)| !stays(&blocks, *payload, kept));
    let going = going.flat_map(|(_, kept)| &kept.members).copied();
    Ok(families.flatten().chain(going).collect())
}

/// Blocks by payload and hash.
type Blocks = BTreeMap<(usize, Hash128), Kept>;

/// Whether most is left of a block and of all that it builds on.
fn stays(blocks: &Blocks, payload: usize, block: &Kept) -> bool {
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

/// What is left of a block.
struct Kept {
    members: Vec<Hash128>,
    /// Their bytes.
    held: u64,
    /// Those of all members that there were.
    size: u64,
    parent: Option<Hash128>,
}

impl Kept {
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

/// The oldest ancestor of an image, which names its family.
fn chain(stock: &Stock<'_>, item: &Item<'_>) -> Result<(Hash128, Chain)> {
    let (mut oldest, mut chain) = (item.image.hash, Chain::Whole);
    let mut next = item.image.parent;
    for _ in 0..MOST_ANCESTORS {
        let Some(index) = next else { return Ok((oldest, chain)) };
        let parent = item.source.pack.image(index)?;
        // What lies in a block is nobody's parent.
        if parent.block.is_some() || !stock.lends(parent.hash, item.payload) {
            chain = Chain::Broken;
        }
        (oldest, next) = (parent.hash, parent.parent);
    }
    Ok((oldest, Chain::Broken))
}

impl Taken {
    /// How the frame of `item` is taken over.
    pub(super) fn of(item: &Item<'_>) -> Result<Taken> {
        let image = &item.image;
        let info = FrameInfo::new(image.codec, image.stored_size, (image.raw_size, image.hash));
        if let Some(index) = image.block {
            let block = item.source.pack.block(index)?;
            let parent = block.parent.map(|parent| item.source.pack.block(parent)).transpose()?;
            return Ok(in_block((&block, parent), (info, image)));
        }
        let info = info.related(image.filter, parent(item)?.map(|parent| parent.hash));
        let (offset, size) = (image.offset, image.stored_size);
        Ok(Taken { info, block: None, offset, size, hash: image.hash })
    }

    /// The same, if the image's old frame is the one that `plan` wants.
    pub(super) fn as_planned(plan: &Plan, item: &Item<'_>) -> Result<Option<Taken>> {
        let Some(Step::Frame { codec, filter, parent: wanted }) = plan.step(item.image.hash) else {
            return Ok(None);
        };
        let parent = parent(item)?;
        let same_parent = match (&parent, wanted) {
            (None, None) => true,
            (Some(parent), Some(wanted)) => parent.hash == *wanted && parent.filter == plan.filter(*wanted),
            _ => false,
        };
        let alone = item.image.block.is_none() && item.image.codec == *codec && item.image.filter == *filter;
        if alone && same_parent && *codec != Codec::Raw { Taken::of(item).map(Some) } else { Ok(None) }
    }
}

fn parent<'a>(item: &Item<'a>) -> Result<Option<Image<'a>>> {
    Ok(item.image.parent.map(|parent| item.source.pack.image(parent)).transpose()?)
}

fn in_block((block, parent): (&Block, Option<Block>), (info, image): (FrameInfo, &Image<'_>)) -> Taken {
    let (hash, size) = (block.hash, block.stored_size);
    let parent = parent.map(|parent| parent.hash);
    let new = NewBlock { codec: block.codec, parent, stored_size: size, raw_size: block.raw_size, hash };
    let info = info.related(image.filter, None).in_block(InBlock { hash, offset: image.offset });
    Taken { info, block: Some(new), offset: block.offset, size, hash }
}
