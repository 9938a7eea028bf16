//! LLVM's OffloadBinary, the envelope of SYCLBIN files: writing version 1 with one image, reading its first image.
//!
//! Follows `llvm/include/llvm/Object/OffloadBinary.h`
//! (<https://github.com/llvm/llvm-project/blob/main/llvm/include/llvm/Object/OffloadBinary.h>).
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | 4 bytes | `10 FF 10 AD` |
//! | 4 | u32 | version, 1 |
//! | 8 | u64 | size of the file |
//! | 16 | u64 | offset of the entry |
//! | 24 | u64 | size of the entry, 40 |
//! | 32 | u16, u16, u32 | image kind, offload kind, flags |
//! | 40 | u64, u64 | offset and number of strings |
//! | 56 | u64, u64 | offset and size of the image |

use crate::{Error, ErrorKind, OffloadKind, bytes};

/// First bytes of the envelope.
pub const MAGIC: [u8; 4] = [0x10, 0xff, 0x10, 0xad];
const VERSION: u32 = 1;
const HEADER_SIZE: u64 = 32;
const ENTRY_SIZE: u64 = 40;
/// An empty string table of one zero byte, padded.
const STRINGS_SIZE: u64 = 8;
const IMAGE_OFFSET: u64 = HEADER_SIZE + ENTRY_SIZE + STRINGS_SIZE;
const ALIGN: u64 = 8;

/// An image in its envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// LLVM's number for what the image is; releases disagree on that of SYCLBIN.
    pub image_kind: u16,
    /// Which programming model it belongs to.
    pub offload_kind: OffloadKind,
    /// The image.
    pub image: &'a [u8],
}

/// Wraps `image` as the only entry, without strings.
///
/// # Errors
/// [`ErrorKind::Invalid`] if the size overflows.
pub fn write(image: &[u8], image_kind: u16, offload_kind: OffloadKind) -> Result<Vec<u8>, Error> {
    let image_size = image.len() as u64;
    let end = IMAGE_OFFSET.checked_add(image_size).and_then(|end| bytes::align_up(end, ALIGN));
    let size = end.ok_or_else(|| Error::invalid("size of the image", image_size))?;
    let fields: [&[u8]; 12] = [
        &MAGIC,
        &VERSION.to_le_bytes(),
        &size.to_le_bytes(),
        &HEADER_SIZE.to_le_bytes(),
        &ENTRY_SIZE.to_le_bytes(),
        &image_kind.to_le_bytes(),
        &offload_kind.to_u16().to_le_bytes(),
        &[0; 4],
        &(HEADER_SIZE + ENTRY_SIZE).to_le_bytes(),
        &[0; 8],
        &IMAGE_OFFSET.to_le_bytes(),
        &image_size.to_le_bytes(),
    ];
    let mut out = [fields.concat().as_slice(), &[0; STRINGS_SIZE as usize], image].concat();
    out.resize(usize::try_from(size).map_err(|_| Error::invalid("size of the image", image_size))?, 0);
    Ok(out)
}

/// Reads the first image of a version 1 envelope.
///
/// # Errors
/// [`ErrorKind::Magic`], [`ErrorKind::Version`], [`ErrorKind::Truncated`] or [`ErrorKind::Invalid`].
pub fn read(input: &[u8]) -> Result<Entry<'_>, Error> {
    const WHAT: &str = "OffloadBinary header";
    if bytes::array(input, 0, WHAT)? != MAGIC {
        return Err(ErrorKind::Magic { what: "an OffloadBinary" }.into());
    }
    let version = bytes::u32_at(input, 4, WHAT)?;
    if version != VERSION {
        return Err(ErrorKind::Version { what: "the OffloadBinary", found: version.into() }.into());
    }
    let size = bytes::u64_at(input, 8, WHAT)?;
    let input = bytes::range(input, 0, size, "OffloadBinary")?;
    let entry_size = bytes::u64_at(input, 24, WHAT)?;
    if entry_size != ENTRY_SIZE {
        return Err(Error::invalid("size of the entry", entry_size));
    }
    let entry = bytes::range(input, bytes::u64_at(input, 16, WHAT)?, ENTRY_SIZE, "OffloadBinary entry")?;
    let (offset, size) = (bytes::u64_at(entry, 24, WHAT)?, bytes::u64_at(entry, 32, WHAT)?);
    Ok(Entry {
        image_kind: bytes::u16_at(entry, 0, WHAT)?,
        offload_kind: OffloadKind::from_u16(bytes::u16_at(entry, 2, WHAT)?),
        image: bytes::range(input, offset, size, "image")?,
    })
}
