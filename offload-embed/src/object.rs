//! Our ELF object: note, descriptor, pack, and the relocations between them.
//!
//! Everything but the pack is a few hundred bytes and comes first; the pack is streamed behind it. Constants and
//! records are those of the crate `object`.
//!
//! Its writer (`write::elf::Writer` over a `StreamingBuffer`) would do as well: large sections, 64-bit differences and
//! streaming are all there. But every user's first build compiles it: `object` with the features of this crate takes
//! 7.1 s of CPU unoptimised, with `write_core`, hashbrown, indexmap and crc32fast 12.8 s (`cargo build` of an empty
//! program that depends on it, both in one run). A section table that never changes is not worth that.

use std::fmt;
use std::io::{self, Write};

use object::elf;
use object::endian::{I64, LittleEndian as LE, U16, U32, U64};
use object::pod::bytes_of;
use offload_format::section::{
    DESCRIPTOR_PACK, DESCRIPTOR_SIZE, Descriptor, NOTE_DESCRIPTOR, NOTE_EHDR, NOTE_SECTION, PACK_SECTION,
    PACK_SECTION_X86_64, SHF_X86_64_LARGE, TABLE_SECTION, note,
};

use crate::{Content, PackInfo, TooLarge};

/// A machine whose relocations are known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// `EM_X86_64`.
    X86_64,
    /// `EM_AARCH64`.
    Aarch64,
}

/// A relocatable object with a pack, ready to be written.
pub struct PackObject<'a> {
    /// Everything before the pack.
    head: Vec<u8>,
    pack_offset: u64,
    pack: &'a dyn Content,
}

impl fmt::Debug for PackObject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackObject").field("size", &self.size()).finish()
    }
}

/// Section numbers, in the order of the section headers.
const NOTE: u16 = 1;
const TABLE: u16 = 2;
const PACK: u16 = 3;
const SYMTAB: u32 = 6;
const STRTAB: u32 = 7;
const SECTIONS: u16 = 10;

/// Symbol numbers.
const SYM_TABLE: u32 = 1;
const SYM_PACK: u32 = 2;
const SYM_EHDR: u32 = 3;

/// A field of a section that the linker fills in.
#[derive(Clone, Copy)]
struct Field {
    offset: u64,
    symbol: u32,
}

struct Section {
    name: &'static str,
    kind: elf::SectionType,
    flags: u64,
    align: u64,
    link: u32,
    info: u32,
    entry: u64,
    data: Vec<u8>,
}

impl<'a> PackObject<'a> {
    /// An object for `machine` whose symbol `anchor` is on the descriptor. No two objects of a program may share it. `pack`
    /// has the size of `info`.
    ///
    /// # Errors
    /// If the size exceeds what offsets of 64 bits reach.
    pub fn new(
        machine: Machine,
        anchor: &str,
        info: PackInfo,
        pack: &'a dyn Content,
    ) -> Result<PackObject<'a>, TooLarge> {
        let sections = sections(machine, anchor, info);
        let mut names = vec![0];
        let mut head = vec![0; 64];
        let mut headers: Vec<elf::SectionHeader64<LE>> = vec![section_header(0, &null(), Place::default())];
        for section in &sections {
            // The pack comes last; its place is filled in below.
            align(&mut head, if section.data.is_empty() { 1 } else { section.align });
            let place = Place { offset: head.len() as u64, size: section.data.len() as u64 };
            headers.push(section_header(names.len() as u32, section, place));
            head.extend_from_slice(&section.data);
            names.extend_from_slice(section.name.as_bytes());
            names.push(0);
        }
        let strings = Section { name: ".shstrtab", kind: elf::SHT_STRTAB, align: 1, ..null() };
        let place = Place { offset: head.len() as u64, size: names.len() as u64 + 10 };
        headers.push(section_header(names.len() as u32, &strings, place));
        names.extend_from_slice(b".shstrtab\0");
        head.extend_from_slice(&names);

        align(&mut head, 8);
        let headers_offset = head.len() as u64;
        let pack_align = info.align();
        let end = headers_offset + 64 * u64::from(SECTIONS);
        let pack_offset = end
            .checked_next_multiple_of(pack_align)
            .filter(|offset| offset.checked_add(info.size).is_some())
            .ok_or(TooLarge)?;
        if let Some(header) = headers.get_mut(usize::from(PACK)) {
            header.sh_offset = U64::new(LE, pack_offset);
            header.sh_size = U64::new(LE, info.size);
        }
        headers.iter().for_each(|header| head.extend_from_slice(bytes_of(header)));
        head.splice(..64, bytes_of(&file_header(machine, headers_offset)).iter().copied());
        Ok(PackObject { head, pack_offset, pack })
    }
}

