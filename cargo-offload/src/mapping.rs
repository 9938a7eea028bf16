//! A file in memory, of which only those pages are read that are looked at.

use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

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
        Ok(Mapped(map))
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
