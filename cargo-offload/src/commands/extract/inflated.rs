//! A compressed bundle, inflated into a file without a name, while its MD5 is computed beside.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use offload_containers::ccob::{Ccob, Hasher, Steps, Unverified};

use crate::files::mapping::Scratch;
use crate::files::publish::temporary::unnamed;
use crate::files::read_at::read_into;
use crate::read::input::Input;

/// From so many bytes on a file and a thread pay.
const WORTHWHILE: u64 = 1 << 20;
/// How much of the bundle is kept in memory.
const KEPT: usize = 256 << 10;
/// How much is read at once to be hashed: what a core's cache holds.
const PIECE: usize = 64 << 10;

/// What tells bundles of a file apart: where its bytes are in memory, and what its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    start: usize,
    size: u64,
    raw_size: u64,
    hash: u64,
}

impl Key {
    pub(super) fn of(bundle: &Ccob<'_>) -> Key {
        let &Ccob { size, raw_size, hash, payload, .. } = bundle;
        Key { start: payload.as_ptr().addr(), size, raw_size, hash }
    }
}

/// The bundle.
#[derive(Debug)]
pub(super) struct Inflated {
    file: Arc<File>,
    state: RefCell<State>,
}

#[derive(Debug)]
enum State {
    Hashing(JoinHandle<io::Result<Hasher>>, Unverified),
    Known(Result<(), String>),
}

impl Inflated {
    /// `None` where memory serves as well, or has to: there are no such files, the disk is too full for one, the bundle is
    /// not compressed so that it could be, or it is damaged in a way that shows at once.
    pub(super) fn of(bundle: &Ccob<'_>, input: &Input, directory: &Path) -> Option<Inflated> {
        if bundle.raw_size < WORTHWHILE {
            return None;
        }
        // What is a file takes no memory: its size has to be in proportion, and the disk must hold it.
        let steps = bundle.steps(&input.limits().with_raw_bytes(u64::MAX)).ok()??;
        let mut scratch = Scratch::new(unnamed(directory).ok()?, steps.size()).ok()?;
        let (sender, ends) = mpsc::channel();
        let (file, hashed) = (scratch.file().clone(), scratch.file().clone());
        let hashing = thread::Builder::new().spawn(move || hash(&hashed, &ends)).ok()?;
        let mut progress = Progress { scratch: &mut scratch, ends: &sender };
        let inflated = inflate(steps, &mut progress, || input.release(bundle.payload));
        let state = match inflated {
            Ok(unverified) => State::Hashing(hashing, unverified),
            Err(error) => State::Known(Err(error.to_string())),
        };
        Some(Inflated { file, state: RefCell::new(state) })
    }

    /// What it was inflated to, whether that is right or not.
    pub(super) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// What is known to be wrong by now.
    pub(super) fn problem(&self) -> Option<String> {
        match &*self.state.borrow() {
            State::Known(Err(problem)) => Some(problem.clone()),
            _ => None,
        }
    }

    /// Whether a core is busy with it.
    pub(super) fn is_hashing(&self) -> bool {
        matches!(&*self.state.borrow(), State::Hashing(hashing, _) if !hashing.is_finished())
    }

    /// Waits for the MD5, and compares it.
    ///
    /// # Errors
    /// The bundle is not what was compressed, in words.
    pub(super) fn verified(&self) -> Result<(), String> {
        let state = self.state.replace(State::Known(Err("its MD5 is being compared".to_string())));
        let outcome = match state {
            State::Known(outcome) => outcome,
            State::Hashing(hashing, unverified) => match hashing.join() {
                Ok(Ok(hasher)) => unverified.verify(hasher).map_err(|error| error.to_string()),
                Ok(Err(error)) => Err(format!("its MD5 cannot be computed: {error}")),
                Err(_) => Err("its MD5 was not computed".to_string()),
            },
        };
        self.state.replace(State::Known(outcome.clone()));
        outcome
    }
}

/// Where a bundle is inflated to, and who is told how far that is.
struct Progress<'a> {
    scratch: &'a mut Scratch,
    ends: &'a Sender<u64>,
}

/// Inflates everything, says how far it is, and calls `release` where more of the file should leave the memory.
fn inflate(
    mut steps: Steps<'_>,
    progress: &mut Progress<'_>,
    release: impl Fn(),
) -> Result<Unverified, offload_format::Error> {
    let mut released = 0usize;
    while let Some(done) = steps.step(progress.scratch.bytes())? {
        // Where nobody receives it, hashing has failed, and says so.
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
    let (mut hasher, mut at) = (Hasher::default(), 0u64);
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
