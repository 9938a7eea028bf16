//! The pack writer: it lays out the index; the caller appends the frames.

mod pages;
mod record;
mod tables;
mod whole;

use std::collections::BTreeMap;

use self::record::Record;
use self::tables::{PlacedPage, Tables};
use super::layout::{DIRECTORY_ENTRY, HASH_OFFSET, HEADER_SIZE, MAGIC, MAJOR, MINOR, NONE};
use super::new::{NewBlock, NewImage, Placement};
use super::place::{BlockPlacement, Numbering, PayloadLayout, StorageFields};
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
    has_plain_index: bool,
}

/// The result of [`PackBuilder::finish`].
#[derive(Debug)]
#[non_exhaustive]
pub struct PackLayout {
    /// Header, tables and pages, padded to the start of the frames.
    pub index: Vec<u8>,
    /// The frames that follow, by offset from the end of `index`, with zeros between them.
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
    /// The index of each pack, one after another; the last one includes the pages of all. The frames follow: each pack
    /// extends from its index to the end of the frames.
    pub indexes: Vec<PackIndex>,
    /// The frames that follow; see [`PackLayout::frames`].
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

/// The content of a pack's index except for the start of the frames, which depends on the pages of all packs.
struct IndexDraft<'a> {
    pack: &'a PackBuilder,
    numbering: Numbering,
    images: Vec<(&'a NewImage, StorageFields)>,
    /// Empty if the index has tables of images.
    pages: Vec<PlacedPage<'a>>,
}

impl PackBuilder {
    /// A pack of the crate `package` `version`.
    pub fn new(package: &str, version: &str) -> PackBuilder {
        let mut builder = PackBuilder {
            meta: Vec::new(),
            blocks: BTreeMap::new(),
            images: Vec::new(),
            missing: Vec::new(),
            has_plain_index: false,
        };
        builder.meta("package", package).meta("version", version);
        builder
    }

    /// Adds a block, for images that [`FrameInfo::in_block`] places in it.
    pub fn block(&mut self, block: NewBlock) -> &mut PackBuilder {
        self.blocks.insert(block.hash, block);
        self
    }

    /// Keeps the index uncompressed, for packs that are not compressed at all.
    pub fn plain_index(&mut self) -> &mut PackBuilder {
        self.has_plain_index = true;
        self
    }

    /// Appends a value to the metadata.
    pub fn meta(&mut self, key: &str, value: &str) -> &mut PackBuilder {
        self.meta.push((key.to_string(), value.to_string()));
        self
    }

    /// Adds an image; the caller appends its frame at its place in [`PackLayout::frames`].
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

    /// Records missing images.
    pub fn missing(&mut self, missing: Missing<'_>) -> &mut PackBuilder {
        self.missing.push(OwnedMissing {
            kind: missing.kind,
            module: missing.module.to_string(),
            target: missing.target.to_string(),
            reason: missing.reason.to_string(),
        });
        self
    }

    /// Lays out the pack, sorted: the bytes do not depend on the order of insertion.
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

    /// Lays out packs that share a payload. Each is complete for a reader of it alone, and images of one may have parents in
    /// another.
    ///
    /// # Errors
    /// As [`PackBuilder::finish`].
    pub fn finish_sharing(mut packs: Vec<PackBuilder>) -> Result<SharedLayout, Error> {
        let mut payload = PayloadLayout::default();
        for pack in &mut packs {
            pack.sort();
            payload.add(&pack.images, &pack.blocks)?;
        }
        let mut pages = Vec::new();
        let mut drafts = Vec::new();
        for pack in &packs {
            drafts.push(IndexDraft::new(pack, &payload, &mut pages)?);
        }
        let base = pages.len() as u64;
        let payload_size = base.checked_add(payload.size).ok_or_else(|| too_large(base))?;
        // An identity covers everything between the start of the pack and the payload.
        let mut following = Vec::new();
        let mut indexes = Vec::new();
        for draft in drafts.iter().rev() {
            let index = encode_index(&draft.tables(&payload, base)?, payload_size, &following)?;
            following.splice(0..0, index.bytes.iter().copied());
            indexes.push(index);
        }
        indexes.reverse();
        if let Some(last) = indexes.last_mut() {
            last.bytes.append(&mut pages);
        }
        Ok(SharedLayout { indexes, frames: payload.frames, payload: payload.size })
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

impl<'a> IndexDraft<'a> {
    /// The draft of `pack`, whose pages are appended to `pages`.
    fn new(
        pack: &'a PackBuilder,
        payload: &PayloadLayout,
        pages: &mut Vec<u8>,
    ) -> Result<IndexDraft<'a>, Error> {
        let numbering = payload.number(&pack.images)?;
        let mut images = Vec::new();
        for (image, frame) in &pack.images {
            images.push((image, payload.storage(&numbering, frame)?));
        }
        let pages = if pack.has_plain_index { Vec::new() } else { pages::split(&images, pages)? };
        Ok(IndexDraft { pack, numbering, images, pages })
    }

    /// Its tables, for frames that follow `base` bytes of pages.
    fn tables(&self, payload: &PayloadLayout, base: u64) -> Result<Tables, Error> {
        let mut tables = Tables::default();
        for (key, value) in &self.pack.meta {
            tables.meta(key, value)?;
        }
        if self.pages.is_empty() {
            for (image, storage) in &self.images {
                tables.image(image, &storage.with_base(base)?)?;
            }
        }
        for page in &self.pages {
            tables.page(page, base)?;
        }
        for block in &self.numbering.blocks {
            let offset = block.offset.checked_add(base).ok_or_else(|| too_large(base))?;
            tables.block(&BlockPlacement { offset, ..*block }, self.numbering.parent(&block.block)?);
        }
        for parent in &self.numbering.parents {
            tables.parent(&payload.storage(&self.numbering, parent)?.with_base(base)?);
        }
        for missing in &self.pack.missing {
            tables.missing(&missing.borrowed())?;
        }
        Ok(tables)
    }
}

/// Header and tables, and their hash together with `following`: the indexes between them and the payload of `payload`
/// bytes.
fn encode_index(tables: &Tables, payload: u64, following: &[u8]) -> Result<PackIndex, Error> {
    let (count, tables) = tables.encode(HEADER_SIZE)?;
    let end = HEADER_SIZE.saturating_add(tables.len() as u64);
    let offset = end.checked_add(following.len() as u64).ok_or_else(|| too_large(end))?;
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
        .pad_to(HASH_OFFSET);
    let id = Hash128::digest_parts(&[&head, &tables, following]);
    Ok(PackIndex { bytes: [head.as_slice(), &id.0, &tables].concat(), id })
}
