//! Frames: one image compressed, and back, verified.

use zstd::zstd_safe::{CCtx, CParameter, DCtx, DParameter, get_error_name, get_frame_content_size};

use crate::kind::open_enum;
use crate::pack::{Image, Pack};
use crate::{Error, ErrorKind, Hash128};

open_enum! {
    /// How a frame holds its image.
    Codec {
        /// The image itself.
        Raw = 0 => "raw",
        /// A zstd frame with content size and checksum (RFC 8878).
        Zstd = 1 => "zstd",
        /// A zstd frame with the parent image as prefix. Written by later releases.
        ZstdPrefix = 2 => "zstd-prefix",
        /// The parent image with bytes replaced. Written by later releases.
        Patch = 3 => "patch",
    }
}

open_enum! {
    /// A reversible transformation applied before compression.
    Filter {
        /// None.
        None = 0 => "none",
        /// Ids of SPIR-V as differences. Written by later releases.
        SpirvIds = 1 => "spirv-ids",
        /// Columns of ELF symbol tables. Written by later releases.
        ElfSymbols = 2 => "elf-symbols",
    }
}

/// The level for release builds.
pub const RELEASE_LEVEL: i32 = 19;
/// The level for development builds.
pub const DEV_LEVEL: i32 = 3;
/// The largest image that [`decode`] makes, in bytes.
pub const MAX_IMAGE: u64 = 4 << 30;

/// What a pack records about a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameInfo {
    /// How the frame holds its image.
    pub codec: Codec,
    /// The filter applied before compression.
    pub filter: Filter,
    /// Size of the frame.
    pub stored_size: u64,
    /// Size of the image.
    pub raw_size: u64,
    /// Hash of the image.
    pub hash: Hash128,
}

impl FrameInfo {
    /// A frame without filter, for a writer that kept it from an earlier [`encode`].
    pub fn new(codec: Codec, stored_size: u64, image: (u64, Hash128)) -> FrameInfo {
        let (raw_size, hash) = image;
        FrameInfo { codec, filter: Filter::None, stored_size, raw_size, hash }
    }
}

/// A frame in memory.
#[derive(Clone, Debug)]
pub struct Frame {
    info: FrameInfo,
    bytes: Vec<u8>,
}

impl Frame {
    /// What a pack records about it.
    pub fn info(&self) -> FrameInfo {
        self.info
    }

    /// The stored bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Compresses `image` with `codec`; `level` is zstd's (1 to 22). An image that does not shrink is stored raw.
///
/// The same input gives the same bytes: libzstd is built from the sources that the `zstd` crate pins.
///
/// # Errors
/// [`ErrorKind::Zstd`]; [`ErrorKind::Unsupported`] for a codec that this release does not write.
pub fn encode(image: &[u8], codec: Codec, level: i32) -> Result<Frame, Error> {
    let (codec, bytes) = match codec {
        Codec::Raw => (Codec::Raw, image.to_vec()),
        Codec::Zstd => {
            let packed = compress(image, level)?;
            if packed.len() < image.len() { (Codec::Zstd, packed) } else { (Codec::Raw, image.to_vec()) }
        }
        other => return Err(ErrorKind::Unsupported { what: "codec", value: other.to_u16().into() }.into()),
    };
    let info = FrameInfo {
        codec,
        filter: Filter::None,
        stored_size: bytes.len() as u64,
        raw_size: image.len() as u64,
        hash: Hash128::of(image),
    };
    Ok(Frame { info, bytes })
}

/// The raw bytes of `image`, checked against its recorded size and hash.
///
/// # Errors
/// [`ErrorKind::Damaged`] if the bytes are not those that were packed; [`ErrorKind::Unsupported`] for codecs and
/// filters of later releases; [`ErrorKind::TooLarge`] above [`MAX_IMAGE`].
pub fn decode(pack: &Pack<'_>, image: &Image<'_>) -> Result<Vec<u8>, Error> {
    decode_frame(pack.frame(image)?, image)
}

/// As [`decode`], for a reader that has fetched the stored bytes of `image` itself.
///
/// # Errors
/// As [`decode`].
pub fn decode_frame(frame: &[u8], image: &Image<'_>) -> Result<Vec<u8>, Error> {
    if image.filter != Filter::None {
        return Err(ErrorKind::Unsupported { what: "filter", value: image.filter.to_u16().into() }.into());
    }
    let raw = match image.codec {
        Codec::Raw => frame.to_vec(),
        Codec::Zstd => decompress(frame, image.raw_size)?,
        other => return Err(ErrorKind::Unsupported { what: "codec", value: other.to_u16().into() }.into()),
    };
    if raw.len() as u64 != image.raw_size || Hash128::of(&raw) != image.hash {
        return Err(ErrorKind::Damaged { what: "the image" }.into());
    }
    Ok(raw)
}

fn compress(image: &[u8], level: i32) -> Result<Vec<u8>, Error> {
    let mut context = CCtx::try_create().ok_or_else(|| zstd_error("out of memory"))?;
    let parameters = [
        CParameter::CompressionLevel(level),
        CParameter::ContentSizeFlag(true),
        CParameter::ChecksumFlag(true),
    ];
    for parameter in parameters {
        context.set_parameter(parameter).map_err(zstd_code)?;
    }
    let mut out = Vec::with_capacity(zstd::zstd_safe::compress_bound(image.len()));
    context.compress2(&mut out, image).map_err(zstd_code)?;
    out.shrink_to_fit();
    Ok(out)
}

fn decompress(frame: &[u8], raw_size: u64) -> Result<Vec<u8>, Error> {
    if raw_size > MAX_IMAGE {
        return Err(ErrorKind::TooLarge { what: "the image", size: raw_size, limit: MAX_IMAGE }.into());
    }
    // The record is a claim; the frame has to agree before memory is taken for it.
    if get_frame_content_size(frame).ok().flatten() != Some(raw_size) {
        return Err(ErrorKind::Damaged { what: "the frame of the image" }.into());
    }
    let mut out = Vec::new();
    let capacity =
        usize::try_from(raw_size).map_err(|_| zstd_error("the image does not fit the address space"))?;
    out.try_reserve_exact(capacity).map_err(|_| zstd_error("out of memory"))?;
    let mut context = DCtx::try_create().ok_or_else(|| zstd_error("out of memory"))?;
    context.set_parameter(DParameter::WindowLogMax(27)).map_err(zstd_code)?;
    context.decompress(&mut out, frame).map_err(zstd_code)?;
    Ok(out)
}

fn zstd_code(code: usize) -> Error {
    zstd_error(get_error_name(code))
}

fn zstd_error(message: &str) -> Error {
    ErrorKind::Zstd { message: message.to_string() }.into()
}
