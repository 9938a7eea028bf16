//! Memory-mapped files: a read-only mapping that loads the touched pages, and a writable scratch file.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use memmap2::{Mmap, MmapMut};
use offload_containers::carrier::Memory;

use crate::error::{Error, IoContext, Result};
use crate::files::read_at::FilePart;

/// The bytes of a file.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: Mmap,
    file: Arc<File>,
}

impl Mapped {
    /// Maps `path`.
    pub(crate) fn open(path: &Path) -> Result<Mapped> {
        let file = File::open(path).io_context("open", path)?;
        let kind = file.metadata().io_context("open", path)?.file_type();
        if !kind.is_file() {
            let what = if kind.is_dir() { "it is a directory" } else { "it is not a regular file" };
            return Err(Error::io("open", path, &std::io::Error::other(what)));
        }
        // SAFETY: the mapping is private and read only. Another process that changes the file meanwhile gives other
        // bytes, and one that cuts it short ends this process, as it does for every reader that maps: all readers of
        // these bytes take them for untrusted, and none keeps a decision about bytes to look at them again.
        let map = unsafe { Mmap::map(&file) }.io_context("open", path)?;
        keep_apart(&map);
        Ok(Mapped { map, file: Arc::new(file) })
    }

    /// The file, which other reads than those in memory leave where it is.
    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// The range of `bytes` in the file, if they lie in it: positioned reads of it take no memory, while pages of the
    /// mapping do.
    pub(crate) fn place(&self, bytes: &[u8]) -> Option<FilePart> {
        let start = bytes.as_ptr().addr().checked_sub(self.map.as_ptr().addr())?;
        let inside = start.saturating_add(bytes.len()) <= self.map.len();
        inside.then_some(FilePart { offset: start as u64, size: bytes.len() as u64 })
    }

    /// Takes `bytes` out of memory, as far as they lie in the file.
    pub(crate) fn release(&self, bytes: &[u8]) {
        #[cfg(unix)]
        if let Some(FilePart { offset: start, size }) = self.place(bytes) {
            let end = start.saturating_add(size) as usize / PAGE * PAGE;
            let start = (start as usize).next_multiple_of(PAGE);
            // SAFETY: nothing writes to the mapping, so that the pages have the same content when they are read again, as
            // before.
            let _ = unsafe {
                let dont_need = memmap2::UncheckedAdvice::DontNeed;
                self.map.unchecked_advise_range(dont_need, start, end.saturating_sub(start))
            };
        }
        #[cfg(not(unix))]
        let _ = bytes;
    }
}

/// Page size. Advice for a part of a larger page fails, which does no harm.
#[cfg(unix)]
const PAGE: usize = 4096;

/// A private file that is written through a mapping, whose pages are released on request.
#[derive(Debug)]
pub(crate) struct Scratch {
    map: MmapMut,
    file: Arc<File>,
}

impl Scratch {
    /// Makes `file`, which is empty and has no name, one of `size` bytes.
    ///
    /// # Errors
    /// There is no space on the disk, or the file system cannot keep it: a page that finds none when it is written ends
    /// the process.
    pub(crate) fn new(file: File, size: u64) -> io::Result<Scratch> {
        reserve(&file, size)?;
        // SAFETY: no other process can open the file, and this one only reads what it has written.
        let map = unsafe { MmapMut::map_mut(&file) }?;
        Ok(Scratch { map, file: Arc::new(file) })
    }

    /// The file, to be read from.
    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// The bytes, to be written.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.map
    }

    /// Takes the first `size` bytes out of memory.
    pub(crate) fn release(&mut self, size: usize) {
        #[cfg(unix)]
        // SAFETY: the mapping is shared: what was written stays with the file.
        let _ = unsafe {
            let dont_need = memmap2::UncheckedAdvice::DontNeed;
            self.map.unchecked_advise_range(dont_need, 0, size / PAGE * PAGE)
        };
        #[cfg(not(unix))]
        let _ = size;
    }
}

#[cfg(target_os = "linux")]
fn reserve(file: &File, size: u64) -> io::Result<()> {
    Ok(rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, size)?)
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Files below this are mapped as one: all of it would be no great harm.
#[cfg(unix)]
const LARGE: usize = 16 << 20;
/// Read-ahead of a page fault.
#[cfg(unix)]
const PART: usize = 32 << 10;
/// Maximum number of parts of a mapping: each is a record in the kernel.
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

impl Memory for Mapped {
    fn release(&self, bytes: &[u8]) {
        Mapped::release(self, bytes);
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        self
    }
}
