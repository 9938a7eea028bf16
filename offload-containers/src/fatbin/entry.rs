//! Entries of a fatbin, with their recorded headers.

use std::fmt;

use offload_format::open_enum;
use offload_format::{Error, Target, bytes};

/// Size of an entry's header without name and options.
pub(super) const HEADER_SIZE: u64 = 64;
const HEADER: &str = "the header of the fatbin's entry";

open_enum! {
    /// The content of an entry.
    EntryKind {
        /// PTX text.
        Ptx = 1 => "ptx",
        /// A cubin.
        Elf = 2 => "elf",
        /// NVIDIA's LTO-IR, which nvlink compiles (`-dlto`, `code=lto_90`).
        LtoIr = 8 => "lto-ir",
        /// Several images in one compressed stream (`fatbinary --concat`, toolkit 13).
        Group = 0x100 => "group",
    }
}

/// The flags of an entry; unknown bits are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u64);

impl Flags {
    /// For programs with 64-bit addresses.
    pub const BITS_64: Flags = Flags(0x1);
    /// With debug information.
    pub const DEBUG: Flags = Flags(0x2);
    /// For programs on Linux.
    pub const LINUX: Flags = Flags(0x10);
    /// Compressed as an LZ4 block.
    pub const LZ4: Flags = Flags(0x2000);
    /// Compressed as a zstd frame.
    pub const ZSTD: Flags = Flags(0x8000);
    /// For this architecture only: `sm_90a`.
    pub const ARCH_SPECIFIC: Flags = Flags(0x10_0000);
    /// For the architecture's family: `sm_100f`.
    pub const FAMILY: Flags = Flags(0x20_0000);
    /// A copy of the cubin's section `.nv.compat` follows the options.
    pub const COMPAT: Flags = Flags(0x100_0000);

    /// Whether all bits of `other` are set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// The compression of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// None.
    Stored,
    /// An LZ4 block: the only method of toolkits up to 12.9, and `--compress-mode=speed`.
    Lz4,
    /// A zstd frame: optional since toolkit 12.4, the default since 13.0.
    Zstd,
    /// An unknown method.
    Unknown,
}

/// The version of an entry's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct EntryVersion {
    /// 7 of PTX 7.8; 1 for a cubin.
    pub major: u16,
    /// 8 of PTX 7.8; the version of the ABI for a cubin.
    pub minor: u16,
}

/// The header of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryHeader<'a> {
    /// Its kind.
    pub kind: EntryKind,
    /// The version of PTX, or of a cubin's ABI.
    pub version: EntryVersion,
    /// The architecture, as 90 for `sm_90`.
    pub sm: u32,
    /// Its flags.
    pub flags: Flags,
    /// The source file, if it is recorded.
    pub name: Option<&'a str>,
    /// Options with which the driver compiles PTX; `None` for a cubin.
    pub options: Option<&'a str>,
}

impl<'a> EntryHeader<'a> {
    /// Reads the fields that entries and members of groups share; `input` is the header with its appendix.
    pub(super) fn read(input: &'a [u8]) -> Result<EntryHeader<'a>, Error> {
        let kind = EntryKind::from_u16(bytes::u16_at(input, 0, HEADER)?);
        let flags = Flags(bytes::u64_at(input, 40, HEADER)?);
        let minor = bytes::u16_at(input, 24, HEADER)?;
        let major = bytes::u16_at(input, 26, HEADER)?;
        // A group has its table here. With a compatibility table the text is empty, and the recorded size is the table's.
        let has_options = kind != EntryKind::Group && !flags.has(Flags::COMPAT);
        Ok(EntryHeader {
            kind,
            version: EntryVersion { major, minor },
            sm: bytes::u32_at(input, 28, HEADER)?,
            flags,
            name: name(input)?,
            options: if has_options { options(input)? } else { None },
        })
    }

    /// The architecture's name: `sm_90a`.
    pub fn arch(&self) -> String {
        let specific = if self.flags.has(Flags::ARCH_SPECIFIC) { "a" } else { "" };
        let family = if self.flags.has(Flags::FAMILY) { "f" } else { "" };
        format!("sm_{}{specific}{family}", self.sm)
    }

    /// The target, if the entry is an image for a known architecture.
    pub fn target(&self) -> Option<Target> {
        let family = match self.kind {
            EntryKind::Ptx => "nvptx",
            EntryKind::Elf => "cubin",
            EntryKind::LtoIr | EntryKind::Group | EntryKind::Unknown(_) => return None,
        };
        format!("{family}:{}", self.arch()).parse().ok()
    }
}

/// An entry over borrowed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FatbinEntry<'a> {
    /// The header of the image.
    pub record: EntryHeader<'a>,
    /// The stored bytes, without padding if they are compressed.
    pub stored: &'a [u8],
    /// The size of the image in bytes, with padding if it is not compressed.
    pub raw_size: u64,
    /// Its compression.
    pub compression: Compression,
    /// The header with its appendix.
    pub(super) header: &'a [u8],
}

impl<'a> FatbinEntry<'a> {
    /// Reads the entry at the start of `input`, and its size.
    pub(super) fn read(input: &'a [u8]) -> Result<(FatbinEntry<'a>, u64), Error> {
        let header_size = bytes::u32_at(input, 4, HEADER)?.into();
        let size = bytes::u64_at(input, 8, HEADER)?;
        if header_size < HEADER_SIZE {
            return Err(Error::invalid("the size of the header of the fatbin's entry", header_size));
        }
        let header = bytes::range(input, 0, header_size, HEADER)?;
        let payload = bytes::range(input, header_size, size, "an image of the fatbin")?;
        let record = EntryHeader::read(header)?;
        let compressed: u64 = bytes::u32_at(header, 16, HEADER)?.into();
        let compression = compression(record.flags, compressed);
        let (stored, raw_size) = match compression {
            Compression::Stored => (payload, size),
            _ => (
                bytes::range(payload, 0, compressed, "a compressed image of the fatbin")?,
                bytes::u64_at(header, 56, HEADER)?,
            ),
        };
        let entry = FatbinEntry { record, stored, raw_size, compression, header };
        Ok((entry, header_size.saturating_add(size)))
    }
}

fn compression(flags: Flags, compressed: u64) -> Compression {
    match (compressed, flags.has(Flags::LZ4), flags.has(Flags::ZSTD)) {
        (0, _, _) => Compression::Stored,
        (_, true, false) => Compression::Lz4,
        (_, false, true) => Compression::Zstd,
        _ => Compression::Unknown,
    }
}

fn name(header: &[u8]) -> Result<Option<&str>, Error> {
    let offset = bytes::u32_at(header, 32, HEADER)?;
    let size = bytes::u32_at(header, 36, HEADER)?;
    if offset == 0 {
        return Ok(None);
    }
    bytes::text_at(header, offset.into(), size.into(), "the name of the fatbin's entry").map(Some)
}

fn options(header: &[u8]) -> Result<Option<&str>, Error> {
    let at = bytes::u32_at(header, 20, HEADER)?;
    if at == 0 {
        return Ok(None);
    }
    let record = bytes::range(header, at.into(), 8, "the options of the fatbin's entry")?;
    let offset = bytes::u32_at(record, 0, HEADER)?;
    let size = bytes::u32_at(record, 4, HEADER)?;
    bytes::text_at(header, offset.into(), size.into(), "the options of the fatbin's entry").map(Some)
}
