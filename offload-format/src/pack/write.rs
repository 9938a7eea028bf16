//! Writing a pack's index; the frames are streamed behind it by the caller.

mod builder;
mod draft;
mod pages;
mod record;
mod tables;
mod whole;

pub use self::builder::PackBuilder;
use self::draft::Draft;
use self::record::Record;
use self::tables::Tables;
use super::layout::{DIRECTORY_ENTRY, HASH_OFFSET, HEADER_SIZE, MAGIC, MAJOR, MINOR};
use super::new::Placement;
use super::place::Placed;
use super::size::too_large;
use crate::{Error, Hash128};

/// The result of [`PackBuilder::finish`].
#[derive(Debug)]
#[non_exhaustive]
pub struct PackLayout {
    /// Header, tables and pages, padded to where the frames start.
    pub index: Vec<u8>,
    /// Which frames follow, in order of their offset; each frame starts at its offset from the end of `index`, with
    /// zeros between.
    pub frames: Vec<Placement>,
    /// Size of the whole pack.
    pub size: u64,
    /// Identity of the pack.
    pub id: Hash128,
}

/// The result of [`PackBuilder::finish_sharing`].
#[derive(Debug)]
#[non_exhaustive]
pub struct SharedLayout {
    /// That of each pack; behind the last one lie the pages of all. They follow one another, and the frames follow the last one: each pack reaches from its index to the end of the frames.
    pub indexes: Vec<PackIndex>,
    /// Which frames follow; see [`PackLayout::frames`].
    pub frames: Vec<Placement>,
    /// Size of the frames with the zeros between them.
    pub payload: u64,
}

/// The index of one of several packs that share a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackIndex {
    /// Header and tables.
    pub bytes: Vec<u8>,
    /// Identity of the pack.
    pub id: Hash128,
}

impl PackBuilder {
    /// Lays everything out, sorted; the same input gives the same bytes in whatever order it came.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] if texts or tables pass 4 GiB, or a frame names a parent or a block that is not in
    /// the pack.
    pub fn finish(self) -> Result<PackLayout, Error> {
        let SharedLayout { indexes, frames, payload } = PackBuilder::finish_sharing(vec![self])?;
        let PackIndex { bytes: index, id } =
            indexes.into_iter().next().ok_or_else(|| Error::invalid("the number of packs", 0))?;
        let size = payload.checked_add(index.len() as u64).ok_or_else(|| too_large(payload))?;
        Ok(PackLayout { index, frames, size, id })
    }

    /// Lays out packs that share a payload: each is whole for a reader that knows nothing of the others, and images of one
    /// may be stored relative to those of another.
    ///
    /// # Errors
    /// As [`PackBuilder::finish`].
    pub fn finish_sharing(mut packs: Vec<PackBuilder>) -> Result<SharedLayout, Error> {
        let mut placed = Placed::default();
        for pack in &mut packs {
            pack.sort();
            placed.add(&pack.images, &pack.blocks)?;
        }
        let mut pages = Vec::new();
        let drafts = packs.iter().map(|pack| Draft::new(pack, &placed, &mut pages));
        let drafts = drafts.collect::<Result<Vec<_>, _>>()?;
        let base = pages.len() as u64;
        let payload = base.checked_add(placed.size).ok_or_else(|| too_large(base))?;
        let mut shared = SharedLayout { indexes: Vec::new(), frames: Vec::new(), payload: placed.size };
        // An identity covers all that lies between the start of the pack and the payload.
        let mut behind = Vec::new();
        for draft in drafts.iter().rev() {
            let index = index(&draft.tables(&placed, base)?, payload, &behind)?;
            behind.splice(0..0, index.bytes.iter().copied());
            shared.indexes.push(index);
        }
        shared.indexes.first_mut().into_iter().for_each(|last| last.bytes.append(&mut pages));
        shared.indexes.reverse();
        shared.frames = placed.frames;
        Ok(shared)
    }
}

/// Header and tables, and their hash together with `behind`: the indexes between them and the payload of `payload` bytes.
fn index(tables: &Tables, payload: u64, behind: &[u8]) -> Result<PackIndex, Error> {
    let (count, tables) = tables.encode(HEADER_SIZE)?;
    let end = HEADER_SIZE.saturating_add(tables.len() as u64);
    let offset = end.checked_add(behind.len() as u64).ok_or_else(|| too_large(end))?;
    let size = offset.checked_add(payload).ok_or_else(|| too_large(offset))?;
    let head = Record::default()
        .bytes(&MAGIC)
        .u16(MAJOR)
        .u16(MINOR)
        .u32(HEADER_SIZE as u32)
        .u64(size)
        .u64(HEADER_SIZE)
        .u32(count)
        .u32(DIRECTORY_ENTRY as u32)
        .u64(offset)
        .done(HASH_OFFSET);
    let id = Hash128::of_parts(&[&head, &tables, behind]);
    Ok(PackIndex { bytes: [head.as_slice(), &id.0, &tables].concat(), id })
}
