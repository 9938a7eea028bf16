//! Descriptors of a Mach-O file: programs and dynamic libraries of macOS
//! (<https://github.com/apple-oss-distributions/xnu/blob/main/EXTERNAL_HEADERS/mach-o/loader.h>).
//!
//! A file of one architecture of 64 bits is read; a universal one holds several.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;

use offload_format::bytes::{array, u16_at, u32_at, u64_at};
use offload_format::section::{Descriptor, MACH_O_SEGMENT, MACH_O_TABLE};

use super::descriptor_table::{self, FoundDescriptor, PackPlace, TableRange, first_bytes};
use super::elf::LinkedPacks;
use crate::files::read_at::read_at;

const WHAT: &str = "the load commands of the Mach-O file";
const MAGIC: [u8; 4] = 0xfeed_facf_u32.to_le_bytes();
const HEADER: u64 = 32;
/// Linkers write some kilobytes.
const MOST_COMMANDS: u64 = 16 << 20;
const SECTION_SIZE: u64 = 80;

/// `LC_SEGMENT_64`.
pub(crate) const SEGMENT: u32 = 0x19;
/// `LC_DYLD_CHAINED_FIXUPS`.
pub(crate) const CHAINED_FIXUPS: u32 = 0x8000_0034;
const CPU_TYPE_ARM64: u32 = 0x0100_000c;

/// The header and the load commands of a Mach-O file.
#[derive(Debug)]
pub(crate) struct MachFile {
    bytes: Vec<u8>,
    pub(crate) commands: Vec<LoadCommand>,
    pub(crate) segments: Vec<MachSegment>,
    pointers: PointerFormat,
}

/// A load command, by its file offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadCommand {
    pub(crate) number: u32,
    pub(crate) offset: u64,
}

/// A segment: its memory by address, its content by file offset.
#[derive(Debug)]
pub(crate) struct MachSegment {
    /// The file offset of its load command.
    pub(crate) command: u64,
    name: [u8; 16],
    pub(crate) address: u64,
    pub(crate) memory_size: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) sections: Vec<MachSection>,
}

/// A section, whose content is as large as its memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MachSection {
    /// The file offset of its header.
    pub(crate) header: u64,
    name: [u8; 16],
    pub(crate) address: u64,
    size: u64,
    offset: u64,
    /// A power of two, by its exponent.
    alignment: u32,
}

/// How the file has pointers that dyld relocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PointerFormat {
    /// As addresses at the preferred base.
    Address,
    /// In chains (<https://github.com/apple-oss-distributions/dyld/blob/main/include/mach-o/fixup-chains.h>): 36 bits are an
    /// address, from the base on if there is one here.
    Chained { base: u64 },
    /// In a form of which nothing is known.
    Unknown,
}

/// The bits of a chained pointer that are an address.
const TARGET: u64 = (1 << 36) - 1;

