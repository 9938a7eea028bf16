//! Repacking of selected images, with the frames of old packs where these remain decodable.
//!
//! All new packs are made here. The frame of an image is copied if its delta parents stay, and a block if nine tenths
//! of it stay. The packer plans the other images together with the similar ones that remain.

mod frames;
mod images;
pub(crate) mod pack;
mod reuse;
mod unchanged;

use offload_format::Target;
use offload_format::pack::{Image, Missing, NewImage, PackBuilder, PackIndex, SIDECAR, SharedLayout};

use self::frames::Frames;
use self::pack::{NewPack, PackContent, PackEnd, Storage};
use crate::error::{Error, Result};
use crate::files::pieces::Piece;
use crate::read::pack_file::LocatedPack;

/// Makes packs that share one payload; a single one has its own.
pub(crate) fn repack(packs: &[PackContent<'_>], storage: Storage) -> Result<Vec<NewPack>> {
    if let Some(unchanged) = unchanged::copy(packs, storage)? {
        return Ok(unchanged);
    }
    let frames = Frames::plan(packs, storage)?;
    let builders = packs.iter().map(|pack| builder(pack, &frames)).collect::<Result<_>>()?;
    let layout = PackBuilder::finish_sharing(builders)?;
    Ok(new_packs(layout, &frames))
}

fn builder(content: &PackContent<'_>, frames: &Frames) -> Result<PackBuilder> {
    let metadata = &content.metadata;
    let mut builder = PackBuilder::new(&metadata.package, &metadata.version);
    for sidecar in &metadata.sidecars {
        builder.meta(SIDECAR, &sidecar.to_string());
    }
    for missing in &metadata.missing {
        let record = Missing::new(missing.kind, &missing.module).with_target(&missing.target);
        builder.missing(record.with_reason(&missing.reason));
    }
    for block in frames.blocks() {
        builder.block(*block);
    }
    for kept in &content.kept {
        for image in &kept.images {
            builder.image(new_image(&kept.source, image)?, frames.info(image.hash)?)?;
        }
    }
    Ok(builder)
}

/// Indexes one after another, then the frames with zeros between.
fn new_packs(layout: SharedLayout, frames: &Frames) -> Vec<NewPack> {
    let mut payload = Vec::new();
    let mut at = 0;
    for placement in layout.frames {
        payload.push(Piece::Zeros(placement.offset.saturating_sub(at)));
        payload.extend(frames.piece(placement.hash));
        at = placement.offset.saturating_add(placement.size);
    }
    let mut size = layout.payload;
    let mut packs = Vec::new();
    for PackIndex { bytes: index, id, .. } in layout.indexes.into_iter().rev() {
        size = size.saturating_add(index.len() as u64);
        let mut pieces = vec![Piece::Bytes(index)];
        let end = if packs.is_empty() { PackEnd::Own } else { PackEnd::OfNext };
        pieces.append(&mut payload);
        packs.push(NewPack { pieces, id, size, end });
    }
    packs.reverse();
    packs
}

fn new_image(source: &LocatedPack<'_>, image: &Image<'_>) -> Result<NewImage> {
    let target: Target = image.target().map_err(|_| {
        let text = image.target_text.escape_default();
        Error::check(format!("target `{text}` in `{}` is from a newer release", source.file.path().display()))
            .hint("install the release of cargo-offload that the program was built with")
    })?;
    Ok(NewImage::from_image(&source.pack, image, target)?)
}

#[cfg(test)]
mod tests;
