//! From a compressed bundle to the bundle, verified.

use flate2::bufread::ZlibDecoder;
use md5::{Digest, Md5};

use super::{Ccob, Method};
use crate::{Error, ErrorKind, Limits, frame};

const BUNDLE: &str = "the inflated offload bundle";

impl Ccob<'_> {
    /// The bundle, for [`bundle::parse`](crate::bundle::parse): its size and its MD5 are those that are recorded.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for a recorded size over [`Limits::raw_bytes`] or over [`Limits::ratio`], before
    /// anything is inflated; [`ErrorKind::Zstd`] or [`ErrorKind::Zlib`] for damaged bytes; [`ErrorKind::Invalid`] for
    /// another size; [`ErrorKind::Damaged`] for another MD5.
    pub fn inflate(&self, limits: &Limits) -> Result<Vec<u8>, Error> {
        let declared = limits.inflated(BUNDLE, self.raw_size, self.payload.len() as u64)?;
        let bundle = match self.method {
            Method::Zstd => frame::inflate(self.payload, declared)?,
            _ => zlib(self.payload, declared)?,
        };
        if hash(&bundle) != self.hash {
            return Err(ErrorKind::Damaged { what: BUNDLE }.into());
        }
        Ok(bundle)
    }
}

/// The first 8 bytes of the MD5, little-endian.
pub(super) fn hash(bundle: &[u8]) -> u64 {
    let digest: [u8; 16] = Md5::digest(bundle).into();
    u128::from_le_bytes(digest) as u64
}

/// As [`frame::inflate`]: one stream, nothing behind it.
fn zlib(stream: &[u8], declared: u64) -> Result<Vec<u8>, Error> {
    let mut decoder = ZlibDecoder::new(stream);
    let bundle = frame::read_exactly(&mut decoder, declared).map_err(|error| failed(&error))??;
    if decoder.total_in() != stream.len() as u64 {
        return Err(Error::invalid("the size of the zlib stream", stream.len() as u64));
    }
    Ok(bundle)
}

/// The size of the stream at the start of `rest`, which has to inflate to `declared` bytes.
pub(super) fn zlib_size(rest: &[u8], declared: u64, limits: &Limits) -> Result<u64, Error> {
    let declared = limits.inflated(BUNDLE, declared, rest.len() as u64)?;
    let mut decoder = ZlibDecoder::new(rest);
    frame::read_exactly(&mut decoder, declared).map_err(|error| failed(&error))??;
    Ok(decoder.total_in())
}

fn failed(error: &std::io::Error) -> Error {
    ErrorKind::Zlib { message: error.to_string() }.into()
}
