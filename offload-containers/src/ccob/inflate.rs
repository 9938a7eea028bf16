//! Inflation of compressed bundles, with verification.

use md5::{Digest, Md5};

use super::{BUNDLE, Ccob, Method};
use crate::{frame, zlib};
use offload_format::{Error, ErrorKind, Limits};

impl Ccob<'_> {
    /// Inflates the bundle, for [`bundle::parse`](crate::bundle::parse), and compares its size and MD5 with the recorded ones.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for a recorded size over [`Limits::raw_bytes`] or over [`Limits::ratio`], before
    /// anything is inflated; [`ErrorKind::Compression`] for damaged bytes; [`ErrorKind::Invalid`] for
    /// another size; [`ErrorKind::Damaged`] for another MD5.
    pub fn inflate(&self, limits: &Limits) -> Result<Vec<u8>, Error> {
        let declared = limits.inflated(BUNDLE, self.raw_size, self.payload.len() as u64)?;
        let bundle = match self.method {
            Method::Zstd => frame::inflate(self.payload, declared)?,
            _ => zlib::inflate(self.payload, declared)?,
        };
        if hash(&bundle) != self.hash {
            return Err(ErrorKind::Damaged { what: BUNDLE }.into());
        }
        Ok(bundle)
    }

    /// Inflates the first `size` bytes of the bundle, or all if it is smaller: enough for
    /// [`bundle::table`](crate::bundle::table). Neither size nor MD5 are compared.
    ///
    /// # Errors
    /// [`ErrorKind::Compression`] for damaged bytes.
    pub fn start(&self, size: u64) -> Result<Vec<u8>, Error> {
        match self.method {
            Method::Zstd => frame::start(self.payload, size),
            _ => zlib::start(self.payload, size),
        }
    }
}

pub(super) fn hash(bundle: &[u8]) -> u64 {
    first_bytes(Md5::new_with_prefix(bundle))
}

/// The first 8 bytes of the MD5, little-endian.
pub(super) fn first_bytes(md5: Md5) -> u64 {
    let digest: [u8; 16] = md5.finalize().into();
    u128::from_le_bytes(digest) as u64
}
