//! The address space of relocatable objects and of Windows programs.

use object::read::{Object, ObjectSection, ObjectSymbol, Relocation, RelocationTarget, SectionIndex};
use object::{AddressSize, File, ObjectKind, RelocationKind, Section, SectionKind};

use super::roles;
use super::view::{Map, Records, View};
use offload_format::limits::Budget;
use offload_format::{Error, bytes};

/// Size of COFF's relocations in bytes; those of ELF are larger.
const SMALLEST_RELOCATION: u64 = 10;

/// The sections of an object, with their file offsets as addresses.
pub(super) fn object_view<'a>(
    file: &'a [u8],
    object: &File<'a>,
    budget: &mut Budget,
) -> Result<View<'a>, Error> {
    let mut maps = Vec::new();
    for section in object.sections() {
        if let Some((offset, size)) = section.file_range() {
            maps.push(Map { address: offset, size, offset, records: records(&section) });
        }
    }
    let mut view = View { file, maps, relocations: Vec::new(), linked: false }.sorted();
    for section in object.sections() {
        let Some((base, _)) = section.file_range() else { continue };
        for (offset, relocation) in section.relocations() {
            budget.spend(SMALLEST_RELOCATION)?;
            if let Some(address) = base.checked_add(offset)
                && let Some(target) = target(&view, object, address, &relocation)
            {
                view.relocations.push((address, target));
            }
        }
    }
    Ok(view.sorted())
}

/// The sections of a program at the addresses for which it was linked; its file has the pointers for them.
pub(super) fn program_view<'a>(file: &'a [u8], program: &File<'a>) -> View<'a> {
    let mut maps = Vec::new();
    for section in program.sections() {
        if let Some((offset, size)) = section.file_range() {
            maps.push(Map { address: section.address(), size, offset, records: records(&section) });
        }
    }
    View { file, maps, relocations: Vec::new(), linked: true }.sorted()
}

/// Whether pointers can be followed: 64 bits, little-endian, and no chained fixups of Mach-O.
pub(super) fn has_plain_pointers(object: &File<'_>) -> bool {
    let plain = matches!(
        object.format(),
        object::BinaryFormat::Elf | object::BinaryFormat::Coff | object::BinaryFormat::Pe
    );
    // The pointer width of a COFF object is that of its machine.
    let wide = object.architecture().address_size() == Some(AddressSize::U64);
    plain && wide && object.is_little_endian()
}

/// Whether it is relocatable.
pub(super) fn is_object(object: &File<'_>) -> bool {
    object.kind() == ObjectKind::Relocatable
}

fn records(section: &Section<'_, '_>) -> Records {
    match section.kind() {
        _ if section.name_bytes().is_ok_and(roles::is_container) => Records::None,
        SectionKind::Text | SectionKind::Debug | SectionKind::Metadata => Records::None,
        _ => Records::Possible,
    }
}

/// The pointer that `relocation` writes at `address`.
fn target(view: &View<'_>, object: &File<'_>, address: u64, relocation: &Relocation) -> Option<u64> {
    if relocation.kind() != RelocationKind::Absolute || relocation.size() != 64 {
        return None;
    }
    let symbol_address = match relocation.target() {
        RelocationTarget::Symbol(index) => {
            let symbol = object.symbol_by_index(index).ok()?;
            section_offset(object, symbol.section_index()?)?.checked_add(symbol.address())?
        }
        RelocationTarget::Section(index) => section_offset(object, index)?,
        _ => return None,
    };
    let target = symbol_address.checked_add_signed(relocation.addend())?;
    if !relocation.has_implicit_addend() {
        return Some(target);
    }
    target.checked_add(bytes::u64_at(view.at(address)?.1, 0, "addend").ok()?)
}

fn section_offset(object: &File<'_>, index: SectionIndex) -> Option<u64> {
    let (offset, _) = object.section_by_index(index).ok()?.file_range()?;
    Some(offset)
}
