//! Integrity of a program's references to packs: runtimes follow descriptors and notes, and skip damaged ones.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;

use object::read::elf::ProgramHeader;
use object::read::{Object, ObjectSection, ReadRef};
use object::{Endianness, elf};
use offload_format::pack::layout::HEADER_SIZE;
use offload_format::pack::{Pack, PackSizes, Pages};
use offload_format::section::{
    DESCRIPTOR_MAGIC, DESCRIPTOR_PACK, DESCRIPTOR_RESERVED, DESCRIPTOR_SIDECARS, DESCRIPTOR_SIZE, Descriptor,
    ParsedDescriptor, TABLE_SECTION,
};

use super::elf::{Program, by_notes, file_offset, notes};
use crate::files::object_file::{ObjectFile, examine};

/// Linkers align descriptors to this, and so walks the runtime.
const STEP: usize = 8;
/// Of a table that is all rubbish, so many problems are enough.
pub(super) const MOST: usize = 64;
/// Maximum number of zeros after a pack that are compared.
const MOST_ZEROS: u64 = 1 << 20;

/// The problems of the descriptors and notes of a program; none if it is not an ELF file.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn problems(file: &File) -> io::Result<Vec<String>> {
    examine(file, |file| {
        let program = match Program::parse(file) {
            Ok(program) => program,
            // No runtime finds packs by headers that cannot be read.
            Err(error) if file.read_bytes_at(0, 4).is_ok_and(|magic| magic == elf::ELFMAG) => {
                return vec![format!("the ELF headers of the program are damaged: {error}")];
            }
            Err(_) => return Vec::new(),
        };
        let mut found = References { program, file, problems: Vec::new(), ids: BTreeSet::new() };
        found.table();
        found.notes();
        found.problems
    })
}

struct References<'a, 'f> {
    program: Program<'a, 'f>,
    file: &'a ObjectFile<'f>,
    problems: Vec<String>,
    /// Of the descriptors that lead to a pack.
    ids: BTreeSet<[u8; 16]>,
}

impl References<'_, '_> {
    /// Walks the table as the runtime does; without section headers notes alone lead to descriptors.
    fn table(&mut self) {
        let Some(section) = self.program.section_by_name(TABLE_SECTION) else { return };
        let address = section.address();
        let data = section.data().unwrap_or_default();
        let mut at = 0usize;
        while let Some(rest) = data.get(at..).filter(|rest| !rest.is_empty()) {
            if self.problems.len() >= MOST {
                return;
            }
            let step = if rest.starts_with(&DESCRIPTOR_MAGIC) {
                self.descriptor(address.saturating_add(at as u64), rest)
            } else {
                if rest.iter().take(STEP).any(|byte| *byte != 0) {
                    self.problems
                        .push(format!("`{TABLE_SECTION}` has no valid descriptor at offset {at:#x}"));
                }
                STEP
            };
            at = at.saturating_add(step.max(STEP));
        }
    }

    /// Compares a descriptor with the pack that it leads to; returns its size.
    fn descriptor(&mut self, address: u64, bytes: &[u8]) -> usize {
        let (size, problem) = match Descriptor::parse(bytes) {
            Ok(ParsedDescriptor { descriptor: Some(descriptor), size, .. }) => {
                let reserved = bytes.get(DESCRIPTOR_RESERVED as usize..DESCRIPTOR_SIZE as usize);
                let more =
                    size != DESCRIPTOR_SIZE || reserved.unwrap_or_default().iter().any(|byte| *byte != 0);
                let more = more.then(|| "is from a newer release".to_string());
                (size, self.pack(address, &descriptor).err().or(more))
            }
            Ok(ParsedDescriptor { size, .. }) => (size, Some("is from a newer release".to_string())),
            Err(error) => (STEP as u64, Some(format!("is damaged: {error}"))),
        };
        self.problems.extend(problem.map(|problem| format!("the descriptor at {address:#x} {problem}")));
        usize::try_from(size).unwrap_or(usize::MAX)
    }

    /// Checks the pack of the descriptor at `address`; the error continues "the descriptor at 0x...".
    fn pack(&mut self, address: u64, descriptor: &Descriptor) -> Result<(), String> {
        let start =
            address.checked_add(DESCRIPTOR_PACK).and_then(|at| at.checked_add_signed(descriptor.pack));
        let start = start.ok_or_else(lost)?;
        let led_to = file_offset(&self.program, start).map(|offset| LedTo {
            offset,
            is_loaded: self.is_loaded(start, descriptor.pack_size),
            flags: 0,
        });
        compare(self.file, descriptor, led_to, &mut self.ids)
    }

