//! Descriptors of an ELF file, by section or by note.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;

use object::Endianness;
use object::elf;
use object::read::elf::{ElfFile64, ProgramHeader};
use object::read::{Object, ObjectSection, ReadRef};
use offload_format::section::{
    DESCRIPTOR_MAGIC, DESCRIPTOR_PACK, DESCRIPTOR_SIZE, Descriptor, NOTE_ID, NOTE_SIZE, TABLE_SECTION,
    parse_note,
};

use crate::files::object_file::{ObjectFile, examine};

pub(super) type Program<'a, 'f> = ElfFile64<'a, Endianness, &'a ObjectFile<'f>>;

/// A crate's pack in a linked program, and what refers to it. Offsets are in the file, addresses in memory.
#[derive(Clone, Debug)]
pub(crate) struct LinkedPack {
    pub(crate) descriptor: Descriptor,
    pub(crate) descriptor_address: u64,
    pub(crate) descriptor_offset: u64,
    pub(crate) pack_address: u64,
    pub(crate) pack_offset: u64,
    /// File offsets of the pack's id in notes.
    pub(crate) note_ids: Vec<u64>,
}

/// All packs that descriptors lead to, and whether there are descriptors of a later release.
#[derive(Debug, Default)]
pub(crate) struct LinkedPacks {
    pub(crate) packs: Vec<LinkedPack>,
    pub(crate) later: bool,
}

/// The file offsets of packs; empty if it is not an ELF file with descriptors.
pub(super) fn pack_offsets(file: &File) -> io::Result<BTreeSet<u64>> {
    Ok(linked_packs(file)?.packs.iter().map(|pack| pack.pack_offset).collect())
}

/// The packs of an ELF file, in the order of their descriptors; none if it is another file.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn linked_packs(file: &File) -> io::Result<LinkedPacks> {
    examine(file, packs_in)
}

fn packs_in(file: &ObjectFile<'_>) -> LinkedPacks {
    let Ok(program) = Program::parse(file) else { return LinkedPacks::default() };
    let notes = notes(&program, file);
    let mut addresses = by_section(&program);
    if addresses.is_empty() {
        addresses = by_notes(&program, file, &notes);
    }
    let mut found = LinkedPacks::default();
    for address in addresses {
        match descriptor_at(&program, file, address) {
            Some(FoundDescriptor::Descriptor { offset, descriptor }) => {
                let ids = notes.iter().filter(|note| note.descriptor == address).map(|note| note.id_offset);
                let pack = pack_of(&program, descriptor, address);
                found.packs.extend(pack.map(|pack| LinkedPack {
                    descriptor,
                    descriptor_address: address,
                    descriptor_offset: offset,
                    pack_address: pack.address,
                    pack_offset: pack.offset,
                    note_ids: ids.collect(),
                }));
            }
            Some(FoundDescriptor::Later) => found.later = true,
            None => {}
        }
    }
    found
}

/// Location of a pack.
struct Pack {
    address: u64,
    offset: u64,
}

/// The pack that the descriptor at `address` leads to.
fn pack_of(program: &Program<'_, '_>, descriptor: Descriptor, address: u64) -> Option<Pack> {
    let address = address.checked_add(DESCRIPTOR_PACK)?.checked_add_signed(descriptor.pack)?;
    Some(Pack { address, offset: file_offset(program, address)? })
}

/// A descriptor, and where it is in the file.
enum FoundDescriptor {
    Descriptor {
        offset: u64,
        descriptor: Descriptor,
    },
    /// It is of a later release.
    Later,
}

/// The descriptor at an address.
fn descriptor_at(program: &Program<'_, '_>, file: &ObjectFile<'_>, address: u64) -> Option<FoundDescriptor> {
    let offset = file_offset(program, address)?;
    let bytes = file.read_bytes_at(offset, DESCRIPTOR_SIZE).ok()?;
    // A later release may have made it longer, but nothing past this size is used.
    let whole = offload_format::bytes::u32_at(bytes, 8, "descriptor").ok()?;
    let bytes = file.read_bytes_at(offset, u64::from(whole)).ok()?;
    Some(match Descriptor::parse(bytes).ok()?.descriptor {
        Some(descriptor) => FoundDescriptor::Descriptor { offset, descriptor },
        None => FoundDescriptor::Later,
    })
}

