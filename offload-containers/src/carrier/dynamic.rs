//! The addresses of a linked ELF file, and what its dynamic relocations write: by program headers, so that nothing of
//! it is lost when a file is stripped.

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
    let loaded = segments.iter().filter(|segment| segment.p_type(LE) == elf::PT_LOAD);
    // A loader writes the pointers of a program that it may move; one at fixed addresses has them in read-only data.
    let moved = header.e_type(LE) != elf::ET_EXEC;
    let records = |segment: &ProgramHeader64<LE>| match segment.p_flags(LE) {
        flags if flags.contains(elf::PF_W) => Records::Possible,
        flags if moved || flags.contains(elf::PF_X) => Records::None,
        _ => Records::Possible,
    };
    let map = |segment: &ProgramHeader64<LE>| Map {
        address: segment.p_vaddr(LE),
        size: segment.p_filesz(LE),
        offset: segment.p_offset(LE),
        records: records(segment),
    };
    let view = View { file, maps: loaded.map(map).collect(), relocations: Vec::new(), linked: true }.sorted();
    let relocations = relocations(header, segments, &view).unwrap_or_default();
    Some(View { relocations, ..view }.sorted())
}

/// What the table of `DT_RELA` writes; `None` without one. `DT_RELR` leaves addresses where they are.
fn relocations(
    header: &Header,
    segments: &[ProgramHeader64<LE>],
    view: &View<'_>,
) -> Option<Vec<(u64, u64)>> {
    let dynamic = segments.iter().find_map(|segment| segment.dynamic(LE, view.file).ok()?)?;
    let value = |tag| dynamic.iter().find(|entry| entry.tag(LE) == tag).map(|entry| entry.d_val(LE));
    let (_, bytes) = view.at(value(elf::DT_RELA)?)?;
    let size = usize::try_from(value(elf::DT_RELASZ)?).ok()?.min(bytes.len());
    let count = size.checked_div(size_of::<Rela64<LE>>())?;
    let (table, _) = object::pod::slice_from_bytes::<Rela64<LE>>(bytes, count).ok()?;
    let symbols = value(elf::DT_SYMTAB).and_then(|address| view.at(address)).map(|(_, bytes)| bytes);
    let machine = header.e_machine(LE);
    let target = |rela: &Rela64<LE>| {
        let addend = rela.r_addend(LE);
        match (machine, rela.r_type(LE, false).0) {
            (elf::EM_X86_64, 8) | (elf::EM_AARCH64, 1027) | (elf::EM_RISCV, 3) => Some(addend as u64),
            (elf::EM_X86_64, 1) | (elf::EM_AARCH64, 257) | (elf::EM_RISCV, 2) => {
                symbol(symbols?, rela.r_sym(LE, false))?.checked_add_signed(addend)
            }
            _ => None,
        }
    };
    Some(table.iter().filter_map(|rela| Some((rela.r_offset(LE), target(rela)?))).collect())
}

/// The address of a symbol that the file defines.
fn symbol(symbols: &[u8], index: u32) -> Option<u64> {
    let at = usize::try_from(index).ok()?.checked_mul(size_of::<Sym64<LE>>())?;
    let (symbol, _) = object::pod::from_bytes::<Sym64<LE>>(symbols.get(at..)?).ok()?;
    (!symbol.is_undefined(LE)).then(|| symbol.st_value(LE))
}
