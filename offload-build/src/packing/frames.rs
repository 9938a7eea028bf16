//! The frames of a plan, made before or now.

use std::io::Write;

use offload_format::codec::{Codec, Filter, FrameInfo};
use offload_format::pack::NewBlock;
use offload_format::packer::{self, BlockPlan, FrameMaker, HUGE, Made, Plan, Step};
use offload_format::{Hash128, bytes};

use super::Images;
use crate::cache::{Blob, Cache, Key, KeyBuilder};
use crate::context::Context;
use crate::error::{Error, Result};

/// What a pack is laid out from.
#[derive(Debug)]
pub(super) struct Frames(packer::Frames<Blob>);

impl Frames {
    /// Carries out `plan`.
    pub(super) fn make(context: &Context, plan: &Plan, images: &Images) -> Result<Frames> {
        let hashes: Vec<Hash128> = images.by_hash.keys().copied().collect();
        let maker = Maker { cache: &context.cache, plan, images };
        Ok(Frames(packer::make_frames(plan, &hashes, &maker, &context.jobs)?))
    }

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
struct Relation {
    codec: Codec,
    filter: Filter,
    parent: Option<Hash128>,
}

struct Maker<'a> {
    cache: &'a Cache,
    plan: &'a Plan,
    images: &'a Images,
}

impl FrameMaker for Maker<'_> {
    type Stored = Blob;
    type Error = Error;

    fn size(&self, image: Hash128) -> u64 {
        self.images.by_hash.get(&image).map_or(0, |blob| blob.size)
    }

    fn image(&self, _: &Plan, image: Hash128) -> Result<Made<FrameInfo, Blob>> {
        let (record, stored) = self.image(self.images.blob(image)?)?;
        Ok(Made { record, stored })
    }

    fn block(&self, _: &Plan, number: usize) -> Result<Made<NewBlock, Blob>> {
        let (record, stored) = self.block(number)?;
        Ok(Made { record, stored })
    }
}

impl Maker<'_> {
    /// The frame of an image that has one of its own.
    fn image(&self, image: &Blob) -> Result<(FrameInfo, Blob)> {
        let Some(Step::Frame { codec, filter, parent }) = self.plan.step(image.hash) else {
            return Err(unplanned());
        };
        let relation = Relation { codec: *codec, filter: *filter, parent: *parent };
        let raw = (image.size, image.hash);
        if *codec == Codec::Raw {
            return Ok((FrameInfo::new(Codec::Raw, image.size, raw), image.clone()));
        }
        let key = self.key(image.hash, &relation);
        // Others of that size are patches.
        let streamed = image.size > HUGE && parent.is_none();
        let frame = if streamed {
            self.cache.stream_or(key, |out| self.stream(image, out))?
        } else {
            let encode = || Ok(packer::encode_image(self.plan, self.images, image.hash)?.into_bytes());
            self.cache.get_or(key, encode)?
        };
        // What does not shrink is stored as it is, whatever was planned.
        let shrunk = *codec == Codec::Patch || frame.size < image.size || streamed;
        let (codec, parent) = if shrunk { (*codec, *parent) } else { (Codec::Raw, None) };
        Ok((FrameInfo::new(codec, frame.size, raw).related(*filter, parent), frame))
    }

    fn key(&self, image: Hash128, relation: &Relation) -> Key {
        let Relation { codec, filter, parent } = *relation;
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

    /// The frame of a block. Hash and size of its content are kept beside it.
    fn block(&self, number: usize) -> Result<(NewBlock, Blob)> {
        let block = self.plan.blocks().get(number).ok_or_else(unplanned)?;
        let (key, note) = (self.block_key("block 3", block)?, self.block_key("block content 3", block)?);
        let kept = self.cache.get(key).zip(self.cache.get(note));
        let (frame, note) = match kept {
            Some(kept) => kept,
            None => {
                let frame = packer::encode_block(self.plan, self.images, number)?;
                let info = frame.info();
                let parent = info.parent.map_or([0; 16], |parent| parent.0);
                let content = [&info.hash.0[..], &info.raw_size.to_le_bytes(), &parent].concat();
                (self.cache.put(key, frame.bytes())?, self.cache.put(note, &content)?)
            }
        };
        let content = note.read()?;
        let hash = Hash128(bytes::array(&content, 0, "block")?);
        let raw_size = bytes::u64_at(&content, 16, "block")?;
        let codec = if frame.size < raw_size { block.codec } else { Codec::Raw };
        let parent = Some(Hash128(bytes::array(&content, 24, "block")?)).filter(|_| codec.needs_parent());
        Ok((NewBlock { codec, parent, stored_size: frame.size, raw_size, hash }, frame))
    }

    fn block_key(&self, what: &str, block: &BlockPlan) -> Result<Key> {
        let key = KeyBuilder::new(what).part(&self.plan.level().to_le_bytes());
        let key = members(key, block);
        let Some(parent) = block.parent else { return Ok(key.finish()) };
        let parent = self.plan.blocks().get(parent).ok_or_else(unplanned)?;
        Ok(members(key.part(b"parent"), parent).finish())
    }
}

/// What the content of a block is made of, and how it is compressed.
fn members(key: KeyBuilder, block: &BlockPlan) -> KeyBuilder {
    let numbers = [block.codec.to_u16().to_le_bytes(), block.filter.to_u16().to_le_bytes()].concat();
    block.members.iter().fold(key.part(&numbers), |key, image| key.part(&image.0))
}

fn unplanned() -> Error {
    Error::new("an image is not in the plan of its pack")
}
