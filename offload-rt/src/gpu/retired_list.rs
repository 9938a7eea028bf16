//! Arrays, textures, surfaces, imported memory and semaphores that were dropped, and wait for the work that uses them.

use std::mem;
use std::sync::{Mutex, PoisonError};

use super::array::RawArray;
use super::raw::RawEvent;
#[cfg(unix)]
use super::raw::{RawExternalMemory, RawExternalSemaphore};

/// What is released.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RetiredObject {
    Array(RawArray),
    Texture(u64),
    Surface(u64),
    /// Imported memory, and the address of the part that is mapped; 0 if none is.
    #[cfg(unix)]
    Memory {
        raw: RawExternalMemory,
        address: u64,
    },
    #[cfg(unix)]
    Semaphore(RawExternalSemaphore),
}

/// An object that was dropped.
#[derive(Debug)]
pub(crate) struct Retired {
    pub(super) object: RetiredObject,
    /// The ends of the work that uses it.
    pub(super) after: Vec<RawEvent>,
}

// SAFETY: the library's functions may be called from any thread.
unsafe impl Send for Retired {}

/// The objects of a context that wait for work.
#[derive(Debug, Default)]
pub(crate) struct RetiredObjects(pub(super) Mutex<Vec<Retired>>);

impl RetiredObjects {
    /// All of them; the context goes.
    pub(super) fn take(&mut self) -> Vec<Retired> {
        mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner))
    }
}
