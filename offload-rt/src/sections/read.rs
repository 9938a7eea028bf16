//! A file in memory, on systems without `mmap`.

use std::io;
use std::path::Path;

/// A file read as a whole.
pub(super) struct Mapping {
    bytes: Vec<u8>,
}

impl Mapping {
    /// Reads all of `path`.
    pub(super) fn open(path: &Path) -> io::Result<Mapping> {
        std::fs::read(path).map(|bytes| Mapping { bytes })
    }

    /// The file's bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
