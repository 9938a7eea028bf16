//! Descriptors of a PE file: programs and DLLs of Windows
//! (<https://learn.microsoft.com/en-us/windows/win32/debug/pe-format>).

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, ErrorKind};

use offload_format::bytes::{array, range, u16_at, u32_at, u64_at};
use offload_format::pack::layout::MAGIC;
use offload_format::section::{DESCRIPTOR_SIZE, Descriptor, PE_SECTION};

use super::descriptor_table::{self, FoundDescriptor, PackPlace, TableRange, first_bytes};
use super::elf::LinkedPacks;
use crate::files::read_at::read_at;

/// Offset in the optional header of the size of initialised data.
pub(crate) const INITIALIZED_DATA: u64 = 8;
/// Offset in the optional header of the checksum.
pub(crate) const CHECKSUM: u64 = 64;
/// Number of the directory entry of signatures, whose address is a file offset.
pub(crate) const CERTIFICATES: u64 = 4;
/// Number of the directory entry of debug information.
pub(crate) const DEBUG: u64 = 6;
/// Size of a section header.
pub(crate) const SECTION_SIZE: u64 = 40;

const WHAT: &str = "the headers of the PE file";

/// The headers of a PE file.
#[derive(Debug)]
pub(crate) struct PeFile {
    /// The file up to the end of the section headers.
    bytes: Vec<u8>,
    /// File offset of the COFF header.
    pub(crate) coff: u64,
    /// File offset of the optional header.
    pub(crate) optional: u64,
    /// File offset of the section headers.
    pub(crate) table: u64,
    pub(crate) sections: Vec<PeSection>,
    /// The address of the first byte.
    base: u64,
    is_plus: bool,
}

/// A section: its memory by address, its content by file offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeSection {
    name: [u8; 8],
    pub(crate) address: u64,
    pub(crate) memory_size: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// An entry of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataDirectory {
    /// Relative to the base of the program; for signatures a file offset.
    pub(crate) address: u64,
    pub(crate) size: u64,
}

impl PeFile {
    /// The headers; `None` if it is another file, or a damaged one.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(file: &File) -> io::Result<Option<PeFile>> {
        let Some(start) = first_bytes(file, 64)? else { return Ok(None) };
        let header = u32_at(&start, 60, WHAT).map(u64::from);
        let header = header.ok().filter(|_| start.starts_with(b"MZ"));
        let Some(coff) = header.and_then(|header| header.checked_add(4)) else { return Ok(None) };
        let Some(optional) = coff.checked_add(20) else { return Ok(None) };
        let Some(bytes) = first_bytes(file, optional)? else { return Ok(None) };
        let Ok(sizes) = sizes(&bytes, coff) else { return Ok(None) };
        let Some(table) = optional.checked_add(sizes.optional) else { return Ok(None) };
        let size = sizes.sections.checked_mul(SECTION_SIZE).and_then(|size| table.checked_add(size));
        let Some(size) = size else { return Ok(None) };
        let Some(bytes) = first_bytes(file, size)? else { return Ok(None) };
        Ok(PeFile::parse(bytes, [coff, optional, table]).ok())
    }

    fn parse(bytes: Vec<u8>, [coff, optional, table]: [u64; 3]) -> Result<PeFile, offload_format::Error> {
        let is_plus = u16_at(&bytes, optional, WHAT)? == 0x20b;
        let base = if is_plus {
            u64_at(&bytes, optional.saturating_add(24), WHAT)?
        } else {
            u32_at(&bytes, optional.saturating_add(28), WHAT)?.into()
        };
        let mut sections = Vec::new();
        let size = (bytes.len() as u64).saturating_sub(table);
        for header in range(&bytes, table, size, WHAT)?.chunks_exact(SECTION_SIZE as usize) {
            let number = |at| u32_at(header, at, WHAT).map(u64::from);
            sections.push(PeSection {
                name: array(header, 0, WHAT)?,
                address: number(12)?.saturating_add(base),
                memory_size: number(8)?,
                offset: number(20)?,
                size: number(16)?,
            });
        }
        Ok(PeFile { bytes, coff, optional, table, sections, base, is_plus })
    }

    /// The number of 32 bits at `offset` of the file; 0 if it is not in the headers.
    pub(crate) fn number(&self, offset: u64) -> u32 {
        u32_at(&self.bytes, offset, WHAT).unwrap_or(0)
    }

    /// What the sections' content in the file is aligned to.
    pub(crate) fn file_alignment(&self) -> u64 {
        self.number(self.optional.saturating_add(36)).max(1).into()
    }

    /// An entry of the directory, if it is there and not empty.
    pub(crate) fn directory(&self, number: u64) -> Option<DataDirectory> {
        let count = self.optional.checked_add(if self.is_plus { 108 } else { 92 })?;
        if number >= u64::from(self.number(count)) {
            return None;
        }
        let entry = number.checked_mul(8)?.checked_add(4)?.checked_add(count)?;
        let address = self.number(entry).into();
        let size = self.number(entry.checked_add(4)?).into();
        (size > 0).then_some(DataDirectory { address, size })
    }

    /// The file offset of an address in memory.
    pub(crate) fn file_offset(&self, address: u64) -> Option<u64> {
        self.sections.iter().find_map(|section| section.file_offset(address))
    }

    /// The file offset of an address that is relative to the base.
    pub(crate) fn relative_offset(&self, address: u64) -> Option<u64> {
        self.file_offset(address.checked_add(self.base)?)
    }

    /// Whether a section has so many bytes of memory from an address on.
    fn is_loaded(&self, start: u64, size: u64) -> bool {
        self.sections.iter().any(|section| {
            let end = start.checked_sub(section.address).and_then(|within| within.checked_add(size));
            end.is_some_and(|end| end <= section.memory_size)
        })
    }

    /// Where a descriptor's pack is.
    fn place_of(&self, descriptor: &Descriptor) -> Option<PackPlace> {
        let address = descriptor.pack.cast_unsigned();
        let offset = self.file_offset(address)?;
        Some(PackPlace { address, offset, is_loaded: self.is_loaded(address, descriptor.pack_size) })
    }

    /// The section with descriptors and packs.
    fn own_section(&self) -> Option<&PeSection> {
        self.sections.iter().find(|section| section.name == *PE_SECTION.as_bytes())
    }
}

