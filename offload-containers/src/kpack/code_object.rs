//! A code object of a kpack, and its bytes.

use std::borrow::Cow;

use crate::frame;
use offload_format::{Error, Limits};

pub(super) const WHAT: &str = "a code object of the kpack";

/// A code object of a [`Kpack`](super::Kpack).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeObject<'a> {
    /// Which program or library it was taken from.
    pub binary: &'a str,
    /// Which of that file's wrappers it belongs to; files of older releases do not say.
    pub index: Option<u32>,
    /// The target ID (<https://llvm.org/docs/AMDGPUUsage.html#target-id>).
    pub target_id: &'a str,
    /// What the bytes are: `hsaco` for a code object.
    pub kind: &'a str,
    /// Its number in the file; code objects may share one.
    pub ordinal: u32,
    /// Its size in bytes.
    pub raw_size: u64,
    /// Its bytes as they are stored.
    pub stored: &'a [u8],
    /// How they are stored.
    pub compression: Compression,
}

/// How code objects are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// As they are.
    None,
    /// Each as a zstd frame (RFC 8878).
    Zstd,
}

impl<'a> CodeObject<'a> {
    /// The code object.
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
