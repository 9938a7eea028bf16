//! Packing: from compiled images to a pack whose frames are in the cache.
//!
//! What was decided and what was compressed is kept, so that an unchanged build does neither. Images are read when they
//! are needed, a few at a time.

mod machine;
mod shared_frames;

use std::collections::BTreeMap;
use std::io::{self, Write};

use offload_embed::PackInfo;
use offload_format::codec::{Codec, Filter, FrameInfo};
use offload_format::pack::{NewBlock, PackBuilder, PackLayout};
use offload_format::{Error as FormatError, Hash128, bytes};
use offload_packer::{
    BlockPlan, Content, FrameMaker, FrameWork, ImageSource, MAX_WHOLE, PIECE, Pieces, Plan, RawImage,
    Settings, Step, StoredFrame,
};

use self::shared_frames::{FrameSizes, PlannedFrame, content_note};
use crate::cache::{Blob, Cache, Key, KeyBuilder};
use crate::error::{Error, Result};
use crate::module::DeviceImage;
use crate::remote::Remote;
use crate::tool::Context;

/// A pack whose frames are still in the cache.
#[derive(Debug)]
pub(crate) struct Pack {
    pub(crate) layout: PackLayout,
    /// The frames, in the order of `layout.frames`.
    pub(crate) frames: Vec<Blob>,
    /// Of its descriptor.
    pub(crate) flags: u16,
}

/// The images of a pack, each once, by hash.
#[derive(Debug)]
struct Images {
    by_hash: BTreeMap<Hash128, Blob>,
    /// In the order of the pack.
    candidates: Vec<RawImage>,
    settings: Settings,
}

/// How images become packs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packer<'a> {
    pub(crate) context: &'a Context,
    pub(crate) settings: Settings,
    /// Other machines, if there are any.
    pub(crate) remote: Option<&'a Remote>,
}

impl Packer<'_> {
    /// Compresses `images` and lays out the pack that `builder` has begun.
    pub(crate) fn pack(&self, mut builder: PackBuilder, images: Vec<DeviceImage>) -> Result<Pack> {
        let context = self.context;
        machine::check(context, &images)?;
        let stored = Images::new(&images, self.settings);
        let plan = plan(context, &stored)?;
        let maker = Maker { cache: &context.cache, plan: &plan, images: &stored };
        // Something of other machines was damaged, if entries of the cache are distrusted.
        if let Some(remote) = self.remote.filter(|_| !context.cache.is_distrusted()) {
            shared_frames::fetch(context, remote, &stored, &maker.frames_to_share()?)?;
        }
        let frames = maker.frames(context)?;
        for block in frames.blocks() {
            builder.block(*block);
        }
        for DeviceImage { record, bytes } in images {
            builder.image(record, frames.info(bytes.hash)?)?;
        }
        let layout = builder.finish()?;
        let blobs =
            layout.frames.iter().map(|placement| frames.blob(placement.hash)).collect::<Result<_>>()?;
        Ok(Pack { layout, frames: blobs, flags: 0 })
    }
}

/// The plan for these images, made before or now.
fn plan(context: &Context, images: &Images) -> Result<Plan> {
    let settings = images.settings;
    let mut key = KeyBuilder::new("plan")
        .part(settings.mode.to_string().as_bytes())
        .part(&settings.level.to_le_bytes());
    for RawImage { hash, kind, .. } in &images.candidates {
        key = key.part(&hash.0).part(&kind.to_u16().to_le_bytes());
    }
    let key = key.finish();
    if let Some(plan) = context.cache.get_text(key).and_then(|text| text.parse().ok()) {
        return Ok(plan);
    }
    let plan = offload_packer::plan(&images.candidates, images, settings, &context.jobs)?;
    context.cache.put(key, plan.to_string().as_bytes())?;
    Ok(plan)
}

impl Pack {
    /// What its descriptor says.
    pub(crate) fn info(&self) -> PackInfo {
        PackInfo { size: self.layout.size, id: self.layout.id, flags: self.flags }
    }

    /// Writes index and frames, holding one buffer in memory.
    pub(crate) fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.layout.index)?;
        let mut at = 0;
        for (placement, frame) in self.layout.frames.iter().zip(&self.frames) {
            let gap = placement.offset.saturating_sub(at);
            io::copy(&mut io::Read::take(io::repeat(0), gap), out)?;
            frame.copy_to(out)?;
            at = placement.offset.saturating_add(placement.size);
        }
        Ok(())
    }
}

impl offload_embed::Content for Pack {
    fn size(&self) -> u64 {
        self.layout.size
    }

    fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        Pack::write_to(self, out)
    }
}

impl Images {
    fn new(images: &[DeviceImage], settings: Settings) -> Images {
        let mut sorted: Vec<&DeviceImage> = images.iter().collect();
        // The order of the pack: neighbours of one module lie together.
        sorted.sort_by_key(|image| {
            let record = &image.record;
            (&record.module, &record.variant, &record.target, &record.part)
        });
        let mut by_hash = BTreeMap::new();
        let mut candidates = Vec::new();
        for image in sorted {
            let Blob { hash, size, .. } = image.bytes;
            by_hash.insert(hash, image.bytes.clone());
            candidates.push(RawImage { hash, size, kind: image.record.target.image_kind() });
        }
        Images { by_hash, candidates, settings }
    }

    fn blob(&self, hash: Hash128) -> Result<&Blob> {
        let Some(blob) = self.by_hash.get(&hash) else {
            let kind = offload_format::ErrorKind::Damaged { what: "the plan of the pack" };
            return Err(FormatError::from(kind).into());
        };
        Ok(blob)
    }
}