impl PeSection {
    fn file_offset(&self, address: u64) -> Option<u64> {
        let within = address.checked_sub(self.address)?;
        if within < self.size { self.offset.checked_add(within) } else { None }
    }
}

/// Sizes that stand in the COFF header.
struct Sizes {
    sections: u64,
    optional: u64,
}

fn sizes(bytes: &[u8], coff: u64) -> Result<Sizes, offload_format::Error> {
    let signature = coff.saturating_sub(4);
    if array(bytes, signature, WHAT)? != *b"PE\0\0" {
        return Err(offload_format::ErrorKind::Magic { what: "a PE file" }.into());
    }
    Ok(Sizes {
        sections: u16_at(bytes, coff.saturating_add(2), WHAT)?.into(),
        optional: u16_at(bytes, coff.saturating_add(16), WHAT)?.into(),
    })
}

/// The file offsets of packs; empty if it is not a PE file with descriptors.
pub(super) fn pack_offsets(file: &File) -> io::Result<BTreeSet<u64>> {
    Ok(linked_packs(file)?.packs.iter().map(|pack| pack.pack_offset).collect())
}

/// The packs of a PE file, in the order of their descriptors; none if it is another file.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn linked_packs(file: &File) -> io::Result<LinkedPacks> {
    let Some(program) = PeFile::read(file)? else { return Ok(LinkedPacks::default()) };
    let descriptors = descriptors(&program, file)?;
    Ok(descriptor_table::linked_packs(descriptors, |descriptor| program.place_of(descriptor)))
}

/// The descriptors at the start of their section; packs follow.
fn descriptors(program: &PeFile, file: &File) -> io::Result<Vec<FoundDescriptor>> {
    let Some(section) = program.own_section() else { return Ok(Vec::new()) };
    let PeSection { address, offset, size, .. } = *section;
    descriptor_table::descriptors(file, TableRange { address, offset, size })
}

/// The problem of a section that has something else behind its descriptors than packs: a damaged descriptor hides those that
/// follow it.
fn behind(program: &PeFile, file: &File, descriptors: &[FoundDescriptor]) -> io::Result<Option<String>> {
    let Some(section) = program.own_section() else { return Ok(None) };
    let last = descriptors.last().map(|last| last.offset.saturating_add(last.bytes.len() as u64));
    let start = last.unwrap_or(section.offset);
    let rest = section.offset.saturating_add(section.size).saturating_sub(start);
    let bytes = match read_at(file, start, rest.min(DESCRIPTOR_SIZE)) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Vec::new(),
        bytes => bytes?,
    };
    let padding = bytes.iter().take_while(|byte| **byte == 0).count();
    let is_pack = bytes.get(padding..).is_some_and(|rest| rest.is_empty() || rest.starts_with(&MAGIC));
    let at = start.saturating_sub(section.offset);
    Ok((!is_pack).then(|| format!("`{PE_SECTION}` has no valid descriptor at offset {at:#x}")))
}

/// The problems of the descriptors of a PE file; none if it is another file.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn problems(file: &File) -> io::Result<Vec<String>> {
    let Some(program) = PeFile::read(file)? else { return Ok(Vec::new()) };
    let descriptors = descriptors(&program, file)?;
    let mut problems = Vec::new();
    problems.extend(behind(&program, file, &descriptors)?);
    let of_descriptors =
        descriptor_table::problems(file, &descriptors, |descriptor| program.place_of(descriptor));
    problems.extend(of_descriptors?);
    Ok(problems)
}
