//! The writer of fatbins, with the layout of `fatbinary`.

use object::read::elf::FileHeader;

use super::entry::{EntryKind, EntryVersion, Flags, HEADER_SIZE};
use super::{HEADER_SIZE as CONTAINER_SIZE, MAGIC, VERSION};
use crate::frame;
use offload_format::{Arch, Error, ErrorKind, Target};
use offload_images::elf::{Elf, Format};

/// The second field of every entry that `fatbinary` writes.
const ENTRY_VERSION: u16 = 0x101;
/// The first architecture whose entries have a copy of the cubin's compatibility table.
const FIRST_WITH_COMPAT: u16 = 100;
const ELF: Format = Format { name: "a cubin", nobits: &[] };
const IMAGE: &str = "images of other targets in a fatbin: number";

/// An image for [`write()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FatbinImage<'a> {
    /// Its target: [`Target::Nvptx`] or [`Target::Cubin`].
    pub target: &'a Target,
    /// PTX or a cubin.
    pub bytes: &'a [u8],
    /// The source file to record, or an empty string.
    pub name: &'a str,
    /// Options with which the driver compiles PTX, or an empty string.
    pub options: &'a str,
}

/// The compression of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Packing {
    /// None: for every driver.
    ///
    /// The format pads a stored image with zeros to a multiple of 8 bytes, and does not record its size. Readers detect the
    /// end of PTX and of a cubin that ends with its tables; any other cubin keeps up to 7 trailing zeros.
    Stored,
    /// zstd frames, for drivers of CUDA 12.4 and later. An image that does not shrink is stored.
    Zstd {
        /// zstd's level, 1 to 22.
        level: i32,
    },
}

/// Writes a container of `images` for 64-bit programs on Linux.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for an image of another target; [`ErrorKind::Text`] for PTX without a version, and for
/// names and options with a zero byte; [`ErrorKind::Magic`] and [`ErrorKind::Truncated`] for a malformed cubin;
/// [`ErrorKind::TooLarge`] over 4 GiB; [`ErrorKind::Compression`].
pub fn write(images: &[FatbinImage<'_>], packing: Packing) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    for image in images {
        EntryFields::new(image)?.append(&mut body, image, packing)?;
    }
    let [version, header_size] = [VERSION, CONTAINER_SIZE].map(u16::to_le_bytes);
    let header = [&MAGIC[..], &version, &header_size, &(body.len() as u64).to_le_bytes()].concat();
    Ok([header, body].concat())
}

/// The fields of a header, without sizes and offsets.
struct EntryFields {
    kind: EntryKind,
    version: EntryVersion,
    sm: u16,
    flags: Flags,
    /// The compatibility table, which follows the zero-terminated options.
    compat: Vec<u8>,
}

impl EntryFields {
    fn new(image: &FatbinImage<'_>) -> Result<EntryFields, Error> {
        let Some(Arch::Sm(sm)) = image.target.arch() else {
            return Err(ErrorKind::Unsupported { what: IMAGE, value: 0 }.into());
        };
        let flags = Flags::BITS_64 | Flags::LINUX | suffix(sm.suffix());
        if matches!(image.target, Target::Nvptx(_)) {
            let version = ptx_version(image.bytes)?;
            return Ok(EntryFields {
                kind: EntryKind::Ptx,
                version,
                sm: sm.number(),
                flags,
                compat: Vec::new(),
            });
        }
        let file = Elf::parse(image.bytes, &ELF)?;
        let abi = file.header.e_ident().abi_version.into();
        let compat = file.section(".nv.compat").filter(|_| sm.number() >= FIRST_WITH_COMPAT);
        let flags = if compat.is_some() { flags | Flags::COMPAT } else { flags };
        let compat = compat.map_or_else(Vec::new, |section| section.data.to_vec());
        Ok(EntryFields {
            kind: EntryKind::Elf,
            version: EntryVersion { major: 1, minor: abi },
            sm: sm.number(),
            flags,
            compat,
        })
    }

    fn append(mut self, out: &mut Vec<u8>, image: &FatbinImage<'_>, packing: Packing) -> Result<(), Error> {
        let mut raw = image.bytes.to_vec();
        if self.kind == EntryKind::Ptx {
            // Readers use PTX as a C string.
            raw.push(0);
        }
        let (stored, raw_size) = match pack(&raw, packing)? {
            Some(frame) => {
                self.flags = self.flags | Flags::ZSTD;
                (frame, raw.len())
            }
            None => (raw, 0),
        };
        let compressed = if raw_size == 0 { 0 } else { size32(stored.len())? };
        let appendix = Appendix::new(&self, image)?;
        out.extend(self.header(&appendix, [stored.len(), raw_size, compressed as usize])?);
        out.extend_from_slice(&appendix.bytes);
        out.extend_from_slice(&stored);
        out.resize(out.len().next_multiple_of(8), 0);
        Ok(())
    }