impl ImageSource for Images {
    type Error = Error;

    fn read(&self, hash: Hash128) -> Result<Vec<u8>> {
        let blob = self.blob(hash)?;
        let size = usize::try_from(blob.size).unwrap_or(0);
        Ok(blob.read_into(offload_packer::image_buffer(self.settings.level, size))?)
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
struct Frames(offload_packer::Frames<Blob>);

impl Frames {
    fn blocks(&self) -> &[NewBlock] {
        &self.0.blocks
    }

    fn info(&self, image: Hash128) -> Result<FrameInfo> {
        self.0.infos.get(&image).copied().ok_or_else(unplanned)
    }

    fn blob(&self, content: Hash128) -> Result<Blob> {
        self.0.stored.get(&content).cloned().ok_or_else(unplanned)
    }
}

/// How an image is stored relative to others.
#[derive(Clone, Copy)]
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
    fn frames(&self, context: &Context) -> Result<Frames> {
        let hashes: Vec<Hash128> = self.images.by_hash.keys().copied().collect();
        Ok(Frames(offload_packer::make_frames(self.plan, &hashes, self, &context.jobs)?))
    }

    /// The frames that are not in the local cache, and worth a lookup in the remote one.
    fn frames_to_share(&self) -> Result<Vec<PlannedFrame>> {
        let mut all = Vec::new();
        for image in self.images.by_hash.keys() {
            let Some(work) = FrameWork::for_image(self.plan, *image) else { continue };
            let frame = self.key(*image, self.relation(*image)?);
            all.push(PlannedFrame { sizes: self.sizes(&work), work, frame, content: None });
        }
        for (number, block) in self.plan.blocks().iter().enumerate() {
            let Some(work) = FrameWork::for_block(self.plan, number) else { continue };
            let BlockKeys { frame, content } = self.block_keys(block)?;
            all.push(PlannedFrame { sizes: self.sizes(&work), work, frame, content: Some(content) });
        }
        all.retain(|planned| planned.is_worth_sharing() && self.cache.get(planned.frame).is_none());
        Ok(all)
    }

    fn sizes(&self, work: &FrameWork) -> FrameSizes {
        FrameSizes {
            content: self.content_size(&work.content),
            parent: work.parent.as_ref().map_or(0, |parent| self.content_size(parent)),
        }
    }

    fn content_size(&self, content: &Content) -> u64 {
        content.images.iter().map(|image| self.size(*image)).fold(0, u64::saturating_add)
    }

    fn relation(&self, image: Hash128) -> Result<Relation> {
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
            self.cache.get_or::<Error>(key, || {
                Ok(offload_packer::encode_image(self.plan, self.images, image.hash)?.into_bytes())
            })?
        };
        // What does not shrink is stored as it is, whatever was planned.
        let shrunk = codec == Codec::Patch || frame.size < image.size || streamed;
        let (codec, parent) = if shrunk { (codec, parent) } else { (Codec::Raw, None) };
        Ok((FrameInfo::new(codec, frame.size, image.size, image.hash).related(filter, parent), frame))
    }

    fn key(&self, image: Hash128, relation: Relation) -> Key {
        let Relation { codec, filter, parent } = relation;
        let numbers = [codec.to_u16().to_le_bytes(), filter.to_u16().to_le_bytes()].concat();
        let key = KeyBuilder::new("frame").part(&image.0).part(&numbers);
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
        let mut stream = offload_packer::stream(self.plan, image.size)?;
        image.for_each_piece(&mut |piece| stream.feed(piece, &mut |bytes| write_frame(out, bytes)))?;
        stream.finish(&mut |bytes| write_frame(out, bytes))
    }

    /// The frame of a block. Hash and size of its content are kept as well.
    fn block(&self, number: usize) -> Result<(NewBlock, Blob)> {
        let block = self.plan.blocks().get(number).ok_or_else(unplanned)?;
        let BlockKeys { frame, content } = self.block_keys(block)?;
        let kept = self.cache.get(frame).zip(self.cache.get(content));
        let (frame, note) = match kept {
            Some(kept) => kept,
            None => {
                let frame = offload_packer::encode_block(self.plan, self.images, number)?;
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
    fn keep_block(&self, block: &BlockPlan, info: FrameInfo, frame: &[u8]) -> Result<(Blob, Blob)> {
        let keys = self.block_keys(block)?;
        Ok((self.cache.put(keys.frame, frame)?, self.cache.put(keys.content, &content_note(&info))?))
    }

    fn block_keys(&self, block: &BlockPlan) -> Result<BlockKeys> {
        Ok(BlockKeys {
            frame: self.block_key("block", block)?,
            content: self.block_key("block content", block)?,
        })
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
struct BlockKeys {
    frame: Key,
    /// Hash, size and parent of its content.
    content: Key,
}

/// What the content of a block is made of, and how it is compressed.
fn members(key: KeyBuilder, block: &BlockPlan) -> KeyBuilder {
    let numbers = [block.codec.to_u16().to_le_bytes(), block.filter.to_u16().to_le_bytes()].concat();
    block.members.iter().fold(key.part(&numbers), |key, image| key.part(&image.0))
}

fn unplanned() -> Error {
    Error::new("an image is not in the plan of its pack")
}

fn write_frame(out: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    out.write_all(bytes).map_err(|error| Error::new(format!("cannot write a compressed image: {error}")))
}

#[cfg(test)]
mod tests;
