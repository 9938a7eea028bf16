//! Pack of uncompressed images from other toolchains' containers, so that code for packs handles them too.

use std::collections::BTreeMap;

use offload_format::codec::{Codec, FrameInfo};
use offload_format::pack::{KernelInfo, NewImage, PackBuilder};
use offload_format::{Hash128, Limits, Target};

use crate::change::repack::pack::{NewPack, PackEnd, stage_packs};
use crate::error::{IoContext, Result};
use crate::files::pieces::Piece;
use crate::files::spool::Spool;
use crate::read::program::Program;
use crate::read::records::ImageRecord;

/// Images, of which equal ones are kept once.
#[derive(Debug)]
pub(crate) struct RawImages {
    spool: Spool,
    kept: BTreeMap<Hash128, Piece>,
    /// By the hashes of compressed frames.
    by_frame: BTreeMap<Hash128, DecodedImage>,
    builder: PackBuilder,
    count: u64,
}

/// Data of a decoded image.
#[derive(Clone, Debug)]
pub(crate) struct DecodedImage {
    hash: Hash128,
    size: u64,
    kernels: Vec<KernelInfo>,
}

/// Their pack, which goes when it is dropped.
#[derive(Debug)]
pub(crate) struct RawPack {
    pub(crate) program: Program,
    _directory: tempfile::TempDir,
}

impl RawImages {
    pub(crate) fn new() -> Result<RawImages> {
        let builder = PackBuilder::new("images", "0.0.0");
        Ok(RawImages {
            spool: Spool::new()?,
            kept: BTreeMap::new(),
            by_frame: BTreeMap::new(),
            builder,
            count: 0,
        })
    }

    /// The decoded image of the same frame, if there is one.
    pub(crate) fn decoded(&self, frame: Hash128) -> Option<DecodedImage> {
        self.by_frame.get(&frame).cloned()
    }

    /// Keeps an image that had this frame.
    pub(crate) fn keep(&mut self, frame: Option<Hash128>, bytes: &[u8]) -> Result<DecodedImage> {
        let hash = Hash128::digest(bytes);
        let size = bytes.len() as u64;
        if !self.kept.contains_key(&hash) {
            self.kept.insert(hash, self.spool.write(bytes)?);
        }
        let described = offload_images::describe::any(bytes).ok().flatten();
        let kernels = described.map(|described| described.kernels).unwrap_or_default();
        let image = DecodedImage { hash, size, kernels };
        self.by_frame.extend(frame.map(|frame| (frame, image.clone())));
        Ok(image)
    }

    /// Adds an image with its kernels, as a build would record them.
    pub(crate) fn add(&mut self, record: &ImageRecord, image: DecodedImage) -> Result<()> {
        // One that this project has no name for is an image like any other: nothing is selected from this pack.
        let target = record.target.parse().unwrap_or(Target::OpenClC);
        let module = format!("{}-{}", record.module, self.count.saturating_add(1));
        self.add_to(&module, target, image)
    }

    /// Adds an image of `module` for `target`.
    pub(crate) fn add_to(&mut self, module: &str, target: Target, image: DecodedImage) -> Result<()> {
        self.count = self.count.saturating_add(1);
        let DecodedImage { hash, size, kernels } = image;
        let image = NewImage { kernels, ..NewImage::new(module, target) };
        self.builder.image(image, FrameInfo::new(Codec::Raw, size, size, hash))?;
        Ok(())
    }

    /// `None` if there are no images.
    pub(crate) fn pack(self) -> Result<Option<RawPack>> {
        if self.count == 0 {
            return Ok(None);
        }
        let layout = self.builder.finish()?;
        let mut pieces = vec![Piece::Bytes(layout.index)];
        let mut at = 0u64;
        for placement in layout.frames {
            pieces.push(Piece::Zeros(placement.offset.saturating_sub(at)));
            pieces.extend(self.kept.get(&placement.hash).cloned());
            at = placement.offset.saturating_add(placement.size);
        }
        let pack = NewPack { pieces, id: layout.id, size: layout.size, end: PackEnd::Own };
        let directory = tempfile::tempdir();
        let directory = directory.io_context("create", "a temporary directory")?;
        let file = stage_packs(&directory.path().join("images.pack"), &[pack])?.appear()?;
        let program = Program::open(&file.path, &Limits::trusting())?;
        Ok(Some(RawPack { program, _directory: directory }))
    }
}
