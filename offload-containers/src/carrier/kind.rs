//! Formats by their first bytes.

use std::fmt;

use offload_format::bytes;
use offload_images::ImageFormat;

/// What a file or range is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A pack of this project.
    Pack,
    /// LLVM's OffloadBinary.
    OffloadBinary,
    /// A SYCLBIN, with or without its OffloadBinary.
    Syclbin,
    /// A binary bundle of clang-offload-bundler.
    ClangBundle,
    /// A text bundle of clang-offload-bundler.
    ClangBundleText,
    /// A compressed bundle of clang-offload-bundler: CCOB.
    CompressedBundle,
    /// A CUDA fatbin.
    CudaFatbin,
    /// A kpack of AMD's TheRock.
    Kpack,
    /// An AMD code object.
    AmdCodeObject,
    /// An NVIDIA cubin.
    Cubin,
    /// Native code for an Intel GPU.
    Zebin,
    /// Native code of Intel's OpenCL in its ELF container of patch tokens, or for a CPU.
    IntelOpenClElf,
    /// Patch tokens of Intel's OpenCL alone.
    PatchTokens,
    /// An archive of ocloc with an image for each device.
    OclocArchive,
    /// SPIR-V.
    SpirV,
    /// LLVM bitcode.
    LlvmBitcode,
    /// NVIDIA's LTO-IR, which nvlink compiles. No bytes tell it, but the fatbin that it lies in.
    LtoIr,
    /// PTX.
    Ptx,
    /// A zstd frame.
    Zstd,
    /// A zlib stream.
    Zlib,
    /// Any other ELF file.
    Elf,
    /// A COFF object.
    Coff,
    /// A Windows program or library.
    Pe,
    /// A Mach-O file.
    MachO,
    /// A Mach-O file of several architectures.
    MachOUniversal,
    /// A static archive.
    Archive,
}

impl FileKind {
    /// The format that the first bytes of `bytes` tell; for archives and PTX a little more is looked at.
    ///
    /// ```
    /// use offload_containers::carrier::FileKind;
    ///
    /// assert_eq!(FileKind::detect(b"\x03\x02\x23\x07\0\0\x01\0"), Some(FileKind::SpirV));
    /// assert_eq!(FileKind::detect(b"// by a compiler\n.version 8.0\n"), Some(FileKind::Ptx));
    /// assert_eq!(FileKind::detect(b"text"), None);
    /// ```
    pub fn detect(bytes: &[u8]) -> Option<FileKind> {
        if let Some(format) = ImageFormat::detect(bytes) {
            return Some(format.into());
        }
        let magic = MAGICS.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| *kind);
        match magic {
            Some(FileKind::OffloadBinary) => Some(offload_binary(bytes)),
            Some(FileKind::Elf) => Some(elf(bytes)),
            Some(FileKind::Archive) => Some(archive(bytes)),
            Some(FileKind::MachOUniversal) => universal(bytes),
            None => coff(bytes).or_else(|| text(bytes)),
            other => other,
        }
    }
}

/// First bytes, with their sources in the modules that read the formats.
const MAGICS: &[(&[u8], FileKind)] = &[
    (b"OFLDPACK", FileKind::Pack),
    (b"\x10\xff\x10\xad", FileKind::OffloadBinary),
    (b"IBYS", FileKind::Syclbin),
    (b"__CLANG_OFFLOAD_BUNDLE__", FileKind::ClangBundle),
    (b"CCOB", FileKind::CompressedBundle),
    (b"\x50\xed\x55\xba", FileKind::CudaFatbin),
    (b"KPAK", FileKind::Kpack),
    (b"\x7fELF", FileKind::Elf),
    (b"!<arch>\n", FileKind::Archive),
    (b"!<thin>\n", FileKind::Archive),
    (b"BC\xc0\xde", FileKind::LlvmBitcode),
    (b"\xde\xc0\x17\x0b", FileKind::LlvmBitcode),
    (b"CTNI", FileKind::PatchTokens),
    (b"\x28\xb5\x2f\xfd", FileKind::Zstd),
    (b"\x78\x01", FileKind::Zlib),
    (b"\x78\x5e", FileKind::Zlib),
    (b"\x78\x9c", FileKind::Zlib),
    (b"\x78\xda", FileKind::Zlib),
    (b"MZ", FileKind::Pe),
    (b"\xce\xfa\xed\xfe", FileKind::MachO),
    (b"\xcf\xfa\xed\xfe", FileKind::MachO),
    (b"\xfe\xed\xfa\xce", FileKind::MachO),
    (b"\xfe\xed\xfa\xcf", FileKind::MachO),
    (b"\xca\xfe\xba\xbe", FileKind::MachOUniversal),
    (b"\xca\xfe\xba\xbf", FileKind::MachOUniversal),
];

/// A SYCLBIN is told by its first image, and the draft of its second version by that image's string `role`: the number
/// of its kind is also that of SPIR-V.
fn offload_binary(bytes: &[u8]) -> FileKind {
    let entry = bytes::u64_at(bytes, 16, "entry").ok();
    let field = |offset| bytes::u64_at(bytes, entry?.checked_add(offset)?, "entry").ok();
    let first = || bytes::array::<4>(bytes, field(24)?, "image").ok();
    let key = |index: u64| {
        let key = bytes::u64_at(bytes, field(8)?.checked_add(index.checked_mul(24)?)?, "string").ok()?;
        bytes::array::<5>(bytes, key, "string").ok()
    };
    let strings = || field(16).unwrap_or_default().min(DRAFT_STRINGS);
    let draft = || {
        bytes::u32_at(bytes, 4, "version") == Ok(2) && (0..strings()).any(|it| key(it) == Some(*b"role\0"))
    };
    // LLVM has no image of this kind: a file that is damaged or incomplete, and says what it is.
    let named = || entry.and_then(|entry| bytes::u16_at(bytes, entry, "entry").ok()) == Some(ONEAPI_2026);
    if first() == Some(*b"IBYS") || named() || draft() { FileKind::Syclbin } else { FileKind::OffloadBinary }
}