    /// Whether a segment has so many bytes from an address on.
    fn is_loaded(&self, start: u64, size: u64) -> bool {
        let endian = self.program.endian();
        self.program.elf_program_headers().iter().any(|header: &elf::ProgramHeader64<Endianness>| {
            let within = start.checked_sub(header.p_vaddr(endian));
            let end = within.and_then(|within| within.checked_add(size));
            header.p_type(endian) == elf::PT_LOAD && end.is_some_and(|end| end <= header.p_memsz(endian))
        })
    }

    /// Of each pack there are a descriptor and a note. Where tools have moved notes, their identities have stayed.
    fn notes(&mut self) {
        let notes = notes(&self.program, self.file);
        // Without section headers there is no table to walk.
        if self.program.section_by_name(TABLE_SECTION).is_none() {
            let addresses = by_notes(&self.program, self.file, &notes);
            addresses.into_iter().take(MOST).for_each(|address| self.check_note(address));
        }
        let ids: BTreeSet<[u8; 16]> = notes
            .iter()
            .filter_map(|note| self.file.read_bytes_at(note.id_offset, 16).ok()?.try_into().ok())
            .collect();
        // A file that lost its notes has the table.
        if ids.is_empty() {
            return;
        }
        if !ids.is_subset(&self.ids) {
            self.problems.push("a note has no descriptor with a pack".to_string());
        }
        if !self.ids.is_subset(&ids) {
            self.problems.push("a descriptor has no note, by which other modules find its pack".to_string());
        }
    }

    /// Looks at the descriptor to which a note leads.
    fn check_note(&mut self, address: u64) {
        let bytes = file_offset(&self.program, address)
            .and_then(|offset| self.file.read_bytes_at(offset, DESCRIPTOR_SIZE).ok());
        match bytes {
            Some(bytes) => drop(self.descriptor(address, bytes)),
            None => self.problems.push("a note does not point to a descriptor".to_string()),
        }
    }
}

/// Where a descriptor leads.
pub(super) struct LedTo {
    /// The file offset.
    pub(super) offset: u64,
    /// Whether all bytes that the descriptor counts are in memory.
    pub(super) is_loaded: bool,
    /// The flags of descriptors in programs of this format.
    pub(super) flags: u16,
}

/// Compares a descriptor with the pack that it leads to, and adds its identity to `ids`; the error continues "the descriptor
/// at 0x...".
pub(super) fn compare(
    file: &ObjectFile<'_>,
    descriptor: &Descriptor,
    led_to: Option<LedTo>,
    ids: &mut BTreeSet<[u8; 16]>,
) -> Result<(), String> {
    let LedTo { offset, is_loaded, flags } = led_to.ok_or_else(lost)?;
    let head = file.read_bytes_at(offset, HEADER_SIZE).map_err(|()| lost())?;
    let PackSizes { pack: size, index, .. } = Pack::sizes(head).map_err(|_| lost())?;
    let rest = descriptor.pack_size.checked_sub(size).filter(|_| is_loaded);
    if rest.is_none_or(|rest| !is_zero(file, offset.saturating_add(size), rest)) {
        return Err(format!("records a pack of {} bytes instead of {size}", descriptor.pack_size));
    }
    let index = file.read_bytes_at(offset, index).map_err(|()| lost())?;
    let pages = Pages::default();
    let pack = Pack::parse_index(index, &pages).map_err(|_| lost())?;
    if pack.id().map_err(|_| lost())?.0 != descriptor.id {
        return Err("records another pack than it points to".to_string());
    }
    let sidecars = if pack.sidecars().next().is_some() { DESCRIPTOR_SIDECARS } else { 0 };
    let flags = flags | sidecars;
    if descriptor.flags != flags {
        return Err(format!("has the flags {:#x}; its pack requires {flags:#x}", descriptor.flags));
    }
    if ids.insert(descriptor.id) {
        return Ok(());
    }
    Err("points to the same pack as another descriptor".to_string())
}

/// Whether a tool may have left these bytes behind a pack that it has made smaller.
fn is_zero(file: &ObjectFile<'_>, offset: u64, size: u64) -> bool {
    let bytes = file.read_bytes_at(offset, size.min(MOST_ZEROS));
    bytes.is_ok_and(|bytes| bytes.iter().all(|byte| *byte == 0))
}

fn lost() -> String {
    "does not point to a pack".to_string()
}

#[cfg(test)]
mod tests {
    use offload_format::pack::PackBuilder;
    use offload_format::section::note;

    use super::*;

