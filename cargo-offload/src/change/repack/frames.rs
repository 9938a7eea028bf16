//! Frames of new packs: reused ones by their location, and new ones in a temporary file.

use std::collections::BTreeSet;
use std::collections::btree_map::Entry;

use offload_format::Hash128;
use offload_format::codec::{Codec, FrameInfo, RELEASE_LEVEL};
use offload_format::pack::NewBlock;
use offload_packer::{
    FrameMaker, ImageSource as _, MAX_WHOLE, MemoryNeed, Mode, Plan, Settings, Step, StoredFrame, make_frames,
};

use super::images::{Images, LocatedImage};
use super::pack::{PackContent, Storage};
use super::reuse::{ReusedFrame, loose};
use crate::error::{Error, Result};
use crate::files::pieces::Piece;
use crate::files::spool::Spool;
use crate::threads::Threads;

/// The frames of new packs, each once, and where their bytes are.
#[derive(Debug, Default)]
pub(super) struct Frames(offload_packer::Frames<Piece>);

impl Frames {
    /// Takes over what can be, and plans and compresses the rest.
    pub(super) fn plan(packs: &[PackContent<'_>], storage: Storage) -> Result<Frames> {
        let images = Images::from_packs(packs);
        let (loose, settings) = match storage {
            Storage::Kept => (loose(&images)?, settings_of(&images)),
            Storage::Planned => (hashes(&images), settings_of(&images)),
            Storage::Fresh(settings) => (hashes(&images), settings),
        };
        let mut frames = Frames::default();
        for source in images.all().filter(|source| !loose.contains(&source.image.hash)) {
            frames.take(ReusedFrame::new(source)?);
        }
        if !loose.is_empty() {
            frames.add(make(&images, &loose, FrameSettings { storage, settings })?);
        }
        Ok(frames)
    }

    pub(super) fn info(&self, image: Hash128) -> Result<FrameInfo> {
        self.0
            .infos
            .get(&image)
            .copied()
            .ok_or_else(|| Error::check(format!("the image {image} is not in the plan of its pack")))
    }

    pub(super) fn piece(&self, content: Hash128) -> Option<Piece> {
        self.0.stored.get(&content).cloned()
    }

    pub(super) fn blocks(&self) -> &[NewBlock] {
        &self.0.blocks
    }

    fn take(&mut self, taken: ReusedFrame) {
        self.0.infos.insert(taken.info.hash, taken.info);
        let Entry::Vacant(stored) = self.0.stored.entry(taken.hash) else { return };
        stored.insert(taken.piece);
        self.0.blocks.extend(taken.block);
    }

    fn add(&mut self, made: offload_packer::Frames<Piece>) {
        self.0.infos.extend(made.infos);
        self.0.stored.extend(made.stored);
        self.0.blocks.extend(made.blocks);
    }
}

/// Settings of the packer.
#[derive(Clone, Copy, Debug)]
struct FrameSettings {
    storage: Storage,
    settings: Settings,
}

/// Plans the images that are `loose`, and makes their frames.
fn make(
    images: &Images<'_>,
    loose: &BTreeSet<Hash128>,
    how: FrameSettings,
) -> Result<offload_packer::Frames<Piece>> {
    let raw = images.raw(loose);
    let plan = offload_packer::plan(&raw, images, how.settings, &Threads)?;
    let hashes: Vec<Hash128> = raw.iter().map(|image| image.hash).collect();
    let maker = Compressor { images, storage: how.storage, spool: Spool::new()? };
    make_frames(&plan, &hashes, &maker, &Threads)
}

/// Compression settings of packs that do not record them, derived from their frames.
fn hashes(images: &Images<'_>) -> BTreeSet<Hash128> {
    images.all().map(|source| source.image.hash).collect()
}

fn settings_of(images: &Images<'_>) -> Settings {
    let is_archive = images.all().any(|source| {
        let stored = source.source.pack.stored(&source.image);
        matches!(stored.map(|stored| stored.codec), Ok(Codec::Lzma | Codec::LzmaPrefix | Codec::LzmaPreset))
    });
    let mode = if is_archive { Mode::Archive } else { Mode::Balanced };
    Settings { mode, level: RELEASE_LEVEL }
}

struct Compressor<'p, 'a> {
    images: &'p Images<'a>,
    storage: Storage,
    spool: Spool,
}

impl FrameMaker for Compressor<'_, '_> {
    type Stored = Piece;
    type Error = Error;

    fn size(&self, image: Hash128) -> u64 {
        self.images.size(image)
    }

    /// The image is in memory in any case, and its parent with it.
    fn need(&self, plan: &Plan, image: Hash128) -> MemoryNeed {
        let mut need = offload_packer::image_need(plan, image, |image| self.size(image));
        let parent = match plan.step(image) {
            Some(Step::Frame { parent: Some(parent), .. }) => self.size(*parent),
            _ => 0,
        };
        need.images = need.images.max(self.size(image).saturating_add(parent));
        need
    }

    fn image(&self, plan: &Plan, image: Hash128) -> Result<StoredFrame<FrameInfo, Piece>> {
        let source = self.images.get(image)?;
        if !matches!(self.storage, Storage::Fresh(_))
            && let Some(taken) = ReusedFrame::as_planned(plan, source)?
        {
            return Ok(StoredFrame { record: taken.info, stored: taken.piece });
        }
        let streamed = source.image.raw_size > MAX_WHOLE;
        if streamed && matches!(plan.step(image), Some(Step::Frame { codec: Codec::Zstd, .. })) {
            return self.streamed(plan, source);
        }
        let frame = offload_packer::encode_image(plan, self.images, image)?;
        Ok(StoredFrame { record: frame.info(), stored: self.spool.write(frame.bytes())? })
    }

    fn block(&self, plan: &Plan, number: usize) -> Result<StoredFrame<NewBlock, Piece>> {
        let frame = offload_packer::encode_block(plan, self.images, number)?;
        Ok(StoredFrame { record: frame.info().into(), stored: self.spool.write(frame.bytes())? })
    }
}

impl Compressor<'_, '_> {
    /// The image is in memory, its frame is not.
    fn streamed(&self, plan: &Plan, source: &LocatedImage<'_>) -> Result<StoredFrame<FrameInfo, Piece>> {
        let image = self.images.read(source.image.hash)?;
        let mut stream = offload_packer::stream(plan, source.image.raw_size)?;
        let stored = self.spool.fill(|out| {
            image.chunks(1 << 20).try_for_each(|piece| stream.feed(piece, &mut *out))?;
            stream.finish(out)
        })?;
        let raw_size = source.image.raw_size;
        let hash = source.image.hash;
        Ok(StoredFrame { record: FrameInfo::new(Codec::Zstd, stored.size(), raw_size, hash), stored })
    }
}
