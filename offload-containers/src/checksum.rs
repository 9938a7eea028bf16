//! Checksums in containers.

use std::fmt;

/// The checksum of an image, or of the compressed stream around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Checksum {
    /// Half of the MD5 of a compressed offload bundle.
    Md5,
    /// 32 bits of the XXH64 of a zstd frame (RFC 8878, section 3.1.1).
    Xxh64,
    /// The Adler-32 of a zlib stream (RFC 1950, section 2.2).
    Adler32,
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Checksum::Md5 => "md5",
            Checksum::Xxh64 => "xxh64",
            Checksum::Adler32 => "adler32",
        })
    }
}
