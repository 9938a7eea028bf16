//! Temporary file of consecutive pieces.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::files::pieces::Piece;

/// Pieces are read back from the same file by offset.
#[derive(Debug)]
pub(crate) struct Spool {
    file: Arc<File>,
    /// Offset of the next piece; its lock serializes writers.
    end: Mutex<u64>,
}

impl Spool {
    pub(crate) fn new() -> Result<Spool> {
        let file = tempfile::tempfile().map_err(|error| write_error(&error))?;
        Ok(Spool { file: Arc::new(file), end: Mutex::new(0) })
    }

    /// Appends `bytes`.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<Piece> {
        self.fill(|out| out(bytes))
    }

    /// Appends what `fill` hands out.
    pub(crate) fn fill(
        &self,
        fill: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
    ) -> Result<Piece> {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = *end;
        let mut file: &File = &self.file;
        fill(&mut |bytes| {
            *end = end.saturating_add(bytes.len() as u64);
            file.write_all(bytes).map_err(|error| write_error(&error))
        })?;
        Ok(Piece::Copy { from: self.file.clone(), offset, size: end.saturating_sub(offset) })
    }
}

fn write_error(error: &std::io::Error) -> Error {
    Error::io("write", Path::new("a temporary file"), error)
}
