//! Detection of container and file formats.

use std::fmt;

use offload_format::bytes;
use offload_images::ImageFormat;

/// The format of a file or range.
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
    /// NVIDIA's LTO-IR, which nvlink compiles. It has no magic: the fatbin around it records the kind.
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
    /// Detects the format by the first bytes; for archives and PTX by the first kilobytes.
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

/// Magic numbers; the modules that read the formats name the sources.
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

fn offload_binary(bytes: &[u8]) -> FileKind {
    if is_syclbin(bytes) == Some(true) { FileKind::Syclbin } else { FileKind::OffloadBinary }
}

/// Whether the first image is a SYCLBIN: by its magic, by its kind, or, in the draft of version 2, by its string `role`
/// (the draft has the kind of SPIR-V). `None` for a truncated file.
fn is_syclbin(bytes: &[u8]) -> Option<bool> {
    let entry = bytes::u64_at(bytes, 16, "entry").ok()?;
    // LLVM has no image of this kind: a SYCLBIN even if it is damaged.
    if bytes::u16_at(bytes, entry, "entry") == Ok(ONEAPI_2026) {
        return Some(true);
    }
    let image = bytes::u64_at(bytes, entry.checked_add(24)?, "entry").ok()?;
    if bytes::array::<4>(bytes, image, "image") == Ok(*b"IBYS") {
        return Some(true);
    }
    if bytes::u32_at(bytes, 4, "version") != Ok(2) {
        return Some(false);
    }
    let map = bytes::u64_at(bytes, entry.checked_add(8)?, "entry").ok()?;
    let strings = bytes::u64_at(bytes, entry.checked_add(16)?, "entry").ok()?;
    for index in 0..strings.min(MAX_DRAFT_STRINGS) {
        let key = bytes::u64_at(bytes, map.checked_add(index.checked_mul(24)?)?, "string").ok();
        if key.is_some_and(|key| bytes::array::<5>(bytes, key, "string") == Ok(*b"role\0")) {
            return Some(true);
        }
    }
    Some(false)
}

/// The image kind of a SYCLBIN since oneAPI 2026.
const ONEAPI_2026: u16 = 7;

/// The number of strings that are compared with `role`: an image of the draft has three at most.
const MAX_DRAFT_STRINGS: u64 = 8;

fn elf(bytes: &[u8]) -> FileKind {
    match bytes::u16_at(bytes, 16, "the ELF header").unwrap_or_default() {
        0xff01..=0xff05 => FileKind::IntelOpenClElf,
        _ => FileKind::Elf,
    }
}

/// Members of ocloc's archives are named after devices: `64.12.60.7`, `64.pvc`, `generic_ir`.
fn archive(bytes: &[u8]) -> FileKind {
    let mut at = 8u64;
    // Padding members may come first; a linker's archive starts with a symbol table or an object.
    for _ in 0..8 {
        let Ok(name) = bytes::array::<16>(bytes, at, "member") else { break };
        if name.starts_with(b"64.") || name.starts_with(b"32.") || name.starts_with(b"generic_ir") {
            return FileKind::OclocArchive;
        }
        if !name.starts_with(b"pad_") {
            break;
        }
        let Some(next) = next_member(bytes, at) else { break };
        at = next;
    }
    FileKind::Archive
}

/// The offset of the member behind the one at `at`.
fn next_member(archive: &[u8], at: u64) -> Option<u64> {
    let size = bytes::text_at(archive, at.checked_add(48)?, 10, "the size of a member").ok()?;
    let size: u64 = size.trim_end().parse().ok()?;
    at.checked_add(60)?.checked_add(size)?.checked_next_multiple_of(2)
}

/// Java's class files have the same magic; a universal file has few architectures.
fn universal(bytes: &[u8]) -> Option<FileKind> {
    let count = u32::from_be_bytes(bytes::array(bytes, 4, "header").ok()?);
    (1..40).contains(&count).then_some(FileKind::MachOUniversal)
}

/// A COFF object has no magic: it starts with the machine, and only programs have an optional header.
fn coff(bytes: &[u8]) -> Option<FileKind> {
    let machine = bytes::u16_at(bytes, 0, "the COFF header").ok()?;
    let sections = bytes::u16_at(bytes, 2, "the COFF header").ok()?;
    let optional = bytes::u16_at(bytes, 16, "the COFF header").ok()?;
    let big = machine == 0 && sections == 0xffff && bytes::u16_at(bytes, 4, "the COFF header") == Ok(2);
    let small = matches!(machine, 0x8664 | 0xaa64 | 0x014c) && sections > 0 && optional == 0;
    (small || big).then_some(FileKind::Coff)
}

/// A text bundle starts with a marker in a comment.
fn text(bytes: &[u8]) -> Option<FileKind> {
    const START: &[u8] = b"__CLANG_OFFLOAD_BUNDLE____START__ ";
    // clang writes an empty line in front of each marker.
    let rest = bytes.trim_ascii_start();
    for comment in [&b"// "[..], b"# ", b"; "] {
        if rest.strip_prefix(comment).is_some_and(|rest| rest.starts_with(START)) {
            return Some(FileKind::ClangBundleText);
        }
    }
    None
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
