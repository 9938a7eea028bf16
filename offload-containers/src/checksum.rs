//! Checksums that containers of the field record.

use std::fmt;

/// What a container records of an image, or of what it is compressed in, for readers to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Checksum {
    /// Half of an MD5, of a compressed offload bundle.
    Md5,
    /// 32 bits of an XXH64, of a zstd frame (RFC 8878, section 3.1.1).
    Xxh64,
    /// Of a zlib stream (RFC 1950, section 2.2).
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
