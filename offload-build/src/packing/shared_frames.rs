//! Compressed frames in the remote cache.
//!
//! Frames that take longer to compress than to download are looked up there, and uploaded after a miss. A hit is decoded and
//! compared with its images before it counts. Compression itself runs locally: on workers it gained nothing, as images
//! and frames travelled both ways.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::{Duration, Instant};

use offload_format::Hash128;
use offload_format::codec::{Codec, FrameInfo};
use offload_packer::{Content, FrameWork, ImageSource, MAX_WHOLE, MemoryNeed, Pool};
use offload_protocol::remote::Stored;

use crate::cache::{Key, KeyBuilder};
use crate::error::{Error, Result};
use crate::remote::Remote;
use crate::tool::Context;
use offload_cache::Origin;

/// A frame of the pack with its keys in the local cache.
#[derive(Debug)]
pub(super) struct PlannedFrame {
    pub(super) work: FrameWork,
    pub(super) sizes: FrameSizes,
    pub(super) frame: Key,
    /// Hash, size and parent of the content of a block.
    pub(super) content: Option<Key>,
}

/// Sizes of a frame's content, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameSizes {
    pub(super) content: u64,
    pub(super) parent: u64,
}

/// The smallest content with its parent that is shared: the slowest compressors need 0.2 s for it.
const MIN_SHARED_SIZE: u64 = 512 << 10;
/// The lowest slow level of zstd.
const MIN_SHARED_LEVEL: i32 = 16;

impl PlannedFrame {
    /// Whether compression takes longer than a download.
    pub(super) fn is_worth_sharing(&self) -> bool {
        let is_slow = match self.work.codec {
            Codec::Lzma | Codec::LzmaPrefix | Codec::LzmaPreset => true,
            Codec::Zstd | Codec::ZstdPrefix | Codec::ZstdPreset => self.work.level >= MIN_SHARED_LEVEL,
            _ => false,
        };
        let FrameSizes { content, parent } = self.sizes;
        // Larger content is compressed as a stream, and never held in memory as a whole.
        is_slow && content <= MAX_WHOLE && content.saturating_add(parent) >= MIN_SHARED_SIZE
    }
}

/// Hash, size and parent of a block's content, as the cache keeps them.
pub(super) fn content_note(info: &FrameInfo) -> Vec<u8> {
    let parent = info.parent.map_or([0; 16], |parent| parent.0);
    [&info.hash.0[..], &info.raw_size.to_le_bytes(), &parent].concat()
}

/// Puts `frames` into the local cache, from the remote cache or compressed here.
pub(super) fn fetch<S: ImageSource<Error = Error>>(
    context: &Context,
    remote: &Remote,
    images: &S,
    frames: &[PlannedFrame],
) -> Result<()> {
    if frames.is_empty() {
        return Ok(());
    }
    let pool = Pool::new(&context.jobs);
    let shared = SharedFrames { context, remote, images, pool, compressors: compressors(frames)? };
    let results = context.jobs.map(frames, |frame| shared.fetch_or_encode(frame));
    results.into_iter().collect()
}

struct SharedFrames<'a, S> {
    context: &'a Context,
    remote: &'a Remote,
    images: &'a S,
    /// Limits the memory of all frames.
    pool: Pool<'a>,
    compressors: BTreeMap<Codec, Hash128>,
}

impl<S: ImageSource<Error = Error>> SharedFrames<'_, S> {
    fn fetch_or_encode(&self, frame: &PlannedFrame) -> Result<()> {
        let key = self.shared_key(&frame.work)?;
        if let Some(Stored { milliseconds, content, .. }) = self.remote.get(self.context, key)
            && self.put_if_valid(frame, &content)?
        {
            self.context.tally.count(Origin::Stored);
            self.context.tally.saved(Duration::from_millis(milliseconds));
            return Ok(());
        }
        let start = Instant::now();
        let content = self.encode(frame)?;
        let milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.remote.put(self.context, key, &Stored { milliseconds, diagnostics: String::new(), content });
        Ok(())
    }

    fn encode(&self, planned: &PlannedFrame) -> Result<Vec<u8>> {
        let FrameSizes { content, parent } = planned.sizes;
        let token = self.context.jobs.token();
        let frame = {
            // The token comes before the memory: a thread that holds memory always runs, and returns it.
            let need = MemoryNeed::for_encoding(planned.work.codec, planned.work.level, content, parent);
            let _memory = self.pool.reserve(need);
            planned.work.encode(self.images)?
        };
        drop(token);
        self.put(planned, &frame.info(), frame.bytes())?;
        Ok(frame.into_bytes())
    }

    /// Puts a downloaded frame into the local cache if it decodes to the content of `planned`.
    fn put_if_valid(&self, planned: &PlannedFrame, frame: &[u8]) -> Result<bool> {
        let FrameSizes { content, parent } = planned.sizes;
        let info = {
            // Two copies of the content: that of the images, and that of the frame.
            let _memory =
                self.pool.reserve(MemoryNeed::for_encoding(Codec::Raw, 0, content.saturating_mul(2), parent));
            planned.work.info(self.images, frame)?
        };
        let Some(info) = info else { return Ok(false) };
        self.put(planned, &info, frame)?;
        Ok(true)
    }

    fn put(&self, planned: &PlannedFrame, info: &FrameInfo, frame: &[u8]) -> Result<()> {
        let cache = &self.context.cache;
        cache.put(planned.frame, frame)?;
        if let Some(content) = planned.content {
            cache.put(content, &content_note(info))?;
        }
        Ok(())
    }

    /// The key of the frame in the remote cache.
    fn shared_key(&self, work: &FrameWork) -> Result<Key> {
        let FrameWork { codec, level, content, parent } = work;
        let compressor = self
            .compressors
            .get(codec)
            .ok_or_else(|| Error::new("a frame has a codec without a compressor"))?;
        let key = KeyBuilder::new("shared frame 1").part(&compressor.0);
        let mut key = key.part(&codec.to_u16().to_le_bytes()).part(&level.to_le_bytes());
        for Content { filter, images } in std::iter::once(content).chain(parent) {
            key = key.part(&filter.to_u16().to_le_bytes()).part(&(images.len() as u64).to_le_bytes());
            key = images.iter().fold(key, |key, image| key.part(&image.0));
        }
        Ok(key.finish())
    }
}

/// The identity of the compressor of each codec in `frames`.
fn compressors(frames: &[PlannedFrame]) -> Result<BTreeMap<Codec, Hash128>> {
    let mut all = BTreeMap::new();
    for PlannedFrame { work, .. } in frames {
        if let Entry::Vacant(entry) = all.entry(work.codec) {
            entry.insert(offload_packer::compressor(work.codec)?);
        }
    }
    Ok(all)
}
