//! Frames that other machines have compressed, or compress now: those that take longer than their images take to travel.
//!
//! The worker runs `cargo-offload`, which travels with the images. What comes back is decoded and compared with the images
//! before it counts.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use offload_format::codec::{Codec, FrameInfo};
use offload_format::packer::{self, Content, FrameWork, ImageSource, MAX_WHOLE, MemoryNeed, Pool};
use offload_format::remote::{Action, Executed, Input, Source, Stored, Variable};
use offload_format::{Hash128, variable};

use crate::cache::{Key, KeyBuilder};
use crate::error::{Error, Result};
use crate::fs::{self, TemporaryName};
use crate::jobs::Token;
use crate::remote::Remote;
use crate::tally::Origin;
use crate::tool::Context;

/// A frame, and where the cache of this machine has it.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) work: FrameWork,
    pub(super) sizes: Sizes,
    pub(super) frame: Key,
    /// Of a block: where what is known of its content is.
    pub(super) content: Option<Key>,
}

/// In bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) content: u64,
    pub(super) parent: u64,
}

/// So many bytes of content and parent, in a frame of the slowest compressors, are worth a way to another machine: they take
/// 0.2 s and more.
const WORTH: u64 = 512 << 10;
/// The levels of zstd that are slow.
const SLOW: i32 = 16;

impl Wanted {
    /// Whether compressing takes longer than the way to another machine.
    pub(super) fn is_worth_it(&self) -> bool {
        let is_slow = match self.work.codec {
            Codec::Lzma | Codec::LzmaPrefix => true,
            Codec::Zstd | Codec::ZstdPrefix => self.work.level >= SLOW,
            _ => false,
        };
        let Sizes { content, parent } = self.sizes;
        // Larger ones are compressed as a stream, and never in memory as a whole.
        is_slow && content <= MAX_WHOLE && content.saturating_add(parent) >= WORTH
    }
}

/// Hash, size and parent of a block's content, as the cache keeps them.
pub(super) fn content_note(info: &FrameInfo) -> Vec<u8> {
    let parent = info.parent.map_or([0; 16], |parent| parent.0);
    [&info.hash.0[..], &info.raw_size.to_le_bytes(), &parent].concat()
}

/// Puts frames of `images` into the cache that other machines have, or make while this one makes others.
pub(super) fn fetch<S: ImageSource<Error = Error>>(
    context: &Context,
    remote: &Remote,
    images: &S,
    wanted: &[Wanted],
) -> Result<()> {
    if wanted.is_empty() {
        return Ok(());
    }
    let program = if remote.settings.execute { remote.own_program(context) } else { None };
    let elsewhere = Elsewhere {
        context,
        remote,
        images,
        pool: Pool::new(&context.jobs),
        folder: fs::scratch(context.cache.dir())?,
        program,
        compressors: compressors(wanted)?,
        is_refused: AtomicBool::new(false),
    };
    let frames = context.jobs.map(wanted, |frame| elsewhere.frame(frame));
    frames.into_iter().collect()
}

struct Elsewhere<'a, S> {
    context: &'a Context,
    remote: &'a Remote,
    images: &'a S,
    /// Of memory.
    pool: Pool<'a>,
    /// Images as files, for the process that sends them.
    folder: TemporaryName,
    /// What compresses on other machines; `None` where they only keep results.
    program: Option<PathBuf>,
    compressors: BTreeMap<Codec, Hash128>,
    /// Whether other machines cannot do it: the next one could not either.
    is_refused: AtomicBool,
}

