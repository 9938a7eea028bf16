//! From compiled images to a pack whose frames are in the cache.
//!
//! What was decided and what was compressed is kept, so that an unchanged build does neither. Images are read when they
//! are needed, a few at a time.

mod frames;

use std::collections::BTreeMap;

use offload_format::pack::PackBuilder;
use offload_format::packer::{self, Candidate, PIECE, Pieces, Plan, Settings, Source};
use offload_format::{Error as FormatError, Hash128};

use self::frames::Frames;
use crate::cache::{Blob, Cache, KeyBuilder};
use crate::compile::Compiled;
use crate::embed::Pack;
use crate::error::{Error, Result};
use crate::jobs::Jobs;

/// The images of a pack, each once, by hash.
#[derive(Debug)]
struct Images {
    by_hash: BTreeMap<Hash128, Blob>,
    /// In the order of the pack.
    candidates: Vec<Candidate>,
    level: i32,
}

/// Compresses `images` and lays out the pack that `builder` has begun.
pub(crate) fn pack(
    (cache, jobs): (&Cache, &Jobs),
    settings: Settings,
    (mut builder, images): (PackBuilder, Vec<Compiled>),
) -> Result<Pack> {
    let stored = Images::new(&images, settings.level);
    let plan = plan(cache, jobs, (settings, &stored))?;
    let frames = Frames::make((cache, jobs), &plan, &stored)?;
    for block in frames.blocks() {
        builder.block(*block);
    }
    for Compiled { image, raw } in images {
        builder.image(image, frames.info(raw.hash)?)?;
    }
    let layout = builder.finish()?;
    let blobs = layout.frames.iter().map(|placement| frames.blob(placement.hash)).collect::<Result<_>>()?;
    Ok(Pack { layout, frames: blobs, flags: 0 })
}

/// The plan for these images, made before or now.
fn plan(cache: &Cache, jobs: &Jobs, (settings, images): (Settings, &Images)) -> Result<Plan> {
    let mut key = KeyBuilder::new("plan 5")
        .part(settings.effort.to_string().as_bytes())
        .part(&settings.level.to_le_bytes());
    for Candidate { hash, kind, .. } in &images.candidates {
        key = key.part(&hash.0).part(&kind.to_u16().to_le_bytes());
    }
    let key = key.finish();
    if let Some(plan) = cache.get_text(key).and_then(|text| text.parse().ok()) {
        return Ok(plan);
    }
    let plan = packer::plan(&images.candidates, images, settings, jobs)?;
    cache.put(key, plan.to_string().as_bytes())?;
    Ok(plan)
}

impl Images {
    fn new(images: &[Compiled], level: i32) -> Images {
        let mut sorted: Vec<&Compiled> = images.iter().collect();
        // The order of the pack: neighbours of one module lie together.
        sorted.sort_by_key(|compiled| {
            let image = &compiled.image;
            (&image.module, &image.variant, &image.target, &image.part)
        });
        let candidate = |compiled: &&Compiled| Candidate {
            hash: compiled.raw.hash,
            size: compiled.raw.size,
            kind: compiled.image.target.image_kind(),
        };
        let blob = |compiled: &&Compiled| (compiled.raw.hash, compiled.raw.clone());
        Images {
            by_hash: sorted.iter().map(blob).collect(),
            candidates: sorted.iter().map(candidate).collect(),
            level,
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
        blob.read_into(packer::room(self.level, usize::try_from(blob.size).unwrap_or(0)))
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
