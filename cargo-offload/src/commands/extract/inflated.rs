//! Decompression of a compressed bundle into memory or an unnamed file, with its MD5 computed concurrently.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use offload_containers::ccob::{Ccob, Hasher, Steps, Unverified};

use crate::files::mapping::Scratch;
use crate::files::publish::unnamed::unnamed;
use crate::files::read_at::{FilePart, copy_at, read_into};
use crate::read::input::Input;

/// From so many bytes on a thread pays.
const WORTHWHILE: u64 = 1 << 20;
/// Above so many bytes memory is held by a file: pages of one take three times as long to get as those of a heap.
const IN_MEMORY: u64 = 16 << 20;
/// Size of the part of the bundle in memory.
const KEPT: usize = 256 << 10;
/// Size of the pieces that are hashed, which fit a core's cache.
const PIECE: usize = 64 << 10;

/// Identity of a bundle in a file: the address of its bytes, and its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    start: usize,
    size: u64,
    raw_size: u64,
    hash: u64,
}

impl Key {
    pub(super) fn from_bundle(bundle: &Ccob<'_>) -> Key {
        let &Ccob { size, raw_size, hash, payload, .. } = bundle;
        Key { start: payload.as_ptr().addr(), size, raw_size, hash }
    }
}

/// The bundle.
#[derive(Debug)]
pub(super) struct Inflated {
    bytes: Bytes,
    state: RefCell<ChecksumState>,
}

/// Location of the bytes of a file.
#[derive(Clone, Debug)]
pub(super) enum Bytes {
    File(Arc<File>),
    Memory(Arc<Vec<u8>>),
}

impl Bytes {
    /// Appends `part` of them to `to`, which ends at a page.
    pub(super) fn copy(&self, part: FilePart, to: &mut File) -> io::Result<()> {
        match self {
            Bytes::File(file) => copy_at(file, part, to),
            Bytes::Memory(bytes) => {
                let start = usize::try_from(part.offset).ok();
                let end = usize::try_from(part.offset.saturating_add(part.size)).ok();
                let start = start.zip(end);
                let bytes = start.and_then(|(start, end)| bytes.get(start..end));
                to.write_all(bytes.ok_or(io::ErrorKind::UnexpectedEof)?)
            }
        }
    }
}

#[derive(Debug)]
enum ChecksumState {
    Hashing(JoinHandle<io::Result<Hasher>>, Unverified),
    Known(Result<(), String>),
}

impl Inflated {
    /// `None` where memory serves as well, or has to: there are no such files, the disk is too full for one, the bundle is
    /// not compressed so that it could be, or it is damaged in a way that shows at once.
    pub(super) fn start(bundle: &Ccob<'_>, input: &Input, directory: &Path) -> Option<Inflated> {
        if bundle.raw_size < WORTHWHILE {
            return None;
        }
        // What is a file takes no memory: its size has to be in proportion, and the disk must hold it.
        let steps = bundle.steps(&input.limits().with_raw_bytes(u64::MAX)).ok()??;
        if steps.size() <= IN_MEMORY {
            Inflated::in_memory(steps)
        } else {
            Inflated::in_file(steps, bundle, BundleSource { input, directory })
        }
    }

    fn in_memory(mut steps: Steps<'_>) -> Option<Inflated> {
        let mut memory = vec![0; usize::try_from(steps.size()).ok()?];
        let inflated = loop {
            match steps.step(&mut memory) {
                Ok(Some(_)) => {}
                Ok(None) => break steps.finish(),
                Err(error) => break Err(error),
            }
        };
        let bytes = Arc::new(memory);
        let state = match inflated {
            Ok(unverified) => {
                let hashed = bytes.clone();
                let thread = thread::Builder::new().spawn(move || {
                    let mut hasher = Hasher::default();
                    hasher.update(&hashed);
                    Ok(hasher)
                });
                ChecksumState::Hashing(thread.ok()?, unverified)
            }
            Err(error) => ChecksumState::Known(Err(error.to_string())),
        };
        Some(Inflated { bytes: Bytes::Memory(bytes), state: RefCell::new(state) })
    }

