//! Following the descriptors of an ELF file, by section or by note.

use std::collections::BTreeSet;
use std::fs::File;

use object::Endianness;
use object::elf;
use object::read::elf::{ElfFile64, ProgramHeader};
use object::read::{Object, ObjectSection, ReadCache, ReadRef};
use offload_format::section::{
    DESCRIPTOR_PACK, DESCRIPTOR_SIZE, Descriptor, NOTE_SIZE, TABLE_SECTION, parse_note,
};

type Program<'a> = ElfFile64<'a, Endianness, &'a ReadCache<&'a File>>;

/// Where packs start in the file; empty if it is no ELF file, or none of ours.
pub(super) fn pack_offsets(file: &File) -> BTreeSet<u64> {
    let cache = ReadCache::new(file);
    let Ok(program) = Program::parse(&cache) else { return BTreeSet::new() };
    let mut addresses = by_section(&program);
    if addresses.is_empty() {
        addresses = by_note(&program, &cache);
    }
    addresses.into_iter().filter_map(|address| file_offset(&program, address)).collect()
}

/// The table of descriptors under its section's name.
fn by_section(program: &Program<'_>) -> BTreeSet<u64> {
    let Some(section) = program.section_by_name(TABLE_SECTION) else { return BTreeSet::new() };
    let data = section.data().unwrap_or_default();
    let mut addresses = BTreeSet::new();
    let mut at = 0u64;
    while let Some(rest) =
        usize::try_from(at).ok().and_then(|at| data.get(at..)).filter(|rest| !rest.is_empty())
    {
        // Anything else in the section ends the walk; a later release's descriptor is stepped over.
        let Ok((descriptor, size)) = Descriptor::parse(rest) else { break };
        let address = section.address().checked_add(at);
        addresses.extend(
            address.zip(descriptor).and_then(|(address, descriptor)| pack_address(address, &descriptor)),
        );
        at = at.saturating_add(size);
    }
    addresses
}

/// The notes in the segments for them: what is left after the section headers were stripped.
///
/// Notes are searched for, not walked: mold 1.10 puts notes of different alignment into one segment.
fn by_note(program: &Program<'_>, cache: &ReadCache<&File>) -> BTreeSet<u64> {
    let endian = program.endian();
    let mut addresses = BTreeSet::new();
    for header in program.elf_program_headers() {
        if header.p_type(endian) != elf::PT_NOTE {
            continue;
        }
        let Ok(data) = header.data(endian, cache) else { continue };
        for at in (0..data.len()).step_by(4) {
            let Some(note) = data.get(at..).and_then(|rest| rest.get(..NOTE_SIZE as usize)) else { break };
            let address = header.p_vaddr(endian).checked_add(at as u64);
            let found = address.zip(parse_note(note)).and_then(|(address, (descriptor, _))| {
                let descriptor_address = address.checked_add_signed(descriptor)?;
                let offset = file_offset(program, descriptor_address)?;
                let bytes = cache.read_bytes_at(offset, DESCRIPTOR_SIZE).ok()?;
                pack_address(descriptor_address, &Descriptor::parse(bytes).ok()?.0?)
            });
            addresses.extend(found);
        }
    }
    addresses
}

fn pack_address(descriptor_address: u64, descriptor: &Descriptor) -> Option<u64> {
    descriptor_address.checked_add(DESCRIPTOR_PACK)?.checked_add_signed(descriptor.pack)
}

/// Where the byte at a virtual address lies in the file.
fn file_offset(program: &Program<'_>, address: u64) -> Option<u64> {
    let endian = program.endian();
    program.elf_program_headers().iter().find_map(|header| {
        let within = address.checked_sub(header.p_vaddr(endian))?;
        let loaded = header.p_type(endian) == elf::PT_LOAD && within < header.p_filesz(endian);
        if loaded { header.p_offset(endian).checked_add(within) } else { None }
    })
}