    /// Offset of the descriptor table in [`program`].
    const TABLE: usize = 0x400;
    const NOTES: usize = 0x600;
    const PACKS: [usize; 2] = [0x800, 0xa00];

    /// A program with two packs, as a linker leaves it: addresses are offsets.
    fn program() -> Vec<u8> {
        let mut file = vec![0; 0x1000];
        put(&mut file, 0, b"\x7fELF\x02\x01\x01");
        let long = u64::to_le_bytes;
        // A shared object for x86-64, with two program headers and three section headers.
        put(&mut file, 16, &[3, 0, 62, 0, 1, 0, 0, 0]);
        put(&mut file, 32, &[long(64), long(0x200)].concat());
        put(&mut file, 52, &[64, 0, 56, 0, 2, 0, 64, 0, 3, 0, 2, 0]);
        put(&mut file, 64, &segment(1, 0, 0x1000));
        put(&mut file, 120, &segment(4, NOTES as u64, 128));
        put(&mut file, 0x240, &section(1, 1, TABLE as u64, 128));
        put(&mut file, 0x280, &section(13, 3, 0x300, 32));
        put(&mut file, 0x301, b"offload_tab\0.shstrtab\0");
        for (number, pack_at) in PACKS.into_iter().enumerate() {
            let pack = PackBuilder::new(["one", "two"][number], "1.0.0").finish().unwrap().index;
            let id = Pack::parse(&pack, &Pages::default()).unwrap().id().unwrap().0;
            let at = TABLE + number * 64;
            let note_at = NOTES + number * 64;
            let distance = (pack_at - at) as i64 - DESCRIPTOR_PACK as i64;
            let mut descriptor = Descriptor::new(pack.len() as u64, id, 0);
            descriptor.pack = distance;
            put(&mut file, pack_at, &pack);
            put(&mut file, at, &descriptor.encode());
            put(&mut file, note_at, &note(id));
            put(&mut file, note_at + 28, &((at as i64 - note_at as i64) - 28).to_le_bytes());
        }
        file
    }

    fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
        file[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn segment(kind: u8, at: u64, size: u64) -> Vec<u8> {
        let long = u64::to_le_bytes;
        [[kind, 0, 0, 0, 4, 0, 0, 0], long(at), long(at), long(at), long(size), long(size), long(8)].concat()
    }

    fn section(name: u8, kind: u8, at: u64, size: u64) -> Vec<u8> {
        let long = u64::to_le_bytes;
        [[name, 0, 0, 0, kind, 0, 0, 0], long(2), long(at), long(at), long(size)].concat()
    }

    fn found(program: &[u8]) -> Vec<String> {
        let file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut &file, program).unwrap();
        problems(&file).unwrap()
    }

    /// Flips each bit of the table of `program`, which is sound.
    fn assert_flips_are_told(program: &[u8]) {
        assert_eq!(found(program), Vec::<String>::new());
        for bit in 0..128 * 8 {
            let mut flipped = program.to_vec();
            flipped[TABLE + bit / 8] ^= 1 << (bit % 8);
            // A descriptor may count the unused zeros after a pack: up to the next one here.
            let harmless = (192..204).contains(&(bit % 512)) && found(&flipped).is_empty();
            assert!(harmless || !found(&flipped).is_empty(), "bit {bit}");
        }
    }

    #[test]
    fn every_flipped_bit_of_the_table_is_told() {
        assert_flips_are_told(&program());
    }

    /// Notes lead to the descriptors then.
    #[test]
    fn without_section_headers_every_flipped_bit_is_told_too() {
        let mut program = program();
        program[40..48].fill(0);
        program[60..64].fill(0);
        assert_flips_are_told(&program);
    }

    /// The other crate's note leads to its neighbour.
    #[test]
    fn without_section_headers_and_a_note_its_descriptor_is_told() {
        for note in 0..2 {
            let mut program = program();
            program[40..48].fill(0);
            program[60..64].fill(0);
            program[NOTES + note * 64] ^= 1;
            assert_eq!(
                found(&program),
                ["a descriptor has no note, by which other modules find its pack"],
                "note {note}"
            );
        }
    }

    #[test]
    fn every_flipped_bit_of_a_notes_identity_is_told() {
        let program = program();
        for bit in 0..128 {
            let mut flipped = program.clone();
            flipped[NOTES + 44 + bit / 8] ^= 1 << (bit % 8);
            assert!(!found(&flipped).is_empty(), "bit {bit}");
        }
    }

    #[test]
    fn a_table_of_rubbish_ends() {
        let mut program = program();
        program[TABLE..TABLE + 128].fill(7);
        assert!(found(&program).len() > 1);
    }
}