    fn header(&self, appendix: &Appendix, [stored, raw, compressed]: [usize; 3]) -> Result<Vec<u8>, Error> {
        let header_size = size32(appendix.bytes.len().saturating_add(HEADER_SIZE as usize))?;
        let EntryVersion { major, minor } = self.version;
        let fields: [&[u8]; 15] = [
            &self.kind.to_u16().to_le_bytes(),
            &ENTRY_VERSION.to_le_bytes(),
            &header_size.to_le_bytes(),
            &(stored.next_multiple_of(8) as u64).to_le_bytes(),
            &size32(compressed)?.to_le_bytes(),
            &appendix.options.to_le_bytes(),
            &minor.to_le_bytes(),
            &major.to_le_bytes(),
            &u32::from(self.sm).to_le_bytes(),
            &appendix.name.to_le_bytes(),
            &appendix.name_size.to_le_bytes(),
            &self.flags.0.to_le_bytes(),
            &[0; 8],
            &(raw as u64).to_le_bytes(),
            &[],
        ];
        Ok(fields.concat())
    }
}

/// The bytes behind the header: the name, then the options, each zero-terminated and padded to 8 bytes.
struct Appendix {
    bytes: Vec<u8>,
    /// Offsets from the start of the entry; 0 for none.
    name: u32,
    name_size: u32,
    options: u32,
}

impl Appendix {
    fn new(entry: &EntryFields, image: &FatbinImage<'_>) -> Result<Appendix, Error> {
        let header = HEADER_SIZE as u32;
        let mut appendix = Appendix { bytes: Vec::new(), name: 0, name_size: 0, options: 0 };
        check_text(image.name, "the name of the fatbin's entry")?;
        check_text(image.options, "the options of the fatbin's entry")?;
        if !image.name.is_empty() {
            appendix.name = header;
            appendix.name_size = size32(image.name.len())?;
            appendix.text(image.name.as_bytes(), &[]);
        }
        let compat = entry.flags.has(Flags::COMPAT);
        // PTX always has an options record. A cubin has one for its table, with the table's size.
        if compat || entry.kind == EntryKind::Ptx {
            let text = if compat { "" } else { image.options };
            appendix.options = header.saturating_add(size32(appendix.bytes.len())?);
            let size = size32(text.len().max(entry.compat.len()))?;
            appendix.bytes.extend(appendix.options.saturating_add(8).to_le_bytes());
            appendix.bytes.extend(size.to_le_bytes());
            appendix.text(text.as_bytes(), &entry.compat);
        }
        Ok(appendix)
    }

    fn text(&mut self, text: &[u8], behind: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.bytes.push(0);
        self.bytes.extend_from_slice(behind);
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
    }
}

fn check_text(text: &str, what: &'static str) -> Result<(), Error> {
    let zero = text.find('\0');
    zero.map_or(Ok(()), |at| Err(ErrorKind::Text { what, offset: at as u64 }.into()))
}

fn suffix(suffix: Option<char>) -> Flags {
    match suffix {
        Some('a') => Flags::ARCH_SPECIFIC,
        Some('f') => Flags::FAMILY,
        _ => Flags(0),
    }
}

/// `7.8` of the directive `.version 7.8`, which precedes all others.
fn ptx_version(text: &[u8]) -> Result<EntryVersion, Error> {
    let version = parse_ptx_version(text);
    version.ok_or_else(|| ErrorKind::Text { what: "the version of the PTX", offset: 0 }.into())
}

fn parse_ptx_version(text: &[u8]) -> Option<EntryVersion> {
    let text = std::str::from_utf8(text).ok()?;
    let operand = text.lines().find_map(|line| line.trim_start().strip_prefix(".version"))?;
    let (major, minor) = operand.split_whitespace().next()?.split_once('.')?;
    Some(EntryVersion { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

/// A frame, if it is smaller than `raw`.
fn pack(raw: &[u8], packing: Packing) -> Result<Option<Vec<u8>>, Error> {
    match packing {
        Packing::Stored => Ok(None),
        Packing::Zstd { level } => {
            Ok(Some(frame::deflate(raw, level)?).filter(|frame| frame.len() < raw.len()))
        }
    }
}

fn size32(size: usize) -> Result<u32, Error> {
    let limit = u32::MAX.into();
    u32::try_from(size)
        .map_err(|_| ErrorKind::TooLarge { what: "a part of the fatbin", size: size as u64, limit }.into())
}
