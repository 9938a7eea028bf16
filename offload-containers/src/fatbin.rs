//! CUDA fatbins: cubins and PTX for several architectures in one container.
//!
//! NVIDIA publishes no description of the container. The fields are those that `fatbinary` writes and `cuobjdump` reads
//! (<https://docs.nvidia.com/cuda/cuda-binary-utilities/index.html>), toolkits 11.8 to 13.5.
//!
//! | offset | type | field of the container |
//! |---|---|---|
//! | 0 | u32, u16, u16 | `50 ED 55 BA`, version 1, size of this header |
//! | 8 | u64 | size of the entries that follow |
//!
//! | offset | type | field of an entry |
//! |---|---|---|
//! | 0 | u16, u16 | [`EntryKind`], 0x101 |
//! | 4 | u32, u64 | size of this header with its appendix, size of the stored bytes (a multiple of 8) |
//! | 16 | u32 | size of the compressed bytes, 0 if stored as they are |
//! | 20 | u32 | offset of {u32 offset, u32 size} of options, from the entry; 0 for none |
//! | 24 | u16, u16 | minor and major version: of PTX, or the cubin's ABI as 1.7 and 1.8 |
//! | 28 | u32 | architecture: 90 |
//! | 32 | u32, u32 | offset and size of the name; 0 for none |
//! | 40 | u64, u64 | [`Flags`], 0 |
//! | 56 | u64 | size of the image, 0 if stored as it is |
//!
//! ```
//! use offload_containers::fatbin::{self, FatbinImage, Packing};
//! use offload_format::{Limits, Target};
//!
//! let target: Target = "nvptx:sm_80".parse().unwrap();
//! let image = FatbinImage { target: &target, bytes: b".version 7.0\n.target sm_80\n", name: "", options: "-O3" };
//! let file = fatbin::write(&[image], Packing::Zstd { level: 19 })?;
//!
//! let limits = Limits::default();
//! let read = fatbin::parse(&file, &limits)?;
//! assert_eq!(read.entries[0].record.arch(), "sm_80");
//! assert_eq!(read.entries[0].image(&limits)?, image.bytes);
//! # Ok::<(), offload_format::Error>(())
//! ```

mod decode;
mod entry;
mod group;
mod sequence;
mod wrapper;
mod write;

pub use self::decode::InflatedImage;
pub use self::entry::{Compression, EntryHeader, EntryKind, EntryVersion, FatbinEntry, Flags};
pub use self::group::Member;
pub use self::sequence::{Fatbins, fatbins};
pub use self::wrapper::{Wrapper, wrapper};
pub use self::write::{FatbinImage, Packing, write};
use offload_format::{Error, ErrorKind, Limits, bytes};

/// First bytes of a container.
pub const MAGIC: [u8; 4] = [0x50, 0xed, 0x55, 0xba];
const VERSION: u16 = 1;
const HEADER_SIZE: u16 = 16;
const HEADER: &str = "the header of the fatbin";
const ENTRIES: &str = "the entries of the fatbin";

/// A container over borrowed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fatbin<'a> {
    /// The entries in the order of the file.
    pub entries: Vec<FatbinEntry<'a>>,
    /// The size of the container in bytes: another one may follow.
    pub size: u64,
}

/// Reads the container at the start of `input`; bytes behind it are ignored. Nothing is decompressed.
///
/// # Errors
/// [`ErrorKind::Magic`]; [`ErrorKind::Version`]; [`ErrorKind::Truncated`] for what is not inside `input`;
/// [`ErrorKind::Invalid`] for sizes that contradict each other; [`ErrorKind::Text`] for a name that is not UTF-8;
/// [`ErrorKind::TooMany`] over [`Limits::entries`].
pub fn parse<'a>(input: &'a [u8], limits: &Limits) -> Result<Fatbin<'a>, Error> {
    if bytes::array(input, 0, HEADER)? != MAGIC {
        return Err(ErrorKind::Magic { what: "a fatbin" }.into());
    }
    let version = bytes::u16_at(input, 4, HEADER)?;
    if version != VERSION {
        return Err(ErrorKind::Version { what: "the fatbin", found: version.into() }.into());
    }
    let header_size = bytes::u16_at(input, 6, HEADER)?;
    if header_size < HEADER_SIZE {
        return Err(Error::invalid("the size of the fatbin's header", header_size.into()));
    }
    let body = bytes::range(input, header_size.into(), bytes::u64_at(input, 8, HEADER)?, ENTRIES)?;
    let size = (body.len() as u64).saturating_add(header_size.into());
    Ok(Fatbin { entries: entries(body, limits)?, size })
}

fn entries<'a>(body: &'a [u8], limits: &Limits) -> Result<Vec<FatbinEntry<'a>>, Error> {
    let mut entries = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let (entry, size) = FatbinEntry::read(rest)?;
        limits.records(ENTRIES, (entries.len() as u64).saturating_add(1))?;
        entries.push(entry);
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        rest = rest.get(size..).ok_or_else(|| Error::truncated(ENTRIES, 0, size as u64))?;
    }
    Ok(entries)
}
