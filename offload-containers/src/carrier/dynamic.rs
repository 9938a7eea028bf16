//! The address space of a linked ELF file with its dynamic relocations. Program headers have all of it, so that it works
//! for a stripped file too.

use object::LittleEndian as LE;
use object::elf::{self, FileHeader64, ProgramHeader64, Rela64, Sym64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader, Rela, Sym};

use super::view::{Map, Records, View};

type Header = FileHeader64<LE>;

/// The view of a 64-bit little-endian file; `None` for another one.
pub(super) fn view(file: &[u8]) -> Option<View<'_>> {
    let header = Header::parse(file).ok()?;
    header.endian().ok()?;
    let segments = header.program_headers(LE, file).ok()?;
    // The loader relocates the pointers of a position-independent program, which are therefore writable. A program at fixed
    // addresses has pointers in read-only data too.
    let is_relocated = header.e_type(LE) != elf::ET_EXEC;
    let mut maps = Vec::new();
    for segment in segments {
        if segment.p_type(LE) != elf::PT_LOAD {
            continue;
        }
        let flags = segment.p_flags(LE);
        let has_no_pointers = is_relocated || flags.contains(elf::PF_X);
        maps.push(Map {
            address: segment.p_vaddr(LE),
            size: segment.p_filesz(LE),
            offset: segment.p_offset(LE),
            records: if has_no_pointers && !flags.contains(elf::PF_W) {
                Records::None
            } else {
                Records::Possible
            },
        });
    }
    let view = View { file, maps, relocations: Vec::new(), linked: true }.sorted();
    let relocations = relocations(header, segments, &view).unwrap_or_default();
    Some(View { relocations, ..view }.sorted())
}

/// The relocations of `DT_RELA` as addresses and the pointers written there; `None` without a table. `DT_RELR` does not
/// change pointers in the file.
fn relocations(
    header: &Header,
    segments: &[ProgramHeader64<LE>],
    view: &View<'_>,
) -> Option<Vec<(u64, u64)>> {
    let dynamic = segments.iter().find_map(|segment| segment.dynamic(LE, view.file).ok()?)?;
    let mut rela = None;
    let mut rela_size = None;
    let mut symbols = None;
    for entry in dynamic {
        match entry.tag(LE) {
            elf::DT_RELA => rela = rela.or(Some(entry.d_val(LE))),
            elf::DT_RELASZ => rela_size = rela_size.or(Some(entry.d_val(LE))),
            elf::DT_SYMTAB => symbols = symbols.or(Some(entry.d_val(LE))),
            _ => {}
        }
    }
    let (_, bytes) = view.at(rela?)?;
    let size = usize::try_from(rela_size?).ok()?.min(bytes.len());
    let count = size.checked_div(size_of::<Rela64<LE>>())?;
    let (table, _) = object::pod::slice_from_bytes::<Rela64<LE>>(bytes, count).ok()?;
    let symbols = symbols.and_then(|address| view.at(address)).map_or(&[][..], |(_, bytes)| bytes);
    let machine = header.e_machine(LE);
    let mut relocations = Vec::new();
    for rela in table {
        let addend = rela.r_addend(LE);
        let target = match (machine, rela.r_type(LE, false).0) {
            // Relative.
            (elf::EM_X86_64, 8) | (elf::EM_AARCH64, 1027) | (elf::EM_RISCV, 3) => Some(addend as u64),
            // Absolute, 64 bits.
            (elf::EM_X86_64, 1) | (elf::EM_AARCH64, 257) | (elf::EM_RISCV, 2) => {
                symbol(symbols, rela.r_sym(LE, false)).and_then(|address| address.checked_add_signed(addend))
            }
            _ => None,
        };
        relocations.extend(target.map(|target| (rela.r_offset(LE), target)));
    }
    Some(relocations)
}

/// The address of a defined symbol.
fn symbol(symbols: &[u8], index: u32) -> Option<u64> {
    let at = usize::try_from(index).ok()?.checked_mul(size_of::<Sym64<LE>>())?;
    let (symbol, _) = object::pod::from_bytes::<Sym64<LE>>(symbols.get(at..)?).ok()?;
    (!symbol.is_undefined(LE)).then(|| symbol.st_value(LE))
}
