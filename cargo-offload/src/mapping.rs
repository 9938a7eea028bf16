//! A file in memory, of which only those pages are read that are looked at.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use crate::at::copy_at;
use crate::error::{Error, Result};

/// The bytes of a file.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: Mmap,
    file: File,
}

impl Mapped {
    /// Maps `path`.
    pub(crate) fn open(path: &Path) -> Result<Mapped> {
        let failed = |error: std::io::Error| Error::io("open", path, &error);
        let file = File::open(path).map_err(failed)?;
        let kind = file.metadata().map_err(failed)?.file_type();
        if !kind.is_file() {
            let what = if kind.is_dir() { "it is a directory" } else { "it is no regular file" };
            return Err(failed(std::io::Error::other(what)));
        }
        // SAFETY: the mapping is private and read only. Another process that changes the file meanwhile gives other
        // bytes, and one that cuts it short ends this process, as it does for every reader that maps: all readers of
        // these bytes take them for untrusted, and none keeps a decision about bytes to look at them again.
        let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
        keep_apart(&map);
        Ok(Mapped { map, file })
    }

    /// Writes `bytes`. Those that lie in the file are read from it: looked at in the mapping, they would take memory.
    pub(crate) fn copy(&self, bytes: &[u8], to: &mut File) -> io::Result<()> {
        let start = bytes.as_ptr().addr().checked_sub(self.map.as_ptr().addr());
        let inside = start.filter(|start| start.saturating_add(bytes.len()) <= self.map.len());
        match inside {
            Some(start) => copy_at(&self.file, (start as u64, bytes.len() as u64), to),
            None => to.write_all(bytes),
        }
    }
}

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
        &self.map
    }
}
