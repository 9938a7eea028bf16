//! Writing a pack's index; the frames are streamed behind it by the caller.

mod draft;
mod pages;
mod record;
mod tables;
mod whole;

use std::collections::BTreeMap;

use self::draft::Draft;
use self::record::Record;
use self::tables::Tables;
use super::layout::{ALIGN, DIRECTORY_ENTRY, HASH_OFFSET, HEADER_SIZE, MAGIC, MAJOR, MINOR, NONE};
use super::place::Placed;
use super::read::Pack;
use super::record::{Image, KernelInfo, NoticeKind};
use crate::codec::{Codec, FrameInfo};
use crate::{Aspects, Error, Hash128, ImageKind, OffloadKind, Target, bytes};

/// An image to be put into a pack.
#[derive(Clone, Debug)]
pub struct NewImage {
    /// The kernel module.
    pub module: String,
    /// The values of its variant, or empty.
    pub variant: String,
    /// What it is compiled for.
    pub target: Target,
    /// Which programming model launches it.
    pub offload_kind: OffloadKind,
    /// Version word of the image's own format; see [`Image::format_version`](super::Image::format_version).
    pub format_version: Option<u32>,
    /// What the device must support.
    pub aspects: Aspects,
    /// Which part of a split module this is, or empty. Parts of a module for one target have different kernels.
    pub part: String,
    /// Its kernels.
    pub kernels: Vec<KernelInfo>,
}

impl NewImage {
    /// An OpenCL image without variant and without kernel records.
    pub fn new(module: &str, target: Target) -> NewImage {
        NewImage {
            module: module.to_string(),
            variant: String::new(),
            target,
            offload_kind: OffloadKind::OpenCl,
            format_version: None,
            aspects: Aspects::default(),
            part: String::new(),
            kernels: Vec::new(),
        }
    }

    /// The same as `image` of `pack`, whose target is `target`, for another pack.
    ///
    /// # Errors
    /// If the records of its kernels are damaged.
    pub fn of(pack: &Pack<'_>, image: &Image<'_>, target: Target) -> Result<NewImage, Error> {
        Ok(NewImage {
            variant: image.variant.to_string(),
            offload_kind: image.offload_kind,
            format_version: image.format_version,
            aspects: image.aspects,
            part: image.part.to_string(),
            kernels: pack.kernels(image).collect::<Result<_, _>>()?,
            ..NewImage::new(image.module, target)
        })
    }
}

/// A frame that holds several images, to be put into a pack.
#[derive(Clone, Copy, Debug)]
pub struct NewBlock {
    /// How the frame holds the images.
    pub codec: Codec,
    /// The block whose content the frame needs, by the hash of that; it has no parent itself.
    pub parent: Option<Hash128>,
    /// Size of the frame.
    pub stored_size: u64,
    /// Size of the images together, each after its filter.
    pub raw_size: u64,
    /// Hash of those.
    pub hash: Hash128,
}

impl From<FrameInfo> for NewBlock {
    /// The block whose content the frame holds.
    fn from(frame: FrameInfo) -> NewBlock {
        let FrameInfo { codec, parent, stored_size, raw_size, hash, .. } = frame;
        NewBlock { codec, parent, stored_size, raw_size, hash }
    }
}

/// Collects images and lays them out. Equal images are stored once.
#[derive(Debug)]
pub struct PackBuilder {
    meta: Vec<(String, String)>,
    blocks: BTreeMap<Hash128, NewBlock>,
    images: Vec<(NewImage, FrameInfo)>,
    notices: Vec<(NoticeKind, [String; 3])>,
}

/// The result of [`PackBuilder::finish`].
#[derive(Debug)]
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
pub struct SharedLayout {
    /// Header and tables of each pack, with its identity; behind those of the last one lie the pages of all. They follow
    /// one another, and the frames follow the last one: each pack reaches from its index to the end of the frames.
    pub indexes: Vec<(Vec<u8>, Hash128)>,
    /// Which frames follow; see [`PackLayout::frames`].
    pub frames: Vec<Placement>,
    /// Size of the frames with the zeros between them.
    pub payload: u64,
}

/// Where a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Hash of the raw image that the frame holds, or of a block's content.
    pub hash: Hash128,
    /// Offset from the end of [`PackLayout::index`].
    pub offset: u64,
    /// Size of the frame.
    pub size: u64,
}

impl PackBuilder {
    /// A pack of the crate `package` `version`.
    pub fn new(package: &str, version: &str) -> PackBuilder {
        let meta = [("package", package), ("version", version)];
        let meta = meta.map(|(key, value)| (key.to_string(), value.to_string()));
        PackBuilder { meta: meta.into(), blocks: BTreeMap::new(), images: Vec::new(), notices: Vec::new() }
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
            return Err(Error::invalid("number of images", self.images.len() as u64));
        }
        self.images.push((image, frame));
        Ok(self)
    }

    /// Records that `target` (empty: every target) of `module` is not in the pack.
    pub fn notice(&mut self, kind: NoticeKind, [module, target, reason]: [&str; 3]) -> &mut PackBuilder {
        self.notices.push((kind, [module, target, reason].map(str::to_string)));
        self
    }

    /// Lays everything out, sorted; the same input gives the same bytes in whatever order it came.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] if texts or tables pass 4 GiB, or a frame names a parent or a block that is not in
    /// the pack.
    pub fn finish(self) -> Result<PackLayout, Error> {
        let SharedLayout { indexes, frames, payload } = PackBuilder::finish_sharing(vec![self])?;
        let (index, id) = indexes.into_iter().next().ok_or_else(|| Error::invalid("number of packs", 0))?;
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
            let (index, id) = index(&draft.tables(&placed, base)?, payload, &behind)?;
            behind.splice(0..0, index.iter().copied());
            shared.indexes.push((index, id));
        }
        shared.indexes.first_mut().into_iter().for_each(|(last, _)| last.append(&mut pages));
        shared.indexes.reverse();
        shared.frames = placed.frames;
        Ok(shared)
    }

    fn sort(&mut self) {
        self.images.sort_by(|(a, _), (b, _)| {
            (&a.module, &a.variant, &a.target, &a.part).cmp(&(&b.module, &b.variant, &b.target, &b.part))
        });
        self.notices.sort();
    }
}

/// Header and tables, and their hash together with `behind`: the indexes between them and the payload of `payload` bytes.
fn index(tables: &Tables, payload: u64, behind: &[u8]) -> Result<(Vec<u8>, Hash128), Error> {
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
    Ok(([head.as_slice(), &id.0, &tables].concat(), id))
}

pub(super) fn small(value: usize) -> Result<u32, Error> {
    u32::try_from(value).map_err(|_| too_large(value as u64))
}

fn usize_of(value: u64) -> Result<usize, Error> {
    usize::try_from(value).map_err(|_| too_large(value))
}

pub(super) fn aligned(offset: u64) -> Result<u64, Error> {
    bytes::align_up(offset, ALIGN).ok_or_else(|| too_large(offset))
}

pub(super) fn too_large(value: u64) -> Error {
    Error::invalid("size of the pack", value)
}

impl ImageKind {
    /// Whether a driver compiles images of this kind further (text and intermediate code).
    pub fn is_portable(self) -> bool {
        matches!(self, ImageKind::SpirV | ImageKind::OpenClC | ImageKind::Bitcode | ImageKind::Ptx)
    }
}
