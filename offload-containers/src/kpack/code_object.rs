//! Code objects of a kpack.

use std::borrow::Cow;

use crate::frame;
use offload_format::{Error, Limits};

pub(super) const WHAT: &str = "a code object of the kpack";

/// A code object of a [`Kpack`](super::Kpack).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeObject<'a> {
    /// The program or library that it was split from.
    pub binary: &'a str,
    /// The index of its wrapper in that file; older releases do not record it.
    pub index: Option<u32>,
    /// The target ID (<https://llvm.org/docs/AMDGPUUsage.html#target-id>).
    pub target_id: &'a str,
    /// The format of its bytes: `hsaco` for a code object.
    pub kind: &'a str,
    /// The number of its bytes in the file; code objects may share one.
    pub ordinal: u32,
    /// Its size in bytes.
    pub raw_size: u64,
    /// Its stored bytes.
    pub stored: &'a [u8],
    /// Their compression.
    pub compression: Compression,
}

/// The compression of code objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// None.
    None,
    /// Each as a zstd frame (RFC 8878).
    Zstd,
}

impl<'a> CodeObject<'a> {
    /// Decodes the code object.
    ///
    /// # Errors
    /// [`Compression`](offload_format::ErrorKind::Compression) for a malformed frame, [`Invalid`](offload_format::ErrorKind::Invalid) for one of another size than the recorded one,
    /// [`TooLarge`](offload_format::ErrorKind::TooLarge) over the limits.
    pub fn image(&self, limits: &Limits) -> Result<Cow<'a, [u8]>, Error> {
        match self.compression {
            Compression::None => Ok(Cow::Borrowed(self.stored)),
            Compression::Zstd => {
                let size = limits.inflated(WHAT, self.raw_size, self.stored.len() as u64)?;
                frame::inflate(self.stored, size).map(Cow::Owned)
            }
        }
    }
}
