//! Packs of chosen images, made of the frames of old packs as far as these still make sense.

mod about;
mod encode;
mod reuse;
mod same;
mod stock;

use offload_format::pack::{ELSEWHERE, Image, NewImage, PackBuilder, SharedLayout};
use offload_format::packer::Settings;
use offload_format::{Hash128, Target};

pub(crate) use self::about::About;
use self::encode::Frames;
use crate::error::{Error, Result};
use crate::files::pieces::Piece;
use crate::read::pack_file::Source;

/// The bytes of a pack and its identity.
#[derive(Clone, Debug)]
pub(crate) struct NewBytes {
    /// Of packs that share a payload, only the last one's have it.
    pub(crate) pieces: Vec<Piece>,
    pub(crate) id: Hash128,
    /// Size of the pack, with what lies between the end of the pieces and that of the payload.
    pub(crate) size: u64,
    pub(crate) ends: Ends,
}

/// What follows the bytes of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Nothing that belongs to it.
    Here,
    /// The next pack, with which it shares its payload.
    InNext,
}

/// What one new pack is made of; each image is in one of the old packs.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) about: About,
    pub(crate) kept: Vec<(Source<'a>, Vec<Image<'a>>)>,
}

/// How images are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// As they are, but for those that have lost what they are stored relative to.
    Kept,
    /// Planned anew; frames that fit the plan stay.
    Planned,
    /// Planned and compressed anew.
    Anew(Settings),
}

/// Makes packs that share one payload; a single one has its own.
///
/// This is the one place where sets of images become other packs. The frame of an image whose ancestors stay is taken as
/// it is, and so is a block of which nine tenths stay; the rest is planned anew, with all relatives that are left.
pub(crate) fn rebuild(parts: &[Part<'_>], storage: Storage) -> Result<Vec<NewBytes>> {
    if let Some(same) = same::copy(parts, storage)? {
        return Ok(same);
    }
    let frames = Frames::of(parts, storage)?;
    let builders = parts.iter().map(|part| builder(part, &frames)).collect::<Result<_>>()?;
    let layout = PackBuilder::finish_sharing(builders)?;
    Ok(new_bytes(layout, &frames))
}

fn builder(part: &Part<'_>, frames: &Frames) -> Result<PackBuilder> {
    let about = &part.about;
    let mut builder = PackBuilder::new(&about.package, &about.version);
    for there in &about.elsewhere {
        builder.meta(ELSEWHERE, &there.to_string());
    }
    for (kind, [module, target, reason]) in &about.missing {
        builder.notice(*kind, [module, target, reason]);
    }
    for block in frames.blocks() {
        builder.block(*block);
    }
    for (source, images) in &part.kept {
        for image in images {
            builder.image(new_image(source, image)?, frames.info(image.hash)?)?;
        }
    }
    Ok(builder)
}

/// Indexes one after another, then the frames with zeros between.
fn new_bytes(layout: SharedLayout, frames: &Frames) -> Vec<NewBytes> {
    let mut payload = Vec::new();
    let mut at = 0;
    for placement in layout.frames {
        payload.push(Piece::Zeros(placement.offset.saturating_sub(at)));
        payload.extend(frames.piece(placement.hash));
        at = placement.offset.saturating_add(placement.size);
    }
    let mut size = layout.payload;
    let mut packs = Vec::new();
    for (index, id) in layout.indexes.into_iter().rev() {
        size = size.saturating_add(index.len() as u64);
        let mut pieces = vec![Piece::Bytes(index)];
        let ends = if packs.is_empty() { Ends::Here } else { Ends::InNext };
        pieces.append(&mut payload);
        packs.push(NewBytes { pieces, id, size, ends });
    }
    packs.reverse();
    packs
}

fn new_image(source: &Source<'_>, image: &Image<'_>) -> Result<NewImage> {
    let target: Target = image.target().map_err(|_| {
        let text = image.target_text.escape_default();
        Error::check(format!(
            "the target `{text}` in `{}` is of a later release",
            source.carrier.path().display()
        ))
        .hint("install the release of cargo-offload that the program was built with")
    })?;
    Ok(NewImage::of(&source.pack, image, target)?)
}

#[cfg(test)]
mod tests;
