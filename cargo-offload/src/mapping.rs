//! A file in memory, of which only those pages are read that are looked at.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;
#[cfg(unix)]
use memmap2::UncheckedAdvice;

use crate::error::{Error, Result};

/// The bytes of a file.
#[derive(Debug)]
pub(crate) struct Mapped(Mmap);

impl Mapped {
    /// Maps `path`.
    pub(crate) fn open(path: &Path) -> Result<Mapped> {
        let failed = |error: std::io::Error| Error::io("open", path, &error);
        let file = File::open(path).map_err(failed)?;
        // SAFETY: the mapping is private and read only. Another process that changes the file meanwhile gives other
        // bytes, and one that cuts it short ends this process, as it does for every reader that maps: all readers of
        // these bytes take them for untrusted, and none keeps a decision about bytes to look at them again.
        let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
        keep_apart(&map);
        Ok(Mapped(map))
    }

    /// Writes `bytes`. Pages of the mapping that were written leave the memory again: a copy takes as much of it
    /// whatever its size.
    pub(crate) fn copy(&self, bytes: &[u8], to: &mut File) -> io::Result<()> {
        bytes.chunks(CHUNK).try_for_each(|chunk| {
            to.write_all(chunk)?;
            self.forget(chunk);
            Ok(())
        })
    }

    #[cfg(unix)]
    fn forget(&self, chunk: &[u8]) {
        let start = chunk.as_ptr().addr().checked_sub(self.0.as_ptr().addr());
        let inside = start.filter(|start| start.saturating_add(chunk.len()) <= self.0.len());
        if let Some(start) = inside {
            // SAFETY: the mapping is of a file and nothing is written to it: pages that are looked at again, those
            // that the chunk shares with its neighbours too, come from the file again.
            let _ = unsafe { self.0.unchecked_advise_range(UncheckedAdvice::DontNeed, start, chunk.len()) };
        }
    }

    #[cfg(not(unix))]
    fn forget(&self, _: &[u8]) {}
}

/// How much is copied before its pages go, in bytes.
const CHUNK: usize = 1 << 20;

/// Files below this are mapped as one: all of it would be no great harm.
#[cfg(unix)]
const LARGE: usize = 16 << 20;
/// What one look at a byte brings into memory.
#[cfg(unix)]
const PART: usize = 32 << 10;
/// How many parts a file has at most: each costs the kernel a record.
#[cfg(unix)]
const PARTS: usize = 8192;

/// Linux brings what is around a page into memory with it, up to 2 MiB where it has read the file in such pieces, though
/// never past the end of a mapping. Neighbours with different advice are mappings of their own. Advice is all that it is:
/// it may fail.
#[cfg(unix)]
fn keep_apart(map: &Mmap) {
    if map.len() < LARGE {
        return;
    }
    let part = (map.len() / PARTS).next_multiple_of(PART).max(PART);
    for start in (0..map.len()).step_by(part.saturating_mul(2)) {
        let size = part.min(map.len().saturating_sub(start));
        let _ = map.advise_range(memmap2::Advice::Sequential, start, size);
    }
}

#[cfg(not(unix))]
fn keep_apart(_: &Mmap) {}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