impl MachFile {
    /// The headers; `None` if it is another file, or a damaged one.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(file: &File) -> io::Result<Option<MachFile>> {
        let Some(header) = first_bytes(file, HEADER)?.filter(|header| header.starts_with(&MAGIC)) else {
            return Ok(None);
        };
        let size = u32_at(&header, 20, WHAT).map_or(0, u64::from);
        if size > MOST_COMMANDS {
            return Ok(None);
        }
        let Some(bytes) = first_bytes(file, HEADER.saturating_add(size))? else { return Ok(None) };
        let Ok(mut program) = MachFile::parse(bytes) else { return Ok(None) };
        program.pointers = program.pointer_format(file)?;
        Ok(Some(program))
    }

    fn parse(bytes: Vec<u8>) -> Result<MachFile, offload_format::Error> {
        let count = u32_at(&bytes, 16, WHAT)?;
        let mut commands = Vec::new();
        let mut segments = Vec::new();
        let mut offset = HEADER;
        for _ in 0..count {
            let number = u32_at(&bytes, offset, WHAT)?;
            let size = u64::from(u32_at(&bytes, offset.saturating_add(4), WHAT)?);
            commands.push(LoadCommand { number, offset });
            if number == SEGMENT {
                segments.push(MachSegment::parse(&bytes, offset)?);
            }
            // A command is not empty: otherwise the count could be anything.
            offset = offset.saturating_add(size.max(8));
        }
        Ok(MachFile { bytes, commands, segments, pointers: PointerFormat::Address })
    }

    /// The number of 32 bits at `offset` of the file; 0 if it is not in the headers.
    pub(crate) fn number(&self, offset: u64) -> u32 {
        u32_at(&self.bytes, offset, WHAT).unwrap_or(0)
    }

    /// What segments are aligned to, in memory and in the file.
    pub(crate) fn page_size(&self) -> u64 {
        if self.number(4) == CPU_TYPE_ARM64 { 0x4000 } else { 0x1000 }
    }

    /// The segment with the packs.
    pub(crate) fn pack_segment(&self) -> Option<&MachSegment> {
        self.segments.iter().find(|segment| is_called(segment.name, MACH_O_SEGMENT))
    }

    /// The address in a pointer of the file that dyld relocates.
    fn address_in(&self, pointer: u64) -> Option<u64> {
        match self.pointers {
            PointerFormat::Address => Some(pointer),
            PointerFormat::Chained { base } => base.checked_add(pointer & TARGET),
            PointerFormat::Unknown => None,
        }
    }

    /// `pointer`, which leads to `address` instead; `None` if it cannot.
    pub(crate) fn with_address(&self, pointer: u64, address: u64) -> Option<u64> {
        match self.pointers {
            PointerFormat::Address => Some(address),
            PointerFormat::Chained { base } => {
                let target = address.checked_sub(base).filter(|target| *target <= TARGET)?;
                Some(pointer & !TARGET | target)
            }
            PointerFormat::Unknown => None,
        }
    }

    fn pointer_format(&self, file: &File) -> io::Result<PointerFormat> {
        /// `DYLD_CHAINED_PTR_64`.
        const ADDRESSES: u16 = 2;
        /// `DYLD_CHAINED_PTR_64_OFFSET`.
        const OFFSETS: u16 = 6;
        let Some(command) = self.commands.iter().find(|command| command.number == CHAINED_FIXUPS) else {
            return Ok(PointerFormat::Address);
        };
        let offset = u64::from(self.number(command.offset.saturating_add(8)));
        let size = u64::from(self.number(command.offset.saturating_add(12)));
        let bytes = match read_at(file, offset, size.min(MOST_COMMANDS)) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(PointerFormat::Unknown),
            bytes => bytes?,
        };
        let base = self.segments.iter().find(|segment| is_called(segment.name, "__TEXT"));
        let base = base.map_or(0, |segment| segment.address);
        Ok(match self.chain_format(&bytes) {
            Some(ADDRESSES) => PointerFormat::Chained { base: 0 },
            Some(OFFSETS) => PointerFormat::Chained { base },
            _ => PointerFormat::Unknown,
        })
    }

    /// The format of the chains in the segment with the descriptors.
    fn chain_format(&self, fixups: &[u8]) -> Option<u16> {
        let number = self.segments.iter().position(|segment| segment.table().is_some())? as u64;
        let starts = u64::from(u32_at(fixups, 4, WHAT).ok()?);
        let entry = starts.checked_add(4)?.checked_add(number.checked_mul(4)?)?;
        let start = u64::from(u32_at(fixups, entry, WHAT).ok()?);
        u16_at(fixups, starts.checked_add(start)?.checked_add(6)?, WHAT).ok()
    }

    /// Where a descriptor's pack is.
    fn place_of(&self, descriptor: &Descriptor) -> Option<PackPlace> {
        let address = self.address_in(descriptor.pack.cast_unsigned())?;
        let segment = self.pack_segment()?;
        let within = address.checked_sub(segment.address)?;
        let end = within.checked_add(descriptor.pack_size)?;
        let offset = segment.offset.checked_add(within).filter(|_| within < segment.size)?;
        Some(PackPlace { address, offset, is_loaded: end <= segment.memory_size })
    }

    fn descriptors(&self, file: &File) -> io::Result<Vec<FoundDescriptor>> {
        match self.segments.iter().find_map(MachSegment::table) {
            Some(MachSection { address, offset, size, .. }) => {
                descriptor_table::descriptors(file, TableRange { address, offset, size })
            }
            None => Ok(Vec::new()),
        }
    }
}

