//! Data after the end of a program: installers, AppImages and self-extracting archives store their content there.

use object::read::elf::{FileHeader, SectionHeader};
use object::read::pe::ImageNtHeaders;
use object::{Endianness, FileKind, Object, ObjectSection, ObjectSegment, elf, pe};

use super::form::Form;

/// Below this it is a signature, a name or a check sum.
const LEAST: usize = 64 << 10;
/// To what linkers and packers align.
const ALIGNMENTS: [usize; 4] = [1, 16, 512, 4096];

/// Describes the data after the program in `file` if it may be an archive; `None` for a file that is not a program.
pub(super) fn to_program(file: &[u8]) -> Option<String> {
    let end = end(file)?;
    let rest = file.get(end..).filter(|rest| !rest.is_empty())?;
    let starts = ALIGNMENTS.iter().filter_map(|alignment| file.get(end.next_multiple_of(*alignment)..));
    if let Some(Form::Unread(name)) = starts.filter_map(Form::detect).next() {
        return Some(format!("bytes as of {name} follow the program"));
    }
    let starts = ALIGNMENTS.iter().filter_map(|alignment| file.get(end.next_multiple_of(*alignment)..));
    if starts.filter_map(Form::detect).next().is_some() {
        return Some("an archive or a compressed file follows the program".to_string());
    }
    let is_content = rest.len() >= LEAST && rest.iter().any(|byte| *byte != 0);
    is_content.then(|| format!("{} bytes follow the program", rest.len()))
}

/// The end of the program by its own tables.
fn end(file: &[u8]) -> Option<usize> {
    let tables = match FileKind::parse(file).ok()? {
        FileKind::Elf64 => elf_tables::<elf::FileHeader64<Endianness>>(file)?,
        FileKind::Elf32 => elf_tables::<elf::FileHeader32<Endianness>>(file)?,
        FileKind::Pe64 => certificates::<pe::ImageNtHeaders64>(file)?,
        FileKind::Pe32 => certificates::<pe::ImageNtHeaders32>(file)?,
        _ => return None,
    };
    let program = object::File::parse(file).ok()?;
    let sections = program.sections().filter_map(|section| section.file_range());
    let segments = program.segments().map(|segment| segment.file_range());
    let ends = sections.chain(segments).map(|(start, size)| start.saturating_add(size));
    let end = ends.chain([tables]).max().unwrap_or_default();
    usize::try_from(end).ok().filter(|end| *end <= file.len())
}

/// The end of the tables of sections and segments.
fn elf_tables<E: FileHeader<Endian = Endianness>>(file: &[u8]) -> Option<u64> {
    let header = E::parse(file).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.section_headers(endian, file).ok()?;
    let table: u64 = header.e_shoff(endian).into();
    let table = table.saturating_add(size_of_val(sections) as u64);
    let segments: u64 = header.e_phoff(endian).into();
    let segments = segments.saturating_add(size_of_val(header.program_headers(endian, file).ok()?) as u64);
    let content = sections.iter().filter_map(|section| section.file_range(endian));
    let content = content.map(|(start, size)| start.saturating_add(size)).max().unwrap_or_default();
    Some(table.max(segments).max(content))
}

/// The end of the signatures, which follow a program of Windows, and of its headers.
fn certificates<P: ImageNtHeaders>(file: &[u8]) -> Option<u64> {
    let program = object::read::pe::PeFile::<P>::parse(file).ok()?;
    let table = program.data_directory(pe::IMAGE_DIRECTORY_ENTRY_SECURITY);
    // Here alone the address is that in the file.
    let range = table
        .map(|table| (table.virtual_address.get(object::LittleEndian), table.size.get(object::LittleEndian)));
    let (start, size) = range.unwrap_or_default();
    // A program in a COFF symbol table has its names behind it.
    let symbols =
        u64::from(program.nt_headers().file_header().pointer_to_symbol_table.get(object::LittleEndian));
    let count = u64::from(program.nt_headers().file_header().number_of_symbols.get(object::LittleEndian));
    let names = symbols.saturating_add(count.saturating_mul(18));
    let length = file.get(usize::try_from(names).ok()?..).and_then(|rest| rest.first_chunk::<4>());
    let names_end = match (symbols, length) {
        (0, _) | (_, None) => 0,
        (_, Some(length)) => names.saturating_add(u64::from(u32::from_le_bytes(*length))),
    };
    Some(u64::from(start).saturating_add(u64::from(size)).max(names_end))
}
