//! A pack of chosen images, made of the frames of old packs.

mod reuse;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::rc::Rc;

use offload_format::codec::{self, Codec, FrameInfo};
use offload_format::pack::{
    ELSEWHERE, Elsewhere, Image, NewImage, NoticeKind, Pack, PackBuilder, PackLayout,
};
use offload_format::{Hash128, Target};

use self::reuse::{Reuse, Taken};
use crate::carrier::{Carrier, FoundPack};
use crate::error::{Error, Result};
use crate::pieces::Piece;

/// An old pack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
    pub(crate) file: &'a Rc<File>,
    pub(crate) carrier: &'a Carrier,
    pub(crate) found: &'a FoundPack,
    pub(crate) pack: &'a Pack<'a>,
}

/// A pack's bytes and its identity.
#[derive(Clone, Debug)]
pub(crate) struct NewBytes {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) id: Hash128,
}

/// Something that the new pack says is missing: its kind, then module, target and reason.
pub(crate) type Missing = (NoticeKind, [String; 3]);

/// What the new pack says beside its images.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) package: String,
    pub(crate) version: String,
    pub(crate) elsewhere: Vec<Elsewhere>,
    pub(crate) missing: Vec<Missing>,
}

impl About {
    /// What `pack` says, but for what lies elsewhere.
    pub(crate) fn of(pack: &Pack<'_>) -> Result<About> {
        let mut about = About::of_package(pack);
        for notice in pack.notices() {
            let notice = notice.map_err(broken)?;
            let texts = [notice.module, notice.target, notice.reason].map(str::to_string);
            about.missing.push((notice.kind, texts));
        }
        about.missing.retain(|(kind, _)| *kind != NoticeKind::Elsewhere);
        Ok(about)
    }

    /// The package that `pack` was built for.
    pub(crate) fn of_package(pack: &Pack<'_>) -> About {
        let meta = |key| pack.meta(key).unwrap_or_default().to_string();
        About { package: meta("package"), version: meta("version"), ..About::default() }
    }
}

/// Makes a pack of images, each of which is in one of the sources.
///
/// This is the one place where a set of images becomes another pack. The frame of an image whose ancestors stay is taken
/// as it is, and so is a block of which half stays; all else is compressed anew.
pub(crate) fn rebuild(about: &About, kept: &[(Source<'_>, Vec<Image<'_>>)]) -> Result<NewBytes> {
    let mut builder = PackBuilder::new(&about.package, &about.version);
    for there in &about.elsewhere {
        builder.meta(ELSEWHERE, &there.to_string());
    }
    for (kind, [module, target, reason]) in &about.missing {
        builder.notice(*kind, [module, target, reason]);
    }
    let shared = shared(kept);
    let mut frames = Frames::default();
    for (source, images) in kept {
        let reuse = Reuse::of(source.pack, (images, &shared)).map_err(broken)?;
        for image in images {
            let info = match frames.infos.get(&image.hash) {
                Some(known) => *known,
                None => match reuse.take(source.pack, image).map_err(broken)? {
                    Some(taken) => frames.copy(source, taken, &mut builder)?,
                    None => frames.compress(source, image)?,
                },
            };
            builder.image(new_image(source, image)?, info).map_err(broken)?;
        }
    }
    let layout = builder.finish().map_err(broken)?;
    let id = layout.id;
    Ok(NewBytes { pieces: pieces(layout, &frames.pieces), id })
}

/// Images of several packs: their frames may differ, and nobody builds on one of them.
fn shared(kept: &[(Source<'_>, Vec<Image<'_>>)]) -> BTreeSet<Hash128> {
    let (mut seen, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for (_, images) in kept {
        let of_pack: BTreeSet<Hash128> = images.iter().map(|image| image.hash).collect();
        shared.extend(of_pack.intersection(&seen).copied());
        seen.extend(of_pack);
    }
    shared
}

/// The same pack in another place.
pub(crate) fn copy(source: &Source<'_>) -> Result<NewBytes> {
    let from = source.file.clone();
    let (offset, size) = (source.found.offset(), source.pack.size());
    Ok(NewBytes { pieces: vec![Piece::Copy { from, offset, size }], id: source.pack.id().map_err(broken)? })
}

/// Index and frames, with zeros between.
fn pieces(layout: PackLayout, frames: &BTreeMap<Hash128, Piece>) -> Vec<Piece> {
    let mut pieces = vec![Piece::Bytes(layout.index)];
    let mut at = 0;
    for placement in layout.frames {
        pieces.push(Piece::Zeros(placement.offset.saturating_sub(at)));
        pieces.extend(frames.get(&placement.hash).cloned());
        at = placement.offset.saturating_add(placement.size);
    }
    pieces
}

/// The frames of the new pack, each once: two crates may have the same image in different frames.
#[derive(Debug, Default)]
struct Frames {
    infos: BTreeMap<Hash128, FrameInfo>,
    /// Also those of blocks, by the hash of their content.
    pieces: BTreeMap<Hash128, Piece>,
}

impl Frames {
    fn copy(&mut self, source: &Source<'_>, taken: Taken, builder: &mut PackBuilder) -> Result<FrameInfo> {
        let parts = [source.pack.payload_offset(), taken.offset];
        let offset = parts.iter().try_fold(source.found.offset(), |sum, part| sum.checked_add(*part));
        let outside =
            || Error::check(format!("an image of `{}` lies outside the file", source.path.display()));
        let offset = offset.ok_or_else(outside)?;
        if let Entry::Vacant(piece) = self.pieces.entry(taken.hash) {
            piece.insert(Piece::Copy { from: source.file.clone(), offset, size: taken.size });
            if let Some(block) = taken.block {
                builder.block(block);
            }
        }
        Ok(*self.infos.entry(taken.info.hash).or_insert(taken.info))
    }

    fn compress(&mut self, source: &Source<'_>, image: &Image<'_>) -> Result<FrameInfo> {
        let raw = source.carrier.decode(source.found, source.pack, image)?;
        let frame = codec::encode(&raw, Codec::Zstd, codec::RELEASE_LEVEL).map_err(broken)?;
        self.pieces.insert(image.hash, Piece::Bytes(frame.bytes().to_vec()));
        Ok(*self.infos.entry(image.hash).or_insert(frame.info()))
    }
}

fn new_image(source: &Source<'_>, image: &Image<'_>) -> Result<NewImage> {
    let target: Target = image.target().map_err(|_| {
        let text = image.target_text.escape_default();
        Error::check(format!("the target `{text}` in `{}` is of a later release", source.path.display()))
            .hint("install the release of cargo-offload that the program was built with")
    })?;
    NewImage::of(source.pack, image, target).map_err(broken)
}

fn broken(error: offload_format::Error) -> Error {
    Error::check(error.to_string())
}

#[cfg(test)]
mod tests;