/// The addresses of the descriptors in the table's section.
fn by_section(program: &Program<'_, '_>) -> BTreeSet<u64> {
    let Some(section) = program.section_by_name(TABLE_SECTION) else { return BTreeSet::new() };
    let data = section.data().unwrap_or_default();
    let mut addresses = BTreeSet::new();
    let mut at = 0u64;
    while let Some(rest) =
        usize::try_from(at).ok().and_then(|at| data.get(at..)).filter(|rest| !rest.is_empty())
    {
        // Anything else in the section ends the walk; a later release's descriptor is stepped over.
        let Ok(parsed) = Descriptor::parse(rest) else { break };
        addresses.extend(section.address().checked_add(at));
        at = at.saturating_add(parsed.size);
    }
    addresses
}

/// The addresses of the descriptors that notes lead to, and of those before and behind them: linkers put all
/// descriptors one after another, and a damaged note hides none.
pub(super) fn by_notes(program: &Program<'_, '_>, file: &ObjectFile<'_>, notes: &[Note]) -> BTreeSet<u64> {
    let mut addresses = BTreeSet::new();
    for note in notes {
        if !addresses.insert(note.descriptor) {
            continue;
        }
        for step in [DESCRIPTOR_SIZE.wrapping_neg(), DESCRIPTOR_SIZE] {
            let mut address = note.descriptor.wrapping_add(step);
            // What was seen before has been walked from, in both directions.
            while is_descriptor(program, file, address) && addresses.insert(address) {
                address = address.wrapping_add(step);
            }
        }
    }
    addresses
}

/// Whether a descriptor begins there.
fn is_descriptor(program: &Program<'_, '_>, file: &ObjectFile<'_>, address: u64) -> bool {
    let Some(offset) = file_offset(program, address) else { return false };
    let magic = file.read_bytes_at(offset, DESCRIPTOR_MAGIC.len() as u64);
    magic.is_ok_and(|magic| magic == DESCRIPTOR_MAGIC)
}

/// A note of ours.
pub(super) struct Note {
    /// Address of the descriptor that it leads to.
    pub(super) descriptor: u64,
    /// File offset of the pack's id.
    pub(super) id_offset: u64,
}

/// The notes in the segments for them: what is left after the section headers were stripped.
///
/// Notes are searched for, not walked: mold 1.10 puts notes of different alignment into one segment.
pub(super) fn notes(program: &Program<'_, '_>, file: &ObjectFile<'_>) -> Vec<Note> {
    let endian = program.endian();
    let mut notes = Vec::new();
    for header in program.elf_program_headers() {
        if header.p_type(endian) != elf::PT_NOTE {
            continue;
        }
        let Ok(data) = header.data(endian, file) else { continue };
        for at in (0..data.len()).step_by(4) {
            let Some(note) = data.get(at..).and_then(|rest| rest.get(..NOTE_SIZE as usize)) else { break };
            let found = parse_note(note).and_then(|fields| {
                let address = header.p_vaddr(endian).checked_add(at as u64)?;
                let offset = header.p_offset(endian).checked_add(at as u64)?;
                let descriptor = address.checked_add_signed(fields.descriptor)?;
                Some(Note { descriptor, id_offset: offset.checked_add(NOTE_ID)? })
            });
            notes.extend(found);
        }
    }
    notes
}

/// The file offset of a virtual address.
pub(super) fn file_offset(program: &Program<'_, '_>, address: u64) -> Option<u64> {
    let endian = program.endian();
    program.elf_program_headers().iter().find_map(|header| {
        let within = address.checked_sub(header.p_vaddr(endian))?;
        let loaded = header.p_type(endian) == elf::PT_LOAD && within < header.p_filesz(endian);
        if loaded { header.p_offset(endian).checked_add(within) } else { None }
    })
}
