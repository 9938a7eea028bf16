//! CCOB: clang's compressed offload bundles.
//!
//! Follows `clang/lib/Driver/OffloadBundler.cpp`
//! (<https://github.com/llvm/llvm-project/blob/main/clang/lib/Driver/OffloadBundler.cpp>). No field is aligned.
//!
//! | field | version 1 | version 2 | version 3 |
//! |---|---|---|---|
//! | `CCOB`, u16 version, u16 method (0 zlib, 1 zstd) | 0 | 0 | 0 |
//! | size of the file | - | 8, u32 | 8, u64 |
//! | size of the bundle | 8, u32 | 12, u32 | 16, u64 |
//! | first 8 bytes of the bundle's MD5 | 12 | 16 | 24 |
//! | the compressed [bundle](crate::bundle) | 20 | 24 | 32 |
//!
//! clang stores zstd frames without a checksum and does not compare the MD5 that it writes, so that one flipped bit
//! gives its readers other kernels. This module compares it, and writes frames with a checksum, which makes LLVM's own
//! readers find the damage.
//!
//! ```
//! use offload_containers::{bundle, ccob};
//! use offload_format::Limits;
//!
//! let image = bundle::BundleImage { id: "hipv4-amdgcn-amd-amdhsa--gfx90a", bytes: b"code object" };
//! let file = ccob::write(&bundle::write(&[image], bundle::HIP_ALIGN)?, ccob::Version::V2, 19)?;
//! assert_eq!(ccob::size(&file)?, Some(file.len() as u64));
//!
//! let limits = Limits::default();
//! let inflated = ccob::parse(&file, &limits)?.inflate(&limits)?;
//! assert_eq!(bundle::parse(&inflated, &limits)?.entries[0].image, b"code object");
//! # Ok::<(), offload_format::Error>(())
//! ```

mod inflate;
mod sequence;
mod steps;
mod write;

pub use self::sequence::{Container, Containers, containers};
pub use self::steps::{Hasher, Steps, Unverified};
pub use self::write::write;
use crate::{frame, zlib};
use offload_format::open_enum;
use offload_format::{Error, ErrorKind, Limits, bytes};

/// First bytes of a compressed bundle.
pub const MAGIC: [u8; 4] = *b"CCOB";
const BUNDLE: &str = "the inflated offload bundle";
const HEADER: &str = "the header of the compressed offload bundle";
const SIZE: &str = "the size of the compressed offload bundle";

/// A layout of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Version {
    /// Of LLVM 18. It does not record its size, so that HIP's runtime, which has only a pointer to it, crashes on it.
    V1,
    /// Of LLVM 19 to 21; up to 4 GiB.
    V2,
    /// Of LLVM 22; LLVM 19 and older HIP runtimes cannot read it.
    V3,
}

impl Version {
    fn from_u16(number: u16) -> Result<Version, Error> {
        match number {
            1 => Ok(Version::V1),
            2 => Ok(Version::V2),
            3 => Ok(Version::V3),
            found => {
                Err(ErrorKind::Version { what: "the compressed offload bundle", found: found.into() }.into())
            }
        }
    }

    fn to_u16(self) -> u16 {
        match self {
            Version::V1 => 1,
            Version::V2 => 2,
            Version::V3 => 3,
        }
    }

    fn header_size(self) -> u64 {
        match self {
            Version::V1 => 20,
            Version::V2 => 24,
            Version::V3 => 32,
        }
    }
}

open_enum! {
    /// How the bundle is compressed.
    Method {
        /// A zlib stream (RFC 1950).
        Zlib = 0 => "zlib",
        /// A zstd frame (RFC 8878).
        Zstd = 1 => "zstd",
    }
}

/// A compressed bundle over borrowed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ccob<'a> {
    /// The layout of the header.
    pub version: Version,
    /// How it is compressed.
    pub method: Method,
    /// The size of the compressed bundle with its header, in bytes: another one may follow.
    pub size: u64,
    /// The size of the bundle in bytes, as recorded.
    pub raw_size: u64,
    /// The first 8 bytes of the bundle's MD5, little-endian, as recorded.
    pub hash: u64,
    /// The compressed bundle.
    pub payload: &'a [u8],
}

