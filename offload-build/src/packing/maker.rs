//! The frames of a pack: found in the cache, or made and put there.

use std::collections::BTreeMap;
use std::io::Write;

use offload_format::codec::{Codec, Filter, FrameInfo};
use offload_format::pack::NewBlock;
use offload_format::packer::{
    self, BlockPlan, FrameMaker, ImageSource, MAX_WHOLE, PIECE, Pieces, Plan, RawImage, Settings, Step,
    StoredFrame,
};
use offload_format::{Error as FormatError, Hash128, bytes};

use crate::cache::{Blob, Cache, Key, KeyBuilder};
use crate::error::{Error, Result};
use crate::module::DeviceImage;
use crate::tool::Context;

/// The images of a pack, each once, by hash.
#[derive(Debug)]
pub(super) struct Images {
    pub(super) by_hash: BTreeMap<Hash128, Blob>,
    /// In the order of the pack.
    pub(super) candidates: Vec<RawImage>,
    pub(super) settings: Settings,
}

impl Images {
    pub(super) fn new(images: &[DeviceImage], settings: Settings) -> Images {
        let mut sorted: Vec<&DeviceImage> = images.iter().collect();
        // The order of the pack: neighbours of one module lie together.
        sorted.sort_by_key(|image| {
            let record = &image.record;
            (&record.module, &record.variant, &record.target, &record.part)
        });
        let candidate = |image: &&DeviceImage| RawImage {
            hash: image.bytes.hash,
            size: image.bytes.size,
            kind: image.record.target.image_kind(),
        };
        let blob = |image: &&DeviceImage| (image.bytes.hash, image.bytes.clone());
        let mut by_hash = BTreeMap::new();
        by_hash.extend(sorted.iter().map(blob));
        Images { by_hash, candidates: sorted.iter().map(candidate).collect(), settings }
    }

    fn blob(&self, hash: Hash128) -> Result<&Blob> {
        let lost = || FormatError::from(offload_format::ErrorKind::Damaged { what: "the plan of the pack" });
        self.by_hash.get(&hash).ok_or_else(|| lost().into())
    }
}

impl ImageSource for Images {
    type Error = Error;

    fn read(&self, hash: Hash128) -> Result<Vec<u8>> {
        let blob = self.blob(hash)?;
        blob.read_into(packer::image_buffer(self.settings.level, usize::try_from(blob.size).unwrap_or(0)))
    }

    fn open(&self, hash: Hash128) -> Result<Box<dyn Pieces<Error> + '_>> {
        Ok(Box::new(self.blob(hash)?.pieces()?))
    }

    fn held(&self, size: u64) -> u64 {
        size.min(PIECE as u64)
    }
}

/// What a pack is laid out from.
#[derive(Debug)]
pub(super) struct Frames(packer::Frames<Blob>);

impl Frames {
    pub(super) fn blocks(&self) -> &[NewBlock] {
        &self.0.blocks
    }

    pub(super) fn info(&self, image: Hash128) -> Result<FrameInfo> {
        self.0.infos.get(&image).copied().ok_or_else(unplanned)
    }

    pub(super) fn blob(&self, content: Hash128) -> Result<Blob> {
        self.0.stored.get(&content).cloned().ok_or_else(unplanned)
    }
}

/// How an image is stored relative to others.
#[derive(Clone, Copy)]
pub(super) struct Relation {
    codec: Codec,
    filter: Filter,
    parent: Option<Hash128>,
}

pub(super) struct Maker<'a> {
    pub(super) cache: &'a Cache,
    pub(super) plan: &'a Plan,
    pub(super) images: &'a Images,
}

impl FrameMaker for Maker<'_> {
    type Stored = Blob;
    type Error = Error;

    fn size(&self, image: Hash128) -> u64 {
        self.images.by_hash.get(&image).map_or(0, |blob| blob.size)
    }

    fn image(&self, _: &Plan, image: Hash128) -> Result<StoredFrame<FrameInfo, Blob>> {
        let (record, stored) = self.image(self.images.blob(image)?)?;
        Ok(StoredFrame { record, stored })
    }

    fn block(&self, _: &Plan, number: usize) -> Result<StoredFrame<NewBlock, Blob>> {
        let (record, stored) = self.block(number)?;
        Ok(StoredFrame { record, stored })
    }
}

