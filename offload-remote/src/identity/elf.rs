//! The dynamic section of ELF files: DT_NEEDED, RPATH and RUNPATH. A few pages of a large file are read.
//!
//! <https://www.sco.com/developers/gabi/latest/ch5.dynamic.html>

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use object::elf::{
    self, DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_STRSZ, DT_STRTAB, FileHeader32, FileHeader64, PT_LOAD,
};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, FileKind, ReadCache, ReadRef};

/// The dependencies of an ELF file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// `None` for other files.
    pub(super) kind: Option<ObjectClass>,
    /// Names or paths (DT_NEEDED).
    pub(super) libraries: Vec<String>,
    /// RUNPATH, with its variables.
    pub(super) run_path: Vec<String>,
    /// RPATH, ignored where there is a RUNPATH.
    pub(super) old_run_path: Vec<String>,
    /// The dynamic loader (PT_INTERP).
    pub(super) interpreter: Option<PathBuf>,
}

/// Objects of one class and machine can be linked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ObjectClass {
    machine: u16,
    is_64: bool,
}

/// Reads the dependencies of the file at `path`; empty if it is not ELF.
///
/// # Errors
/// If it cannot be read, or is malformed.
pub(super) fn needs(path: &Path) -> io::Result<Needs> {
    let data = ReadCache::new(File::open(path)?);
    let read = match FileKind::parse(&data) {
        Ok(FileKind::Elf32) => read::<FileHeader32<Endianness>>(&data),
        Ok(FileKind::Elf64) => read::<FileHeader64<Endianness>>(&data),
        _ => return Ok(Needs::default()),
    };
    read.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn read<E: FileHeader<Endian = Endianness>>(data: &ReadCache<File>) -> object::Result<Needs> {
    let header = E::parse(data)?;
    let endian = header.endian()?;
    let kind = Some(ObjectClass { machine: header.e_machine(endian).0, is_64: header.is_class_64() });
    let segments = header.program_headers(endian, data)?;
    let mut needs = Needs { kind, ..Needs::default() };
    let mut dynamics: &[E::Dyn] = &[];
    for segment in segments {
        if let Some(interpreter) = segment.interpreter(endian, data)? {
            needs.interpreter = std::str::from_utf8(interpreter).ok().map(PathBuf::from);
        }
        if let Some(found) = segment.dynamic(endian, data)? {
            dynamics = found;
        }
    }
    let mut table_address: Option<u64> = None;
    let mut table_size: Option<u64> = None;
    for entry in dynamics {
        match entry.d_tag(endian) {
            DT_STRTAB => table_address.get_or_insert(entry.d_val(endian).into()),
            DT_STRSZ => table_size.get_or_insert(entry.d_val(endian).into()),
            _ => continue,
        };
    }
    let Some((address, size)) = table_address.zip(table_size) else { return Ok(needs) };
    // `data_range` of a segment also reads everything before it, most of a large library.
    let offset = segments.iter().filter(|segment| segment.p_type(endian) == PT_LOAD).find_map(|segment| {
        let inside = address.checked_sub(segment.p_vaddr(endian).into())?;
        let offset: u64 = segment.p_offset(endian).into();
        (inside < segment.p_filesz(endian).into()).then(|| offset.checked_add(inside))?
    });
    let strings = offset.and_then(|offset| data.read_bytes_at(offset, size).ok());
    let Some(strings) = strings else { return Ok(needs) };
    for entry in dynamics {
        let text = text_at(strings, entry.d_val(endian).into());
        match entry.d_tag(endian) {
            elf::DT_NULL => break,
            DT_NEEDED => needs.libraries.extend(text),
            DT_RUNPATH => needs.run_path.extend(text.iter().flat_map(|text| parts(text))),
            DT_RPATH => needs.old_run_path.extend(text.iter().flat_map(|text| parts(text))),
            _ => {}
        }
    }
    Ok(needs)
}

fn text_at(strings: &[u8], offset: u64) -> Option<String> {
    let rest = strings.get(usize::try_from(offset).ok()?..)?;
    let text = rest.split(|byte| *byte == 0).next()?;
    std::str::from_utf8(text).ok().map(str::to_string)
}

fn parts(text: &str) -> Vec<String> {
    text.split(':').filter(|part| !part.is_empty()).map(str::to_string).collect()
}