impl Content for PackObject<'_> {
    fn size(&self) -> u64 {
        self.pack_offset.saturating_add(self.pack.size())
    }

    fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.head)?;
        pad(out, self.pack_offset.saturating_sub(self.head.len() as u64))?;
        self.pack.write_to(out)
    }
}

/// All sections but the first, which is empty, and the last, which holds their names.
fn sections(machine: Machine, anchor: &str, info: PackInfo) -> Vec<Section> {
    let id = info.id.0;
    let descriptor = Descriptor::new(info.size, id, info.flags);
    let (symbols, strings) = symbols(anchor);
    let (pack_name, large) = match machine {
        Machine::X86_64 => (PACK_SECTION_X86_64, SHF_X86_64_LARGE),
        Machine::Aarch64 => (PACK_SECTION, 0),
    };
    let alloc = elf::SHF_ALLOC.0;
    vec![
        Section {
            name: NOTE_SECTION,
            kind: elf::SHT_NOTE,
            flags: alloc,
            align: 4,
            data: note(id).into(),
            ..null()
        },
        Section { name: TABLE_SECTION, flags: alloc, align: 8, data: descriptor.encode().into(), ..null() },
        Section { name: pack_name, flags: alloc | large, align: info.align(), ..null() },
        relocations(
            ".rela.note.offload",
            NOTE,
            [
                relocation(machine, Field { offset: NOTE_DESCRIPTOR, symbol: SYM_TABLE }),
                relocation(machine, Field { offset: NOTE_EHDR, symbol: SYM_EHDR }),
            ]
            .concat(),
        ),
        relocations(
            ".rela.offload_tab",
            TABLE,
            relocation(machine, Field { offset: DESCRIPTOR_PACK, symbol: SYM_PACK }),
        ),
        Section {
            name: ".symtab",
            kind: elf::SHT_SYMTAB,
            align: 8,
            link: STRTAB,
            // The first symbol that is not local.
            info: SYM_EHDR,
            entry: 24,
            data: symbols,
            ..null()
        },
        Section { name: ".strtab", kind: elf::SHT_STRTAB, align: 1, data: strings, ..null() },
        // Without it GNU ld makes the program's stack executable.
        Section { name: ".note.GNU-stack", align: 1, ..null() },
    ]
}

fn null() -> Section {
    let kind = elf::SHT_PROGBITS;
    Section { name: "", kind, flags: 0, align: 0, link: 0, info: 0, entry: 0, data: Vec::new() }
}

/// Those of the section with this number.
fn relocations(name: &'static str, section: u16, data: Vec<u8>) -> Section {
    Section {
        name,
        kind: elf::SHT_RELA,
        flags: elf::SHF_INFO_LINK.0,
        align: 8,
        link: SYMTAB,
        info: section.into(),
        entry: 24,
        data,
    }
}

/// Where a section's bytes are in the file.
#[derive(Clone, Copy, Default)]
struct Place {
    offset: u64,
    size: u64,
}

fn section_header(name: u32, section: &Section, place: Place) -> elf::SectionHeader64<LE> {
    let kind = if name == 0 { elf::SHT_NULL } else { section.kind };
    elf::SectionHeader64 {
        sh_name: U32::new(LE, name),
        sh_type: U32::new(LE, kind),
        sh_flags: U64::new(LE, elf::SectionFlags(section.flags)),
        sh_addr: U64::new(LE, 0),
        sh_offset: U64::new(LE, place.offset),
        sh_size: U64::new(LE, place.size),
        sh_link: U32::new(LE, section.link),
        sh_info: U32::new(LE, section.info),
        sh_addralign: U64::new(LE, section.align),
        sh_entsize: U64::new(LE, section.entry),
    }
}

fn file_header(machine: Machine, headers: u64) -> elf::FileHeader64<LE> {
    let e_ident = elf::Ident {
        magic: elf::ELFMAG,
        class: elf::ELFCLASS64,
        data: elf::ELFDATA2LSB,
        version: elf::EV_CURRENT,
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        padding: [0; 7],
    };
    let e_machine = match machine {
        Machine::X86_64 => elf::EM_X86_64,
        Machine::Aarch64 => elf::EM_AARCH64,
    };
    elf::FileHeader64 {
        e_ident,
        e_type: U16::new(LE, elf::ET_REL),
        e_machine: U16::new(LE, e_machine),
        e_version: U32::new(LE, 1),
        e_entry: U64::new(LE, 0),
        e_phoff: U64::new(LE, 0),
        e_shoff: U64::new(LE, headers),
        e_flags: U32::new(LE, elf::FileFlags(0)),
        e_ehsize: U16::new(LE, 64),
        e_phentsize: U16::new(LE, 0),
        e_phnum: U16::new(LE, 0),
        e_shentsize: U16::new(LE, 64),
        e_shnum: U16::new(LE, SECTIONS),
        e_shstrndx: U16::new(LE, elf::SymbolSection(SECTIONS.saturating_sub(1))),
    }
}