/// Reads the header of the compressed bundle at the start of `input`; bytes behind it are ignored. Only a bundle of
/// version 1 with zlib is inflated, to find its end.
///
/// # Errors
/// [`ErrorKind::Magic`]; [`ErrorKind::Version`]; [`ErrorKind::Unsupported`] for another method;
/// [`ErrorKind::Truncated`] if it is not all inside `input`; those of [`Ccob::inflate`] for version 1.
pub fn parse<'a>(input: &'a [u8], limits: &Limits) -> Result<Ccob<'a>, Error> {
    let header = Header::read(input)?;
    let header_size = header.version.header_size();
    let size = match header.size {
        Some(size) => size,
        None => header_size.saturating_add(header.payload_size(input, limits)?),
    };
    let payload_size = size.checked_sub(header_size).ok_or_else(|| Error::invalid(SIZE, size))?;
    let payload = bytes::range(input, header_size, payload_size, "the compressed offload bundle")?;
    let Header { version, method, raw_size, hash, .. } = header;
    Ok(Ccob { version, method, size, raw_size, hash, payload })
}

/// The recorded size in bytes of the compressed bundle that begins with `start`; 24 bytes are enough. `None` for
/// version 1, which records none.
///
/// # Errors
/// [`ErrorKind::Magic`], [`ErrorKind::Version`], [`ErrorKind::Truncated`] or [`ErrorKind::Invalid`] for a size that is
/// smaller than the header.
pub fn size(start: &[u8]) -> Result<Option<u64>, Error> {
    let version = version(start)?;
    let size = recorded_size(start, version)?;
    match size.filter(|size| *size < version.header_size()) {
        Some(size) => Err(Error::invalid(SIZE, size)),
        None => Ok(size),
    }
}

fn version(start: &[u8]) -> Result<Version, Error> {
    if bytes::array(start, 0, HEADER)? != MAGIC {
        return Err(ErrorKind::Magic { what: "a compressed offload bundle" }.into());
    }
    Version::from_u16(bytes::u16_at(start, 4, HEADER)?)
}

fn recorded_size(start: &[u8], version: Version) -> Result<Option<u64>, Error> {
    match version {
        Version::V1 => Ok(None),
        Version::V2 => Ok(Some(bytes::u32_at(start, 8, HEADER)?.into())),
        Version::V3 => Ok(Some(bytes::u64_at(start, 8, HEADER)?)),
    }
}

/// The recorded header.
struct Header {
    version: Version,
    method: Method,
    size: Option<u64>,
    raw_size: u64,
    hash: u64,
}

impl Header {
    fn read(input: &[u8]) -> Result<Header, Error> {
        let version = version(input)?;
        let method = Method::from_u16(bytes::u16_at(input, 6, HEADER)?);
        if let Method::Unknown(number) = method {
            let what = "compression method";
            return Err(ErrorKind::Unsupported { what, value: number.into() }.into());
        }
        let (raw_size, hash_at) = match version {
            Version::V1 => (bytes::u32_at(input, 8, HEADER)?.into(), 12),
            Version::V2 => (bytes::u32_at(input, 12, HEADER)?.into(), 16),
            Version::V3 => (bytes::u64_at(input, 16, HEADER)?, 24),
        };
        let hash = bytes::u64_at(input, hash_at, HEADER)?;
        Ok(Header { version, method, size: recorded_size(input, version)?, raw_size, hash })
    }

    /// The size of the payload of version 1, which does not record it.
    fn payload_size(&self, input: &[u8], limits: &Limits) -> Result<u64, Error> {
        let at = usize::try_from(self.version.header_size()).unwrap_or(usize::MAX);
        let rest = input.get(at..).unwrap_or_default();
        match self.method {
            Method::Zstd => frame::size(rest),
            _ => {
                let declared = limits.inflated(BUNDLE, self.raw_size, rest.len() as u64)?;
                Ok(zlib::prefix(rest, declared)?.1)
            }
        }
    }
}
