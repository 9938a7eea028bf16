//! ELF headers of a program or library, in memory for editing.

use std::fs::File;
use std::path::Path;

use object::LittleEndian as LE;
use object::elf::{ET_DYN, ET_EXEC, FileHeader64, PT_LOAD, ProgramHeader64, SHT_NOBITS, SectionHeader64};
use object::read::elf::FileHeader;

use super::refusal::refused;
use crate::error::{Error, IoContext, Result};
use crate::files::object_file::{ObjectFile, examine};

/// Headers of a 64-bit little-endian program or shared library.
#[derive(Clone, Debug)]
pub(super) struct Headers {
    pub(super) file: FileHeader64<LE>,
    pub(super) segments: Vec<ProgramHeader64<LE>>,
    /// Empty in a file that was stripped of them.
    pub(super) sections: Vec<SectionHeader64<LE>>,
    /// Size of the file.
    pub(super) size: u64,
}

impl Headers {
    pub(super) fn read(path: &Path, file: &File) -> Result<Headers> {
        let size = file.metadata().io_context("read", path)?.len();
        examine(file, |file| Headers::parse(path, file, size)).io_context("read", path)?
    }

    fn parse(path: &Path, file: &ObjectFile<'_>, size: u64) -> Result<Headers> {
        let header = FileHeader64::<LE>::parse(file).map_err(|_| unfit(path))?;
        let endian = header.endian().map_err(|_| unfit(path))?;
        if !matches!(header.e_type(endian), ET_EXEC | ET_DYN) {
            return Err(refused(path, "it is an object, not a linked program or library"));
        }
        let segments = header.program_headers(endian, file).map_err(|_| broken(path))?.to_vec();
        let sections = header.section_headers(endian, file).map_err(|_| broken(path))?.to_vec();
        let headers = Headers { file: *header, segments, sections, size };
        if headers.segments.len() != usize::from(headers.file.e_phnum.get(LE)) {
            return Err(refused(path, "it has more segments than its header can count"));
        }
        Ok(headers)
    }

    /// The numbers of all segments.
    pub(super) fn spans(&self) -> impl Iterator<Item = Segment> + '_ {
        self.segments.iter().enumerate().map(|(index, header)| Segment::from_header(index, header))
    }

    /// The loaded segments.
    pub(super) fn loads(&self) -> impl Iterator<Item = Segment> + '_ {
        let loads = self.segments.iter().enumerate().filter(|(_, header)| header.p_type.get(LE) == PT_LOAD);
        loads.map(|(index, header)| Segment::from_header(index, header))
    }

    /// The file ranges of sections with content.
    pub(super) fn filled_sections(&self) -> impl Iterator<Item = (usize, [u64; 2])> + '_ {
        let sections = self
            .sections
            .iter()
            .enumerate()
            .filter(|(_, section)| section.sh_type.get(LE) != SHT_NOBITS && section.sh_size.get(LE) > 0);
        sections.map(|(index, section)| {
            let start = section.sh_offset.get(LE);
            (index, [start, start.saturating_add(section.sh_size.get(LE))])
        })
    }
}

fn unfit(path: &Path) -> Error {
    refused(path, "it is not a 64-bit ELF program or library")
}

fn broken(path: &Path) -> Error {
    refused(path, "its headers point outside the file")
}

/// The numbers of a segment. Sums saturate: what does not exist lies behind everything.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// Its place among all.
    pub(super) index: usize,
    pub(super) offset: u64,
    pub(super) address: u64,
    pub(super) file_size: u64,
    pub(super) memory_size: u64,
    pub(super) align: u64,
    pub(super) flags: u32,
}

impl Segment {
    fn from_header(index: usize, segment: &ProgramHeader64<LE>) -> Segment {
        Segment {
            index,
            offset: segment.p_offset.get(LE),
            address: segment.p_vaddr.get(LE),
            file_size: segment.p_filesz.get(LE),
            memory_size: segment.p_memsz.get(LE),
            align: segment.p_align.get(LE).max(1),
            flags: segment.p_flags.get(LE).0,
        }
    }

    /// End of its bytes in the file.
    pub(super) fn end(&self) -> u64 {
        self.offset.saturating_add(self.file_size)
    }

    /// End of its memory.
    pub(super) fn memory_end(&self) -> u64 {
        self.address.saturating_add(self.memory_size)
    }
}
