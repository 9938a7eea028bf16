//! From compiled images to a pack whose frames are in the cache.
//!
//! What was decided and what was compressed is kept, so that an unchanged build does neither. Images are read when they
//! are needed, a few at a time.

mod frames;

use std::collections::BTreeMap;
use std::io::{self, Write};

use offload_format::pack::{PackBuilder, PackLayout};
use offload_format::packer::{self, Candidate, PIECE, Pieces, Plan, Settings, Source};
use offload_format::{Error as FormatError, Hash128};

use self::frames::Frames;
use crate::cache::{Blob, KeyBuilder};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::image::DeviceImage;

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
    candidates: Vec<Candidate>,
    settings: Settings,
}

/// Compresses `images` and lays out the pack that `builder` has begun.
pub(crate) fn pack(
    context: &Context,
    settings: Settings,
    mut builder: PackBuilder,
    images: Vec<DeviceImage>,
) -> Result<Pack> {
    let stored = Images::new(&images, settings);
    let plan = plan(context, &stored)?;
    let frames = Frames::make(context, &plan, &stored)?;
    for block in frames.blocks() {
        builder.block(*block);
    }
    for DeviceImage { record, bytes } in images {
        builder.image(record, frames.info(bytes.hash)?)?;
    }
    let layout = builder.finish()?;
    let blobs = layout.frames.iter().map(|placement| frames.blob(placement.hash)).collect::<Result<_>>()?;
    Ok(Pack { layout, frames: blobs, flags: 0 })
}

/// The plan for these images, made before or now.
fn plan(context: &Context, images: &Images) -> Result<Plan> {
    let settings = images.settings;
    let mut key = KeyBuilder::new("plan 5")
        .part(settings.effort.to_string().as_bytes())
        .part(&settings.level.to_le_bytes());
    for Candidate { hash, kind, .. } in &images.candidates {
        key = key.part(&hash.0).part(&kind.to_u16().to_le_bytes());
    }
    let key = key.finish();
    if let Some(plan) = context.cache.get_text(key).and_then(|text| text.parse().ok()) {
        return Ok(plan);
    }
    let plan = packer::plan(&images.candidates, images, settings, &context.jobs)?;
    context.cache.put(key, plan.to_string().as_bytes())?;
    Ok(plan)
}

impl Pack {
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

impl Images {
    fn new(images: &[DeviceImage], settings: Settings) -> Images {
        let mut sorted: Vec<&DeviceImage> = images.iter().collect();
        // The order of the pack: neighbours of one module lie together.
        sorted.sort_by_key(|image| {
            let record = &image.record;
            (&record.module, &record.variant, &record.target, &record.part)
        });
        let candidate = |image: &&DeviceImage| Candidate {
            hash: image.bytes.hash,
            size: image.bytes.size,
            kind: image.record.target.image_kind(),
        };
        let blob = |image: &&DeviceImage| (image.bytes.hash, image.bytes.clone());
        Images {
            by_hash: sorted.iter().map(blob).collect(),
            candidates: sorted.iter().map(candidate).collect(),
            settings,
        }
    }

    fn blob(&self, hash: Hash128) -> Result<&Blob> {
        let lost = || FormatError::from(offload_format::ErrorKind::Damaged { what: "the plan of the pack" });
        self.by_hash.get(&hash).ok_or_else(|| lost().into())
    }
}

impl Source for Images {
    type Error = Error;

    fn read(&self, hash: Hash128) -> Result<Vec<u8>> {
        let blob = self.blob(hash)?;
        blob.read_into(packer::room(self.settings.level, usize::try_from(blob.size).unwrap_or(0)))
    }

    fn open(&self, hash: Hash128) -> Result<Box<dyn Pieces<Error> + '_>> {
        Ok(Box::new(self.blob(hash)?.pieces()?))
    }

    fn held(&self, size: u64) -> u64 {
        size.min(PIECE as u64)
    }
}

#[cfg(test)]
mod tests;
