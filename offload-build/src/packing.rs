//! From compiled images to a pack whose frames are in the cache.
//!
//! What was decided and what was compressed is kept, so that an unchanged build does neither. Images are read when they
//! are needed, a few at a time.

mod elsewhere;
mod machine;
mod maker;

use std::io::{self, Write};

use offload_format::pack::{PackBuilder, PackLayout};
use offload_format::packer::{self, Plan, RawImage, Settings};

use self::maker::{Images, Maker};
use crate::cache::{Blob, KeyBuilder};
use crate::error::Result;
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
            elsewhere::fetch(context, remote, &maker)?;
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
    let mut key = KeyBuilder::new("plan 5")
        .part(settings.mode.to_string().as_bytes())
        .part(&settings.level.to_le_bytes());
    for RawImage { hash, kind, .. } in &images.candidates {
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

#[cfg(test)]
mod tests;