impl MachSection {
    /// A size for `content`: where the section ends at a multiple of its alignment, because rustc pads statics, it does so again.
    pub(crate) fn size_for(&self, content: u64) -> Option<u64> {
        match 1u64.checked_shl(self.alignment) {
            Some(alignment) if self.size.is_multiple_of(alignment) => {
                content.checked_next_multiple_of(alignment)
            }
            _ => Some(content),
        }
    }
}

impl MachSegment {
    fn parse(bytes: &[u8], command: u64) -> Result<MachSegment, offload_format::Error> {
        let number = |at: u64| u64_at(bytes, command.saturating_add(at), WHAT);
        let mut sections = Vec::new();
        let mut header = command.saturating_add(72);
        for _ in 0..u32_at(bytes, command.saturating_add(64), WHAT)? {
            sections.push(MachSection {
                header,
                name: array(bytes, header, WHAT)?,
                address: u64_at(bytes, header.saturating_add(32), WHAT)?,
                size: u64_at(bytes, header.saturating_add(40), WHAT)?,
                offset: u32_at(bytes, header.saturating_add(48), WHAT)?.into(),
                alignment: u32_at(bytes, header.saturating_add(52), WHAT)?,
            });
            header = header.saturating_add(SECTION_SIZE);
        }
        Ok(MachSegment {
            command,
            name: array(bytes, command.saturating_add(8), WHAT)?,
            address: number(24)?,
            memory_size: number(32)?,
            offset: number(40)?,
            size: number(48)?,
            sections,
        })
    }

    /// The end of its content in the file.
    pub(crate) fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }

    /// Whether it is the one with what dyld and the kernel read of the file, the last one.
    pub(crate) fn is_link_edit(&self) -> bool {
        is_called(self.name, "__LINKEDIT")
    }

    /// Its section with descriptors.
    fn table(&self) -> Option<MachSection> {
        self.sections.iter().copied().find(|section| is_called(section.name, MACH_O_TABLE))
    }
}

/// Whether a name of segments and sections is `wanted`, with zeros behind it.
fn is_called(name: [u8; 16], wanted: &str) -> bool {
    name.strip_prefix(wanted.as_bytes()).is_some_and(|rest| rest.iter().all(|byte| *byte == 0))
}

/// The file offsets of packs; empty if it is not a Mach-O file with descriptors.
pub(super) fn pack_offsets(file: &File) -> io::Result<BTreeSet<u64>> {
    Ok(linked_packs(file)?.packs.iter().map(|pack| pack.pack_offset).collect())
}

/// The packs of a Mach-O file, in the order of their descriptors; none if it is another file.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn linked_packs(file: &File) -> io::Result<LinkedPacks> {
    let Some(program) = MachFile::read(file)? else { return Ok(LinkedPacks::default()) };
    let descriptors = program.descriptors(file)?;
    Ok(descriptor_table::linked_packs(descriptors, |descriptor| program.place_of(descriptor)))
}

/// The problems of the descriptors of a Mach-O file; none if it is another file.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn problems(file: &File) -> io::Result<Vec<String>> {
    let Some(program) = MachFile::read(file)? else { return Ok(Vec::new()) };
    let descriptors = program.descriptors(file)?;
    descriptor_table::problems(file, &descriptors, |descriptor| program.place_of(descriptor))
}
