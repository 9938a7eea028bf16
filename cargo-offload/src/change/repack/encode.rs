//! The frames of new packs: old ones in their place, and new ones in a temporary file.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use offload_format::Hash128;
use offload_format::codec::{Codec, FrameInfo, RELEASE_LEVEL};
use offload_format::pack::NewBlock;
use offload_format::packer::{self, Effort, HUGE, Need, Plan, Pool, Settings, Source as _, Step};

use super::reuse::{Taken, loose};
use super::stock::{Item, Stock, payloads};
use super::{Part, Storage};
use crate::error::{Error, Result};
use crate::files::pieces::Piece;
use crate::read::pack_file::Source;
use crate::threads::Threads;

/// The frames of new packs, each once.
#[derive(Debug, Default)]
pub(super) struct Frames {
    infos: BTreeMap<Hash128, FrameInfo>,
    /// Also those of blocks, by the hash of their content.
    pieces: BTreeMap<Hash128, Piece>,
    blocks: Vec<NewBlock>,
}

impl Frames {
    /// Takes over what can be, and plans and compresses the rest.
    pub(super) fn of(parts: &[Part<'_>], storage: Storage) -> Result<Frames> {
        let payloads = payloads(parts);
        let stock = Stock::of(parts, &payloads);
        let all = || stock.items().map(|item| item.image.hash).collect();
        let (loose, settings) = match storage {
            Storage::Kept => (loose(&stock)?, settings_of(&stock)),
            Storage::Planned => (all(), settings_of(&stock)),
            Storage::Anew(settings) => (all(), settings),
        };
        let mut frames = Frames::default();
        for item in stock.items().filter(|item| !loose.contains(&item.image.hash)) {
            frames.take((&payloads, item), Taken::of(item)?)?;
        }
        if !loose.is_empty() {
            let plan = packer::plan(&stock.candidates(&loose), &stock, settings, &Threads)?;
            frames.carry_out((&payloads, &stock), &Maker::new(&plan, &stock, storage)?)?;
        }
        Ok(frames)
    }

    pub(super) fn info(&self, image: Hash128) -> Result<FrameInfo> {
        let lost = || Error::check(format!("the image {image} is not in the plan of its pack"));
        self.infos.get(&image).copied().ok_or_else(lost)
    }

    pub(super) fn piece(&self, content: Hash128) -> Option<Piece> {
        self.pieces.get(&content).cloned()
    }

    pub(super) fn blocks(&self) -> &[NewBlock] {
        &self.blocks
    }

    fn take(&mut self, (payloads, item): (&[Source<'_>], &Item<'_>), taken: Taken) -> Result<()> {
        self.infos.insert(taken.info.hash, taken.info);
        let Entry::Vacant(piece) = self.pieces.entry(taken.hash) else { return Ok(()) };
        let lost = || Error::check("an image lies outside its file");
        let source = payloads.get(item.payload).ok_or_else(lost)?;
        let offset = source.payload().checked_add(taken.offset).ok_or_else(lost)?;
        piece.insert(Piece::Copy { from: source.carrier.file().clone(), offset, size: taken.size });
        self.blocks.extend(taken.block);
        Ok(())
    }

    fn carry_out(
        &mut self,
        (payloads, stock): (&[Source<'_>], &Stock<'_>),
        maker: &Maker<'_, '_>,
    ) -> Result<()> {
        let pool = Pool::new(&Threads);
        let alone: Vec<&Item<'_>> = stock
            .items()
            .filter(|item| matches!(maker.plan.step(item.image.hash), Some(Step::Frame { .. })))
            .collect();
        let mut made = Vec::new();
        let images = pool.map_needing(&alone, |item| maker.need(item), |item| maker.image(item))?;
        for (item, image) in alone.iter().zip(images) {
            match image {
                Made::Old(taken) => self.take((payloads, item), taken)?,
                Made::New(info, spooled) => {
                    self.infos.insert(info.hash, info);
                    made.push((info.hash, spooled));
                }
            }
        }
        let numbers: Vec<usize> = (0..maker.plan.blocks().len()).collect();
        let size = |hash| stock.size(hash);
        let need = |number: &usize| packer::block_need(maker.plan, *number, size);
        let blocks = pool.map_needing(&numbers, need, |number| maker.block(*number))?;
        for (number, (block, spooled)) in numbers.iter().zip(blocks) {
            let members = packer::in_block(maker.plan, (*number, block.hash), size);
            self.infos.extend(members.into_iter().map(|info| (info.hash, info)));
            self.blocks.push(block);
            made.push((block.hash, spooled));
        }
        let file = Arc::new(maker.spool.file()?);
        let piece = |at: Spooled| Piece::Copy { from: file.clone(), offset: at.offset, size: at.size };
        self.pieces.extend(made.into_iter().map(|(hash, spooled)| (hash, piece(spooled))));
        Ok(())
    }
}

/// How packs whose settings nobody has recorded were made, as far as their frames tell.
fn settings_of(stock: &Stock<'_>) -> Settings {
    let for_download = |item: &Item<'_>| {
        let codec = item.source.pack.stored(&item.image).map(|(codec, _)| codec);
        matches!(codec, Ok(Codec::Lzma | Codec::LzmaPrefix))
    };
    let effort = if stock.items().any(for_download) { Effort::Archive } else { Effort::Balanced };
    Settings { effort, level: RELEASE_LEVEL }
}

/// What became of an image.
enum Made {
    /// Its old frame will do.
    Old(Taken),
    New(FrameInfo, Spooled),
}

struct Maker<'p, 'a> {
    plan: &'p Plan,
    stock: &'p Stock<'a>,
    storage: Storage,
    spool: Spool,
}

impl<'p, 'a> Maker<'p, 'a> {
    fn new(plan: &'p Plan, stock: &'p Stock<'a>, storage: Storage) -> Result<Maker<'p, 'a>> {
        Ok(Maker { plan, stock, storage, spool: Spool::new()? })
    }

    /// How much memory it takes to compress the image, which is in memory in any case, and its parent with it.
    fn need(&self, item: &Item<'_>) -> Need {
        let need = packer::image_need(self.plan, item.image.hash, |hash| self.stock.size(hash));
        let parent = match self.plan.step(item.image.hash) {
            Some(Step::Frame { parent: Some(parent), .. }) => self.stock.size(*parent),
            _ => 0,
        };
        Need { images: need.images.max(item.image.raw_size.saturating_add(parent)), ..need }
    }

    fn image(&self, item: &Item<'_>) -> Result<Made> {
        let image = item.image.hash;
        if !matches!(self.storage, Storage::Anew(_))
            && let Some(taken) = Taken::as_planned(self.plan, item)?
        {
            return Ok(Made::Old(taken));
        }
        let huge = item.image.raw_size > HUGE;
        if huge && matches!(self.plan.step(image), Some(Step::Frame { codec: Codec::Zstd, .. })) {
            return self.huge(item);
        }
        let frame = packer::encode_image(self.plan, self.stock, image)?;
        Ok(Made::New(frame.info(), self.spool.write(frame.bytes())?))
    }

    /// The image is in memory, its frame is not.
    fn huge(&self, item: &Item<'_>) -> Result<Made> {
        let image = self.stock.read(item.image.hash)?;
        let mut stream = packer::stream(self.plan, item.image.raw_size)?;
        let spooled = self.spool.fill(|out| {
            image.chunks(1 << 20).try_for_each(|piece| stream.feed(piece, &mut *out))?;
            stream.finish(out)
        })?;
        let info = FrameInfo::new(Codec::Zstd, spooled.size, (item.image.raw_size, item.image.hash));
        Ok(Made::New(info, spooled))
    }

    fn block(&self, number: usize) -> Result<(NewBlock, Spooled)> {
        let frame = packer::encode_block(self.plan, self.stock, number)?;
        Ok((frame.info().into(), self.spool.write(frame.bytes())?))
    }
}

/// A place in the temporary file.
#[derive(Clone, Copy, Debug)]
struct Spooled {
    offset: u64,
    size: u64,
}

/// New frames, one after another.
struct Spool(Mutex<(File, u64)>);

impl Spool {
    fn new() -> Result<Spool> {
        Ok(Spool(Mutex::new((tempfile::tempfile().map_err(|error| spool_failed(&error))?, 0))))
    }

    fn write(&self, bytes: &[u8]) -> Result<Spooled> {
        self.fill(|out| out(bytes))
    }

    /// Appends what `fill` hands out.
    fn fill(&self, fill: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>) -> Result<Spooled> {
        let mut spool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, end) = &mut *spool;
        let offset = *end;
        fill(&mut |bytes| {
            *end = end.saturating_add(bytes.len() as u64);
            file.write_all(bytes).map_err(|error| spool_failed(&error))
        })?;
        Ok(Spooled { offset, size: end.saturating_sub(offset) })
    }

    fn file(&self) -> Result<File> {
        let spool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spool.0.try_clone().map_err(|error| spool_failed(&error))
    }
}

fn spool_failed(error: &std::io::Error) -> Error {
    Error::io("write", Path::new("a temporary file"), error)
}