/// The number of a SYCLBIN since oneAPI 2026.
const ONEAPI_2026: u16 = 7;

/// How many strings of an image are looked at: the draft gives it three at most.
const DRAFT_STRINGS: u64 = 8;

fn elf(bytes: &[u8]) -> FileKind {
    match bytes::u16_at(bytes, 16, "the ELF header").unwrap_or_default() {
        0xff01..=0xff05 => FileKind::IntelOpenClElf,
        _ => FileKind::Elf,
    }
}

/// ocloc's members are called after devices: `64.12.60.7`, `64.pvc`, `generic_ir`.
fn archive(bytes: &[u8]) -> FileKind {
    let mut at = 8u64;
    // Padding may come before each member; a symbol table or object comes first in an archive of a linker.
    for _ in 0..8 {
        let Ok(name) = bytes::array::<16>(bytes, at, "member") else { break };
        if name.starts_with(b"64.") || name.starts_with(b"32.") || name.starts_with(b"generic_ir") {
            return FileKind::OclocArchive;
        }
        let Some(next) = name.starts_with(b"pad_").then(|| next_member(bytes, at)).flatten() else {
            break;
        };
        at = next;
    }
    FileKind::Archive
}

/// Where the member behind the one at `at` starts in an archive.
fn next_member(archive: &[u8], at: u64) -> Option<u64> {
    let size = bytes::text_at(archive, at.checked_add(48)?, 10, "the size of a member").ok()?;
    let size: u64 = size.trim_end().parse().ok()?;
    at.checked_add(60)?.checked_add(size)?.checked_next_multiple_of(2)
}

/// Java's classes start as universal files do; those have few architectures.
fn universal(bytes: &[u8]) -> Option<FileKind> {
    let count = u32::from_be_bytes(bytes::array(bytes, 4, "header").ok()?);
    (1..40).contains(&count).then_some(FileKind::MachOUniversal)
}

/// An object has no magic: its machine comes first, and an optional header only programs have.
fn coff(bytes: &[u8]) -> Option<FileKind> {
    let machine = bytes::u16_at(bytes, 0, "the COFF header").ok()?;
    let sections = bytes::u16_at(bytes, 2, "the COFF header").ok()?;
    let optional = bytes::u16_at(bytes, 16, "the COFF header").ok()?;
    let big = machine == 0 && sections == 0xffff && bytes::u16_at(bytes, 4, "the COFF header") == Ok(2);
    let small = matches!(machine, 0x8664 | 0xaa64 | 0x014c) && sections > 0 && optional == 0;
    (small || big).then_some(FileKind::Coff)
}

/// A bundle of text starts with a marker in a comment.
fn text(bytes: &[u8]) -> Option<FileKind> {
    const START: &[u8] = b"__CLANG_OFFLOAD_BUNDLE____START__ ";
    // clang writes an empty line in front of each marker.
    let rest = bytes.trim_ascii_start();
    let comments = [&b"// "[..], b"# ", b"; "];
    let is_marker = |comment: &&[u8]| rest.strip_prefix(*comment).is_some_and(|rest| rest.starts_with(START));
    comments.iter().any(is_marker).then_some(FileKind::ClangBundleText)
}

impl From<ImageFormat> for FileKind {
    fn from(format: ImageFormat) -> FileKind {
        match format {
            ImageFormat::SpirV => FileKind::SpirV,
            ImageFormat::Ptx => FileKind::Ptx,
            ImageFormat::Cubin => FileKind::Cubin,
            ImageFormat::AmdCodeObject => FileKind::AmdCodeObject,
            _ => FileKind::Zebin,
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            FileKind::Pack => "pack",
            FileKind::OffloadBinary => "OffloadBinary",
            FileKind::Syclbin => "SYCLBIN",
            FileKind::ClangBundle => "clang offload bundle",
            FileKind::ClangBundleText => "clang offload bundle of text",
            FileKind::CompressedBundle => "compressed clang offload bundle",
            FileKind::CudaFatbin => "CUDA fatbin",
            FileKind::Kpack => "kpack",
            FileKind::AmdCodeObject => "AMD code object",
            FileKind::Cubin => "cubin",
            FileKind::Zebin => "zebin",
            FileKind::IntelOpenClElf => "Intel OpenCL ELF",
            FileKind::PatchTokens => "Intel patch tokens",
            FileKind::OclocArchive => "ocloc archive",
            FileKind::SpirV => "SPIR-V",
            FileKind::LlvmBitcode => "LLVM bitcode",
            FileKind::LtoIr => "LTO-IR",
            FileKind::Ptx => "PTX",
            FileKind::Zstd => "zstd frame",
            FileKind::Zlib => "zlib stream",
            FileKind::Elf => "ELF",
            FileKind::Coff => "COFF",
            FileKind::Pe => "PE",
            FileKind::MachO => "Mach-O",
            FileKind::MachOUniversal => "universal Mach-O",
            FileKind::Archive => "archive",
        })
    }
}