impl Maker<'_> {
    /// All frames.
    pub(super) fn frames(&self, context: &Context) -> Result<Frames> {
        let hashes: Vec<Hash128> = self.images.by_hash.keys().copied().collect();
        Ok(Frames(packer::make_frames(self.plan, &hashes, self, &context.jobs)?))
    }

    pub(super) fn relation(&self, image: Hash128) -> Result<Relation> {
        match self.plan.step(image) {
            Some(Step::Frame { codec, filter, parent }) => {
                Ok(Relation { codec: *codec, filter: *filter, parent: *parent })
            }
            _ => Err(unplanned()),
        }
    }

    /// The frame of an image that has one of its own.
    fn image(&self, image: &Blob) -> Result<(FrameInfo, Blob)> {
        let relation = self.relation(image.hash)?;
        let Relation { codec, filter, parent } = relation;
        if codec == Codec::Raw {
            return Ok((FrameInfo::new(Codec::Raw, image.size, image.size, image.hash), image.clone()));
        }
        let key = self.key(image.hash, relation);
        // Others of that size are patches.
        let streamed = image.size > MAX_WHOLE && parent.is_none();
        let frame = if streamed {
            self.cache.stream_or(key, |out| self.stream(image, out))?
        } else {
            let encode = || Ok(packer::encode_image(self.plan, self.images, image.hash)?.into_bytes());
            self.cache.get_or(key, encode)?
        };
        // What does not shrink is stored as it is, whatever was planned.
        let shrunk = codec == Codec::Patch || frame.size < image.size || streamed;
        let (codec, parent) = if shrunk { (codec, parent) } else { (Codec::Raw, None) };
        Ok((FrameInfo::new(codec, frame.size, image.size, image.hash).related(filter, parent), frame))
    }

    pub(super) fn key(&self, image: Hash128, relation: Relation) -> Key {
        let Relation { codec, filter, parent } = relation;
        let numbers = [codec.to_u16().to_le_bytes(), filter.to_u16().to_le_bytes()].concat();
        let key = KeyBuilder::new("frame 5").part(&image.0).part(&numbers);
        let key = key.part(&self.plan.level().to_le_bytes());
        match parent {
            // A parent lends what its filter made of it.
            Some(parent) => {
                key.part(&parent.0).part(&self.plan.filter(parent).to_u16().to_le_bytes()).finish()
            }
            None => key.finish(),
        }
    }

    fn stream(&self, image: &Blob, out: &mut dyn Write) -> Result<()> {
        let mut stream = packer::stream(self.plan, image.size)?;
        let failed = |error| Error::new(format!("cannot write a compressed image: {error}"));
        let mut sink = |bytes: &[u8]| out.write_all(bytes).map_err(failed);
        image.for_each_piece(&mut |piece| stream.feed(piece, &mut sink))?;
        stream.finish(&mut sink)
    }

    /// The frame of a block. Hash and size of its content are kept as well.
    fn block(&self, number: usize) -> Result<(NewBlock, Blob)> {
        let block = self.plan.blocks().get(number).ok_or_else(unplanned)?;
        let BlockKeys { frame, content } = self.block_keys(block)?;
        let kept = self.cache.get(frame).zip(self.cache.get(content));
        let (frame, note) = match kept {
            Some(kept) => kept,
            None => {
                let frame = packer::encode_block(self.plan, self.images, number)?;
                self.keep_block(block, frame.info(), frame.bytes())?
            }
        };
        let content = note.read()?;
        let hash = Hash128(bytes::array(&content, 0, "block")?);
        let raw_size = bytes::u64_at(&content, 16, "block")?;
        let codec = if frame.size < raw_size { block.codec } else { Codec::Raw };
        let mut block = NewBlock::new(codec, frame.size, raw_size, hash);
        block.parent = Some(Hash128(bytes::array(&content, 24, "block")?)).filter(|_| codec.needs_parent());
        Ok((block, frame))
    }

    /// Puts the frame of a block and what is known of its content into the cache.
    pub(super) fn keep_block(
        &self,
        block: &BlockPlan,
        info: FrameInfo,
        frame: &[u8],
    ) -> Result<(Blob, Blob)> {
        let keys = self.block_keys(block)?;
        let parent = info.parent.map_or([0; 16], |parent| parent.0);
        let content = [&info.hash.0[..], &info.raw_size.to_le_bytes(), &parent].concat();
        Ok((self.cache.put(keys.frame, frame)?, self.cache.put(keys.content, &content)?))
    }

    pub(super) fn block_keys(&self, block: &BlockPlan) -> Result<BlockKeys> {
        let key = |what| self.block_key(what, block);
        Ok(BlockKeys { frame: key("block 3")?, content: key("block content 3")? })
    }

    fn block_key(&self, what: &str, block: &BlockPlan) -> Result<Key> {
        let key = KeyBuilder::new(what).part(&self.plan.level().to_le_bytes());
        let key = members(key, block);
        let Some(parent) = block.parent else { return Ok(key.finish()) };
        let parent = self.plan.blocks().get(parent).ok_or_else(unplanned)?;
        Ok(members(key.part(b"parent"), parent).finish())
    }
}

/// Of the entries of a block in the cache.
pub(super) struct BlockKeys {
    pub(super) frame: Key,
    /// Hash, size and parent of its content.
    content: Key,
}

/// What the content of a block is made of, and how it is compressed.
fn members(key: KeyBuilder, block: &BlockPlan) -> KeyBuilder {
    let numbers = [block.codec.to_u16().to_le_bytes(), block.filter.to_u16().to_le_bytes()].concat();
    block.members.iter().fold(key.part(&numbers), |key, image| key.part(&image.0))
}

pub(super) fn unplanned() -> Error {
    Error::new("an image is not in the plan of its pack")
}
