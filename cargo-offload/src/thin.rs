//! A pack with fewer images, made of the frames of an old one.

use std::fs::File;
use std::path::Path;
use std::rc::Rc;

use offload_format::codec::{self, Codec, Filter, FrameInfo};
use offload_format::pack::{Image, NewImage, NoticeKind, Pack, PackBuilder, PackLayout};
use offload_format::{Hash128, Target};

use crate::carrier::{Carrier, FoundPack};
use crate::error::{Error, Result};
use crate::pieces::Piece;

/// What is taken over from an old pack.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
    pub(crate) file: &'a Rc<File>,
    pub(crate) carrier: &'a Carrier,
    pub(crate) found: &'a FoundPack,
    pub(crate) pack: &'a Pack<'a>,
}

/// The new pack's bytes and its identity.
#[derive(Debug)]
pub(crate) struct Thin {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) id: Hash128,
}

/// Something that the new pack says is missing: its kind, then module, target and reason.
pub(crate) type Missing = (NoticeKind, [String; 3]);

/// Makes a pack of the images `kept` of a pack, with the old pack's notices and `missing`.
///
/// This is the one place where a set of images becomes another pack. The frame of an image that stands alone is taken
/// as it is; one that needs another image is compressed anew.
pub(crate) fn rebuild(source: &Source<'_>, kept: &[Image<'_>], missing: &[Missing]) -> Result<Thin> {
    let meta = |key| source.pack.meta(key).unwrap_or_default();
    let mut builder = PackBuilder::new(meta("package"), meta("version"));
    let mut frames: Vec<(Hash128, Piece)> = Vec::new();
    for image in kept {
        let (info, piece) = frame(source, image)?;
        builder.image(new_image(source, image)?, info).map_err(broken)?;
        frames.push((info.hash, piece));
    }
    for notice in source.pack.notices() {
        let notice = notice.map_err(broken)?;
        builder.notice(notice.kind, [notice.module, notice.target, notice.reason]);
    }
    for (kind, [module, target, reason]) in missing {
        builder.notice(*kind, [module, target, reason]);
    }
    let layout = builder.finish().map_err(broken)?;
    let id = layout.id;
    Ok(Thin { pieces: pieces(layout, &frames), id })
}

/// Index and frames, with zeros between.
fn pieces(layout: PackLayout, frames: &[(Hash128, Piece)]) -> Vec<Piece> {
    let mut pieces = vec![Piece::Bytes(layout.index)];
    let mut at = 0;
    for placement in layout.frames {
        pieces.push(Piece::Zeros(placement.offset.saturating_sub(at)));
        let frame = frames.iter().find(|(hash, _)| *hash == placement.hash);
        pieces.extend(frame.map(|(_, piece)| piece.clone()));
        at = placement.offset.saturating_add(placement.size);
    }
    pieces
}

fn frame(source: &Source<'_>, image: &Image<'_>) -> Result<(FrameInfo, Piece)> {
    let alone = image.parent.is_none() && image.block.is_none() && image.filter == Filter::None;
    if alone && matches!(image.codec, Codec::Raw | Codec::Zstd) {
        let offset = [source.pack.payload_offset(), image.offset]
            .iter()
            .try_fold(source.found.offset(), |sum, part| sum.checked_add(*part));
        let offset = offset.ok_or_else(|| {
            Error::check(format!("an image of `{}` lies outside the file", source.path.display()))
        })?;
        let piece = Piece::Copy { from: source.file.clone(), offset, size: image.stored_size };
        return Ok((FrameInfo::new(image.codec, image.stored_size, (image.raw_size, image.hash)), piece));
    }
    let raw = source.carrier.decode(source.found, source.pack, image)?;
    let frame = codec::encode(&raw, Codec::Zstd, codec::RELEASE_LEVEL).map_err(broken)?;
    Ok((frame.info(), Piece::Bytes(frame.bytes().to_vec())))
}

fn new_image(source: &Source<'_>, image: &Image<'_>) -> Result<NewImage> {
    let target: Target = image.target().map_err(|_| {
        let text = image.target_text.escape_default();
        Error::check(format!("the target `{text}` in `{}` is of a later release", source.path.display()))
            .hint("install the release of cargo-offload that the program was built with")
    })?;
    let kernels = source.pack.kernels(image).collect::<std::result::Result<_, _>>().map_err(broken)?;
    Ok(NewImage {
        variant: image.variant.to_string(),
        offload_kind: image.offload_kind,
        format_version: image.format_version,
        aspects: image.aspects,
        part: image.part.to_string(),
        kernels,
        ..NewImage::new(image.module, target)
    })
}

fn broken(error: offload_format::Error) -> Error {
    Error::check(error.to_string())
}
