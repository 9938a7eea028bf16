//! kpack: AMD's archives of code objects beside a program, and the program's reference to them.
//!
//! Follows `shared/kpack` of <https://github.com/ROCm/rocm-systems/tree/develop/shared/kpack>, format version 1.
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | 4 bytes | `KPAK` |
//! | 4 | u32 | version, 1 |
//! | 8 | u64 | offset of the table of contents, a `MessagePack` map that reaches to the end of the file |
//!
//! | key of the table | content |
//! |---|---|
//! | `group_name`, `gfx_arch_family` | texts |
//! | `compression_scheme` | `none` or `zstd-per-kernel` |
//! | `blobs` | without compression: `offset` and `size` of each code object |
//! | `zstd_offset`, `zstd_size` | a u32 number of frames, and each zstd frame behind its u32 size |
//! | `toc` | for each program and wrapper (`lib/libx.so#0`) and each target ID: `type`, `ordinal`, `original_size` |
//!
//! The list `gfx_arches` repeats the target IDs of `toc`, and is not read.
//!
//! ```
//! use offload_containers::kpack;
//! use offload_format::Limits;
//!
//! let reference = b"\x82\xabkernel_name\xa8lib/x.so\xb2kpack_search_paths\x91\xa7x.kpack";
//! let reference = kpack::reference(reference, &Limits::default())?;
//! assert_eq!((reference.kernel_name, &reference.search_paths[..]), ("lib/x.so", &["x.kpack"][..]));
//! # Ok::<(), offload_format::Error>(())
//! ```

mod code_object;
mod contents;
mod reference;

pub use self::code_object::{CodeObject, Compression};
use self::contents::{Blob, Contents};
pub use self::reference::{Reference, reference};
use offload_format::{Error, ErrorKind, Limits, bytes};

/// First bytes of a file.
pub const MAGIC: [u8; 4] = *b"KPAK";
const VERSION: u32 = 1;
/// Size of the header's fields in bytes.
const HEADER_SIZE: u64 = 16;
const HEADER: &str = "the header of the kpack";
const FRAMES: &str = "the compressed code objects of the kpack";

/// A file over borrowed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kpack<'a> {
    /// The component of its code objects: `blas`.
    pub group_name: &'a str,
    /// The family of its processors: `gfx110X`.
    pub arch_family: &'a str,
    /// The code objects in the order of the table.
    pub code_objects: Vec<CodeObject<'a>>,
}

/// Reads a file; nothing is inflated.
///
/// # Errors
/// [`ErrorKind::Magic`]; [`ErrorKind::Version`]; [`ErrorKind::Truncated`] for what is not inside `input`;
/// [`ErrorKind::Text`] for a malformed table of contents; [`ErrorKind::Invalid`] for a code object without bytes, or with
/// bytes of another size; [`ErrorKind::TooMany`] over [`Limits::entries`].
pub fn parse<'a>(input: &'a [u8], limits: &Limits) -> Result<Kpack<'a>, Error> {
    let contents = contents::read(table(input)?, limits)?;
    let stored = Stored::read(input, &contents, limits)?;
    let mut code_objects = contents.code_objects;
    code_objects.iter_mut().try_for_each(|object| stored.fill(object, input))?;
    Ok(Kpack { group_name: contents.group_name, arch_family: contents.gfx_arch_family, code_objects })
}

/// The bytes of the table of contents.
fn table(input: &[u8]) -> Result<&[u8], Error> {
    if bytes::array(input, 0, HEADER)? != MAGIC {
        return Err(ErrorKind::Magic { what: "a kpack" }.into());
    }
    let version = bytes::u32_at(input, 4, HEADER)?;
    if version != VERSION {
        return Err(ErrorKind::Version { what: "the kpack", found: version.into() }.into());
    }
    let offset = bytes::u64_at(input, 8, HEADER)?;
    let size = (input.len() as u64).checked_sub(offset).filter(|_| offset >= HEADER_SIZE);
    let size = size.ok_or_else(|| Error::truncated(contents::WHAT, offset, 1))?;
    bytes::range(input, offset, size, contents::WHAT)
}

/// The stored code objects by ordinal.
enum Stored<'a> {
    Plain(Vec<Blob>),
    Frames(Vec<&'a [u8]>),
}

impl<'a> Stored<'a> {
    fn read(input: &'a [u8], contents: &Contents<'a>, limits: &Limits) -> Result<Stored<'a>, Error> {
        match contents.compression_scheme {
            "none" => Ok(Stored::Plain(contents.blobs.clone())),
            "zstd-per-kernel" => {
                let part = bytes::range(input, contents.zstd_offset, contents.zstd_size, FRAMES)?;
                Ok(Stored::Frames(frames(part, limits)?))
            }
            _ => Err(ErrorKind::Unsupported { what: "this compression of a kpack: scheme", value: 0 }.into()),
        }
    }

    /// Gives a code object the bytes of its ordinal.
    fn fill(&self, object: &mut CodeObject<'a>, input: &'a [u8]) -> Result<(), Error> {
        let ordinal = object.ordinal;
        let missing = Error::invalid("the ordinal of a code object of the kpack", ordinal.into());
        let Ok(index) = usize::try_from(ordinal) else { return Err(missing) };
        match self {
            Stored::Plain(blobs) => {
                let Some(blob) = blobs.get(index) else { return Err(missing) };
                if blob.size != object.raw_size {
                    return Err(Error::invalid("the size of a code object of the kpack", blob.size));
                }
                object.stored = bytes::range(input, blob.offset, blob.size, code_object::WHAT)?;
            }
            Stored::Frames(frames) => {
                let Some(frame) = frames.get(index) else { return Err(missing) };
                object.stored = frame;
                object.compression = Compression::Zstd;
            }
        }
        Ok(())
    }
}

/// The zstd frames by ordinal: a count, and each frame behind its size.
fn frames<'a>(part: &'a [u8], limits: &Limits) -> Result<Vec<&'a [u8]>, Error> {
    let count = limits.records(FRAMES, bytes::u32_at(part, 0, FRAMES)?.into())?;
    // Each frame has a size field of four bytes, so that a count that fits the file is safe to allocate.
    bytes::range(part, 4, count.saturating_mul(4), FRAMES)?;
    let mut frames = Vec::with_capacity(usize::try_from(count).unwrap_or_default());
    let mut at = 4u64;
    for _ in 0..count {
        let size = u64::from(bytes::u32_at(part, at, FRAMES)?);
        let start = at.saturating_add(4);
        frames.push(bytes::range(part, start, size, FRAMES)?);
        at = start.saturating_add(size);
    }
    Ok(frames)
}