impl<S: ImageSource<Error = Error>> Elsewhere<'_, S> {
    /// Finds or makes a frame, and puts it into the cache.
    fn frame(&self, wanted: &Wanted) -> Result<()> {
        let Elsewhere { context, remote, .. } = self;
        let key = self.shared_key(&wanted.work)?;
        if let Some(Stored { milliseconds, content, .. }) = remote.get(context, key)
            && self.keep(wanted, &content)?
        {
            context.tally.count(Origin::Stored);
            context.tally.saved(Duration::from_millis(milliseconds));
            return Ok(());
        }
        let begun = Instant::now();
        let content = match self.executed_or_token(wanted) {
            Ok(content) => content,
            Err(token) => self.made_here(wanted, token)?,
        };
        let milliseconds = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        remote.put(context, key, &Stored { milliseconds, diagnostics: String::new(), content });
        Ok(())
    }

    /// What another machine has made, or the right to make it here.
    fn executed_or_token(&self, wanted: &Wanted) -> std::result::Result<Vec<u8>, Token<'_>> {
        let jobs = &self.context.jobs;
        if let Some(token) = jobs.idle() {
            return Err(token);
        }
        let Some(action) = self.action(&wanted.work) else { return Err(jobs.token()) };
        let executed = self.remote.run_or_token(self.context, action)?;
        let frame = executed.as_ref().and_then(frame_of);
        if let Some(frame) = frame.filter(|frame| self.keep(wanted, frame).unwrap_or(false)) {
            self.context.tally.count(Origin::Executed);
            return Ok(frame.to_vec());
        }
        self.is_refused.store(true, Ordering::Relaxed);
        if let Some(Executed { stderr, .. }) = &executed {
            let (url, said) = (&self.remote.settings.url, String::from_utf8_lossy(stderr));
            let said = said.trim().trim_start_matches("error: ");
            self.remote.tell(self.context, &format!("workers of `{url}` do not compress images: {said}"));
        }
        Err(jobs.token())
    }

    fn made_here(&self, wanted: &Wanted, token: Token<'_>) -> Result<Vec<u8>> {
        let Wanted { work, sizes: Sizes { content, parent }, .. } = wanted;
        let frame = {
            // Whoever has memory has the right to run already, and gives it back.
            let _memory =
                self.pool.reserve(MemoryNeed::for_encoding(work.codec, work.level, *content, *parent));
            work.encode(self.images)?
        };
        drop(token);
        self.put(wanted, &frame.info(), frame.bytes())?;
        Ok(frame.into_bytes())
    }

    /// Puts `frame` of elsewhere into the cache if it is what is wanted.
    fn keep(&self, wanted: &Wanted, frame: &[u8]) -> Result<bool> {
        let Wanted { work, sizes: Sizes { content, parent }, .. } = wanted;
        let info = {
            // The content that is wanted, and the one that is in the frame.
            let _memory = self.pool.reserve(MemoryNeed::for_encoding(
                Codec::Raw,
                0,
                content.saturating_mul(2),
                *parent,
            ));
            work.info(self.images, frame)?
        };
        let Some(info) = info else { return Ok(false) };
        self.put(wanted, &info, frame)?;
        Ok(true)
    }

    fn put(&self, wanted: &Wanted, info: &FrameInfo, frame: &[u8]) -> Result<()> {
        let cache = &self.context.cache;
        cache.put(wanted.frame, frame)?;
        if let Some(content) = wanted.content {
            cache.put(content, &content_note(info))?;
        }
        Ok(())
    }

    /// The command of a worker; `None` if it is to be done here.
    fn action(&self, work: &FrameWork) -> Option<Action> {
        const PROGRAM: &str = "tools/cargo-offload";
        let program = self.program.as_ref().filter(|_| !self.is_refused.load(Ordering::Relaxed))?;
        let input = |path: &str, file: &Path| {
            Some(Input { path: path.to_string(), source: Source::File(file.to_str()?.to_string()) })
        };
        let mut inputs = vec![input(PROGRAM, program)?];
        for (number, image) in work.images().enumerate() {
            inputs.push(input(&format!("in{number}"), &self.file(image).ok()?)?);
        }
        let variable = |name: &str, value: &str| Variable { name: name.into(), value: value.into() };
        Some(Action {
            arguments: arguments(work, self.compressor(work).ok()?, PROGRAM),
            variables: vec![variable(variable::LC_ALL, "C"), variable(variable::PATH, "/usr/bin:/bin")],
            directory: String::new(),
            inputs,
            outputs: vec![OUTPUT.to_string()],
            programs: Vec::new(),
            seconds: self.context.tool_limit.seconds(),
        })
    }

    /// Names the frame on every machine.
    fn shared_key(&self, work: &FrameWork) -> Result<Key> {
        let FrameWork { codec, level, content, parent } = work;
        let key = KeyBuilder::new("shared frame").part(&self.compressor(work)?.0);
        let mut key = key.part(&codec.to_u16().to_le_bytes()).part(&level.to_le_bytes());
        for Content { filter, images } in std::iter::once(content).chain(parent) {
            key = key.part(&filter.to_u16().to_le_bytes()).part(&(images.len() as u64).to_le_bytes());
            key = images.iter().fold(key, |key, image| key.part(&image.0));
        }
        Ok(key.finish())
    }

    fn compressor(&self, work: &FrameWork) -> Result<Hash128> {
        self.compressors
            .get(&work.codec)
            .copied()
            .ok_or_else(|| Error::new("a frame has a codec that was not asked for"))
    }

    /// The file of an image.
    fn file(&self, image: Hash128) -> Result<PathBuf> {
        let path = self.folder.path().join(image.to_string());
        if !path.exists() {
            let content = self.images.read(image)?;
            fs::publish(&path, |out| out.write_all(&content))?;
        }
        Ok(path)
    }
}

/// The compressors of all frames.
fn compressors(wanted: &[Wanted]) -> Result<BTreeMap<Codec, Hash128>> {
    let mut all = BTreeMap::new();
    for Wanted { work, .. } in wanted {
        if let Entry::Vacant(place) = all.entry(work.codec) {
            place.insert(packer::compressor(work.codec)?);
        }
    }
    Ok(all)
}

/// What the worker writes.
const OUTPUT: &str = "out";

/// `cargo-offload offload pack-frame`: how, and files of the content and then of its parent.
fn arguments(work: &FrameWork, compressor: Hash128, program: &str) -> Vec<String> {
    let FrameWork { codec, level, content, parent } = work;
    let mut words = [program, "offload", "pack-frame", "--output", OUTPUT].map(str::to_string).to_vec();
    let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    option("compressor", compressor.to_string());
    option("codec", codec.to_u16().to_string());
    option("level", level.to_string());
    option("filter", content.filter.to_u16().to_string());
    if let Some(parent) = parent {
        option("parent-filter", parent.filter.to_u16().to_string());
        option("parents", parent.images.len().to_string());
    }
    words.extend((0..work.images().count()).map(|number| format!("in{number}")));
    words
}

fn frame_of(executed: &Executed) -> Option<&[u8]> {
    let Executed { exit_code: 0, outputs, .. } = executed else { return None };
    outputs.iter().find(|file| file.path == OUTPUT).map(|file| &*file.content)
}