/// The symbol table and its names: the two sections that relocations refer to, the linker's symbol on the ELF
/// header, and the anchor on the descriptor. The last two are hidden: each module of a process has its own.
fn symbols(anchor: &str) -> (Vec<u8>, Vec<u8>) {
    const EHDR: &[u8] = b"__ehdr_start";
    let section = elf::SymbolInfo::new(elf::STB_LOCAL, elf::STT_SECTION);
    let global = elf::SymbolInfo::new(elf::STB_GLOBAL, elf::STT_NOTYPE);
    let object = elf::SymbolInfo::new(elf::STB_GLOBAL, elf::STT_OBJECT);
    let anchor_name = EHDR.len() as u32 + 2;
    let symbols = [
        symbol(0, elf::SymbolInfo::default(), 0),
        symbol(0, section, TABLE),
        symbol(0, section, PACK),
        symbol(1, global, 0),
        symbol(anchor_name, object, TABLE),
    ];
    let strings = [b"\0", EHDR, b"\0", anchor.as_bytes(), b"\0"].concat();
    (symbols.iter().flat_map(|symbol| bytes_of(symbol).to_vec()).collect(), strings)
}

fn symbol(name: u32, info: elf::SymbolInfo, section: u16) -> elf::Sym64<LE> {
    let visibility = if name == 0 { elf::STV_DEFAULT } else { elf::STV_HIDDEN };
    elf::Sym64 {
        st_name: U32::new(LE, name),
        st_info: info,
        st_other: elf::SymbolOther::default().with_visibility(visibility),
        st_shndx: U16::new(LE, elf::SymbolSection(section)),
        st_value: U64::new(LE, 0),
        st_size: U64::new(LE, if section == TABLE && name != 0 { DESCRIPTOR_SIZE } else { 0 }),
    }
}

/// "The symbol's address less that of the field", 64 bits wide.
fn relocation(machine: Machine, field: Field) -> Vec<u8> {
    let kind = match machine {
        Machine::X86_64 => elf::R_X86_64_PC64,
        Machine::Aarch64 => elf::R_AARCH64_PREL64,
    };
    let rela: elf::Rela64<LE> = elf::Rela64 {
        r_offset: U64::new(LE, field.offset),
        r_info: U64::new(LE, u64::from(field.symbol) << 32 | u64::from(kind.0)),
        r_addend: I64::new(LE, 0),
    };
    bytes_of(&rela).to_vec()
}

fn pad(out: &mut dyn Write, count: u64) -> io::Result<()> {
    io::copy(&mut io::Read::take(io::repeat(0), count), out).map(drop)
}

fn align(bytes: &mut Vec<u8>, align: u64) {
    let size = (bytes.len() as u64).next_multiple_of(align.max(1));
    bytes.resize(size as usize, 0);
}

#[cfg(test)]
mod tests {
    use object::read::{Object as _, ObjectSection, ObjectSymbol};
    use offload_format::pack::PackBuilder;

    use super::*;

    fn object(machine: Machine) -> Vec<u8> {
        let layout = PackBuilder::new("p", "1.0.0").finish().unwrap();
        let info = PackInfo { size: layout.size, id: layout.id, flags: 0 };
        let mut bytes = Vec::new();
        let object = PackObject::new(machine, "anchor", info, &layout.index).unwrap();
        object.write_to(&mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, object.size());
        bytes
    }

    #[test]
    fn a_foreign_reader_finds_everything() {
        for (machine, name, reloc) in
            [(Machine::X86_64, PACK_SECTION_X86_64, 24), (Machine::Aarch64, PACK_SECTION, 260)]
        {
            let bytes = object(machine);
            let file = object::File::parse(bytes.as_slice()).unwrap();
            let pack = file.section_by_name(name).unwrap();
            assert!(pack.data().unwrap().starts_with(&offload_format::pack::layout::MAGIC));
            assert_eq!(file.section_by_name(TABLE_SECTION).unwrap().relocations().count(), 1);
            let relocations: Vec<_> = file.section_by_name(NOTE_SECTION).unwrap().relocations().collect();
            assert_eq!(
                relocations.iter().map(|(at, _)| *at).collect::<Vec<_>>(),
                [NOTE_DESCRIPTOR, NOTE_EHDR]
            );
            let flags = relocations[0].1.flags();
            assert!(format!("{flags:?}").contains(&reloc.to_string()), "{flags:?}");
            let anchor = file.symbol_by_name("anchor").unwrap();
            assert!(anchor.is_global() && anchor.section_index() == Some(object::SectionIndex(TABLE.into())));
        }
    }
}
