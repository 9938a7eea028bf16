//! The view of files that no loader of ELF programs reads: objects, and Windows programs.

use object::read::{Object, ObjectSection, ObjectSymbol, Relocation, RelocationTarget, SectionIndex};
use object::{AddressSize, File, ObjectKind, RelocationKind, Section, SectionKind};

use super::roles;
use super::view::{Map, Records, View};
use offload_format::limits::Budget;
use offload_format::{Error, bytes};

/// Size of COFF's relocations in bytes; those of ELF are larger.
const SMALLEST_RELOCATION: u64 = 10;

/// An object's sections, where they lie in the file.
pub(super) fn object_view<'a>(
    file: &'a [u8],
    object: &File<'a>,
    budget: &mut Budget,
) -> Result<View<'a>, Error> {
    let map = |section: Section<'a, '_>| {
        let (offset, size) = section.file_range()?;
        Some(Map { address: offset, size, offset, records: records(&section) })
    };
    let maps = object.sections().filter_map(map).collect();
    let mut view = View { file, maps, relocations: Vec::new(), linked: false }.sorted();
    for section in object.sections() {
        let Some((base, _)) = section.file_range() else { continue };
        for (offset, relocation) in section.relocations() {
            budget.spend(SMALLEST_RELOCATION)?;
            let place = base.checked_add(offset);
            let target = place.and_then(|place| target(&view, object, place, &relocation));
            view.relocations.extend(place.zip(target));
        }
    }
    Ok(view.sorted())
}

/// The sections of a program that is loaded at the address it was linked for, or moved by adding to its pointers.
pub(super) fn program_view<'a>(file: &'a [u8], program: &File<'a>) -> View<'a> {
    let map = |section: Section<'a, '_>| {
        let (offset, size) = section.file_range()?;
        Some(Map { address: section.address(), size, offset, records: records(&section) })
    };
    let maps = program.sections().filter_map(map).collect();
    View { file, maps, relocations: Vec::new(), linked: true }.sorted()
}

/// Whether pointers are understood: 64 bits, little-endian, and not the chains of Mach-O.
pub(super) fn has_plain_pointers(object: &File<'_>) -> bool {
    let plain = matches!(
        object.format(),
        object::BinaryFormat::Elf | object::BinaryFormat::Coff | object::BinaryFormat::Pe
    );
    // A COFF object tells no width of its own but its machine's.
    let wide = object.architecture().address_size() == Some(AddressSize::U64);
    plain && wide && object.is_little_endian()
}

/// Whether a linker has not seen it yet.
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

/// The address that `relocation` writes at `place`.
fn target(view: &View<'_>, object: &File<'_>, place: u64, relocation: &Relocation) -> Option<u64> {
    if relocation.kind() != RelocationKind::Absolute || relocation.size() != 64 {
        return None;
    }
    let base =
        |index: SectionIndex| object.section_by_index(index).ok()?.file_range().map(|(offset, _)| offset);
    let start = match relocation.target() {
        RelocationTarget::Symbol(index) => {
            let symbol = object.symbol_by_index(index).ok()?;
            base(symbol.section_index()?)?.checked_add(symbol.address())?
        }
        RelocationTarget::Section(index) => base(index)?,
        _ => return None,
    };
    let start = start.checked_add_signed(relocation.addend())?;
    // COFF has the addend where the address will be.
    let implicit = if relocation.has_implicit_addend() {
        bytes::u64_at(view.at(place)?.1, 0, "addend").ok()?
    } else {
        0
    };
    start.checked_add(implicit)
}
