//! ELF files of Intel's OpenCL compiler, with a device binary beside its sources.
//!
//! Follows `shared/source/device_binary_format/elf/ocl_elf.h` of <https://github.com/intel/compute-runtime>. The CPU
//! runtime of OpenCL writes them as well.

use object::LittleEndian as LE;
use object::elf::SHT_NULL;
use object::read::elf::{FileHeader, SectionHeader};

use offload_format::{Error, ErrorKind};
use offload_images::elf::{Elf, Format};

const FORMAT: Format = Format { name: "an ELF file of Intel's OpenCL compiler", nobits: &[] };

/// The content of a file (`e_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenClElfKind {
    /// Sources.
    Source,
    /// Objects for a link; also the SPIR-V in an [`Archive`](super::Archive).
    Objects,
    /// A library.
    Library,
    /// An executable device binary.
    Executable,
    /// Debug information.
    Debug,
}

impl OpenClElfKind {
    fn from_u16(number: u16) -> Option<OpenClElfKind> {
        Some(match number {
            0xff01 => OpenClElfKind::Source,
            0xff02 => OpenClElfKind::Objects,
            0xff03 => OpenClElfKind::Library,
            0xff04 => OpenClElfKind::Executable,
            0xff05 => OpenClElfKind::Debug,
            _ => return None,
        })
    }
}

/// The content of a section (`sh_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SectionKind {
    /// OpenCL C.
    Source,
    /// LLVM IR as text.
    LlvmText,
    /// LLVM bitcode.
    LlvmBinary,
    /// An archive of LLVM bitcode.
    LlvmArchive,
    /// Code for a device.
    DeviceBinary,
    /// The compiler's options.
    BuildOptions,
    /// The compiler's messages.
    BuildLog,
    /// Debug information of the device binary.
    DeviceDebug,
    /// SPIR-V.
    SpirV,
    /// Ids of specialization constants.
    ConstantIds,
    /// Values of specialization constants.
    ConstantValues,
    /// Another type: its number.
    Other(u32),
}

impl SectionKind {
    fn from_u32(number: u32) -> SectionKind {
        match number {
            0xff00_0001 => SectionKind::Source,
            0xff00_0002 => SectionKind::LlvmText,
            0xff00_0003 => SectionKind::LlvmBinary,
            0xff00_0004 => SectionKind::LlvmArchive,
            0xff00_0005 => SectionKind::DeviceBinary,
            0xff00_0006 => SectionKind::BuildOptions,
            0xff00_0007 => SectionKind::BuildLog,
            0xff00_0008 => SectionKind::DeviceDebug,
            0xff00_0009 => SectionKind::SpirV,
            0xff00_000b => SectionKind::ConstantIds,
            0xff00_000c => SectionKind::ConstantValues,
            other => SectionKind::Other(other),
        }
    }
}

/// A section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section<'a> {
    /// Its kind.
    pub kind: SectionKind,
    /// Its name.
    pub name: &'a str,
    /// Its bytes.
    pub data: &'a [u8],
}

/// A file over borrowed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenClElf<'a> {
    /// Its kind.
    pub kind: OpenClElfKind,
    /// Its sections in the order of the file, without the null section.
    pub sections: Vec<Section<'a>>,
}

impl<'a> OpenClElf<'a> {
    /// The bytes of the first section of this kind.
    pub fn section(&self, kind: SectionKind) -> Option<&'a [u8]> {
        self.sections.iter().find(|section| section.kind == kind).map(|section| section.data)
    }
}

/// Reads a file.
///
/// # Errors
/// [`ErrorKind::Magic`] for another file; [`ErrorKind::Truncated`] for ranges outside of `input`; [`ErrorKind::Text`] for a
/// name that is not UTF-8.
pub fn parse_elf(input: &[u8]) -> Result<OpenClElf<'_>, Error> {
    let file = Elf::parse(input, &FORMAT)?;
    let kind = OpenClElfKind::from_u16(file.header.e_type(LE).0);
    let kind = kind.ok_or(ErrorKind::Magic { what: FORMAT.name })?;
    let mut sections = Vec::new();
    for section in &file.sections {
        let section_type = section.header.sh_type(LE);
        if section_type != SHT_NULL {
            let kind = SectionKind::from_u32(section_type.0);
            sections.push(Section { kind, name: section.name, data: section.data });
        }
    }
    Ok(OpenClElf { kind, sections })
}