    fn in_file(steps: Steps<'_>, bundle: &Ccob<'_>, place: BundleSource<'_>) -> Option<Inflated> {
        let BundleSource { input, directory } = place;
        let mut scratch = Scratch::new(unnamed(directory).ok()?, steps.size()).ok()?;
        let (sender, ends) = mpsc::channel();
        let file = scratch.file().clone();
        let hashed = scratch.file().clone();
        let hashing = thread::Builder::new().spawn(move || hash(&hashed, &ends)).ok()?;
        let mut progress = Inflation { scratch: &mut scratch, ends: &sender };
        let inflated = inflate(steps, &mut progress, || input.release(bundle.payload));
        let state = match inflated {
            Ok(unverified) => ChecksumState::Hashing(hashing, unverified),
            Err(error) => ChecksumState::Known(Err(error.to_string())),
        };
        Some(Inflated { bytes: Bytes::File(file), state: RefCell::new(state) })
    }

    /// The inflated bytes, verified or not.
    pub(super) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The problem, if one is known by now.
    pub(super) fn problem(&self) -> Option<String> {
        match &*self.state.borrow() {
            ChecksumState::Known(Err(problem)) => Some(problem.clone()),
            _ => None,
        }
    }

    /// Whether a core is busy with it.
    pub(super) fn is_hashing(&self) -> bool {
        matches!(&*self.state.borrow(), ChecksumState::Hashing(hashing, _) if !hashing.is_finished())
    }

    /// Waits for the MD5, and compares it.
    ///
    /// # Errors
    /// The bundle is not what was compressed, in words.
    pub(super) fn verified(&self) -> Result<(), String> {
        let state = self.state.replace(ChecksumState::Known(Err("its MD5 check is in progress".to_string())));
        let outcome = match state {
            ChecksumState::Known(outcome) => outcome,
            ChecksumState::Hashing(hashing, unverified) => match hashing.join() {
                Ok(Ok(hasher)) => unverified.verify(hasher).map_err(|error| error.to_string()),
                Ok(Err(error)) => Err(format!("its MD5 cannot be computed: {error}")),
                Err(_) => Err("its MD5 was not computed".to_string()),
            },
        };
        self.state.replace(ChecksumState::Known(outcome.clone()));
        outcome
    }
}

/// The file that the bundle is in, and where one that it is inflated to can be.
struct BundleSource<'a> {
    input: &'a Input,
    directory: &'a Path,
}

/// Destination of the inflated bytes, and the channel that reports their number to the hashing thread.
struct Inflation<'a> {
    scratch: &'a mut Scratch,
    ends: &'a Sender<u64>,
}

/// Inflates everything, says how far it is, and calls `release` where more of the file should leave the memory.
fn inflate(
    mut steps: Steps<'_>,
    progress: &mut Inflation<'_>,
    release: impl Fn(),
) -> Result<Unverified, offload_format::Error> {
    let mut released = 0usize;
    while let Some(done) = steps.step(progress.scratch.bytes())? {
        // A closed channel means that hashing has failed, which its thread reports.
        let _ = progress.ends.send(done as u64);
        if done.saturating_sub(released) >= KEPT {
            progress.scratch.release(done);
            release();
            released = done;
        }
    }
    steps.finish()
}

/// Hashes `file` as far as it is there.
fn hash(file: &File, ends: &Receiver<u64>) -> io::Result<Hasher> {
    let mut hasher = Hasher::default();
    let mut at = 0u64;
    let mut buffer = vec![0; PIECE];
    for end in ends {
        while at < end {
            let left = usize::try_from(end.saturating_sub(at)).unwrap_or(PIECE);
            let piece = buffer.get_mut(..left.min(PIECE)).unwrap_or_default();
            read_into(file, at, piece)?;
            hasher.update(piece);
            at = at.saturating_add(piece.len() as u64);
        }
    }
    Ok(hasher)
}
