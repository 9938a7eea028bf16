//! Writing a pack's index; the frames are streamed behind it by the caller.

mod pages;
mod record;
mod tables;
mod whole;

use std::collections::BTreeMap;

use self::record::Record;
use self::tables::{PlacedPage, Tables};
use super::layout::{DIRECTORY_ENTRY, HASH_OFFSET, HEADER_SIZE, MAGIC, MAJOR, MINOR, NONE};
use super::new::{NewBlock, NewImage, Placement};
use super::place::{Numbers, Placed, PlacedBlock, Stored};
use super::record::{Missing, MissingKind};
use super::size::too_large;
use crate::codec::FrameInfo;
use crate::{Error, Hash128};

/// Collects images and lays them out. Equal images are stored once.
#[derive(Debug)]
pub struct PackBuilder {
    meta: Vec<(String, String)>,
    blocks: BTreeMap<Hash128, NewBlock>,
    images: Vec<(NewImage, FrameInfo)>,
    missing: Vec<OwnedMissing>,
}

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

/// A [`Missing`] with texts of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OwnedMissing {
    kind: MissingKind,
    module: String,
    target: String,
    reason: String,
}

/// What a pack's index will say: all but where frames start, which depends on the pages of all packs.
struct Draft<'a> {
    pack: &'a PackBuilder,
    numbers: Numbers,
    images: Vec<(&'a NewImage, Stored)>,
    /// None if the images lie in the index itself.
    pages: Vec<PlacedPage<'a>>,
}

impl PackBuilder {
    /// A pack of the crate `package` `version`.
    pub fn new(package: &str, version: &str) -> PackBuilder {
        let meta = [("package", package), ("version", version)];
        let meta = meta.map(|(key, value)| (key.to_string(), value.to_string()));
        PackBuilder { meta: meta.into(), blocks: BTreeMap::new(), images: Vec::new(), missing: Vec::new() }
    }

    /// Adds a block, for images that [`FrameInfo::in_block`] places in it.
    pub fn block(&mut self, block: NewBlock) -> &mut PackBuilder {
        self.blocks.insert(block.hash, block);
        self
    }

    /// Adds a value to the metadata, behind those that are there.
    pub fn meta(&mut self, key: &str, value: &str) -> &mut PackBuilder {
        self.meta.push((key.to_string(), value.to_string()));
        self
    }

    /// Adds an image whose frame the caller will place as [`PackLayout::frames`] says.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] if there are more than 2³² − 1 images.
    pub fn image(&mut self, image: NewImage, frame: FrameInfo) -> Result<&mut PackBuilder, Error> {
        if self.images.len() as u64 >= u64::from(NONE) {
            return Err(Error::invalid("the number of images", self.images.len() as u64));
        }
        self.images.push((image, frame));
        Ok(self)
    }

    /// Records what the pack is without.
    pub fn missing(&mut self, missing: Missing<'_>) -> &mut PackBuilder {
        let Missing { kind, module, target, reason } = missing;
        let [module, target, reason] = [module, target, reason].map(str::to_string);
        self.missing.push(OwnedMissing { kind, module, target, reason });
        self
    }

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

    fn sort(&mut self) {
        self.images.sort_by(|(a, _), (b, _)| {
            (&a.module, &a.variant, &a.target, &a.part).cmp(&(&b.module, &b.variant, &b.target, &b.part))
        });
        self.missing.sort();
    }
}

impl OwnedMissing {
    fn borrowed(&self) -> Missing<'_> {
        Missing { kind: self.kind, module: &self.module, target: &self.target, reason: &self.reason }
    }
}

impl<'a> Draft<'a> {
    /// The draft of `pack`, whose pages go behind those in `pages`.
    fn new(pack: &'a PackBuilder, placed: &Placed, pages: &mut Vec<u8>) -> Result<Draft<'a>, Error> {
        let numbers = placed.numbers(&pack.images)?;
        let stored = |(image, frame)| placed.stored(&numbers, frame).map(|stored| (image, stored));
        let images = pack.images.iter().map(|(image, frame)| (image, frame)).map(stored);
        let images: Vec<(&NewImage, Stored)> = images.collect::<Result<_, _>>()?;
        let pages = pages::of(&images, pages)?;
        Ok(Draft { pack, numbers, images, pages })
    }

    /// Its tables, if the frames follow `base` bytes of pages.
    fn tables(&self, placed: &Placed, base: u64) -> Result<Tables, Error> {
        let mut tables = Tables::default();
        self.pack.meta.iter().try_for_each(|(key, value)| tables.meta(key, value))?;
        if self.pages.is_empty() {
            let mut images = self.images.iter();
            images.try_for_each(|(image, stored)| tables.image(image, &stored.behind(base)?))?;
        }
        self.pages.iter().try_for_each(|page| tables.page(page, base))?;
        for placed in &self.numbers.blocks {
            let offset = placed.offset.checked_add(base).ok_or_else(|| too_large(base))?;
            tables.block(&PlacedBlock { offset, ..*placed }, self.numbers.parent(&placed.block)?);
        }
        for parent in &self.numbers.parents {
            tables.parent(&placed.stored(&self.numbers, parent)?.behind(base)?);
        }
        self.pack.missing.iter().try_for_each(|missing| tables.missing(&missing.borrowed()))?;
        Ok(tables)
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
