//! New packs: their content, their bytes, and files of them.

use std::fs::File;
use std::io;
use std::path::Path;

use offload_format::Hash128;
use offload_format::pack::layout::{ALIGN, MAGIC};
use offload_packer::Settings;

use crate::error::Result;
use crate::files::pieces::{Piece, total};
use crate::files::publish::{Staged, replaceable, stage};
use crate::read::metadata::PackMetadata;
use crate::read::program::PackImages;

/// Content of a new pack, whose images come from old packs.
#[derive(Debug)]
pub(crate) struct PackContent<'a> {
    pub(crate) metadata: PackMetadata,
    pub(crate) kept: Vec<PackImages<'a>>,
}

/// Storage of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// As they are, but for those that have lost what they are stored relative to.
    Kept,
    /// A new plan; frames that fit it are reused.
    Planned,
    /// A new plan; all frames are compressed again.
    Fresh(Settings),
}

/// The bytes of a pack and its identity.
#[derive(Clone, Debug)]
pub(crate) struct NewPack {
    /// Of packs that share a payload, only the last one's have it.
    pub(crate) pieces: Vec<Piece>,
    pub(crate) id: Hash128,
    /// Size of the pack, with what lies between the end of the pieces and that of the payload.
    pub(crate) size: u64,
    pub(crate) end: PackEnd,
}

/// End of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PackEnd {
    /// Behind its own pieces.
    Own,
    /// The end of the next pack, with which it shares its payload.
    OfNext,
}

/// Writes packs one after another, to become `path`. A file of packs is replaced, no other.
pub(crate) fn stage_packs(path: &Path, packs: &[NewPack]) -> Result<Staged> {
    replaceable(path, &MAGIC, "file of packs")?;
    stage(path, |file| write(file, packs))
}

fn write(file: &mut File, packs: &[NewPack]) -> io::Result<()> {
    let mut at = 0u64;
    for pack in packs {
        // The index of one that shares has a size without padding.
        let padding = at.next_multiple_of(ALIGN).saturating_sub(at);
        Piece::Zeros(padding).write_to(file)?;
        pack.pieces.iter().try_for_each(|piece| piece.write_to(file))?;
        at = at.saturating_add(padding).saturating_add(total(&pack.pieces).unwrap_or_default());
    }
    Ok(())
}
