//! The ELF symbol filter: transposition and delta coding of symbol tables.
//!
//! A quarter of an unstripped code object of many kernels is symbols, in which a compressor finds few matches record by
//! record. Every symbol table of a 64-bit little-endian ELF file is transposed in place, with names and values as
//! differences to the previous record. Headers stay as they are, so that the inverse finds the same tables.
//! Records are those of the System V ABI, chapter 4, <https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.symtab.html>.

use std::ops::Range;

use super::columns::{Shape, transpose};
use crate::{Error, ErrorKind, bytes};

const WHAT: &str = "the ELF file";
const RECORD: usize = 24;
const SECTION_HEADER: u64 = 64;
const FILE_HEADER: u64 = 64;
const SHT_SYMTAB: u32 = 2;
const SHT_DYNSYM: u32 = 11;
/// The delta-coded fields: `st_name`, `st_value`.
const DELTA_FIELDS: [Field; 2] = [Field { start: 0, size: 4 }, Field { start: 8, size: 8 }];

/// Applies the filter; `None` for another file, or one without symbol tables.
pub(super) fn forward(image: &[u8]) -> Option<Vec<u8>> {
    let tables = tables(image).ok().filter(|tables| !tables.is_empty())?;
    let mut out = super::memory::copy(image);
    for table in tables {
        let mut records = image.get(table.clone())?.to_vec();
        delta_encode(&mut records);
        let planes = out.get_mut(table)?;
        transpose(&records, planes, Shape { row: RECORD, rows: planes.len() / RECORD });
    }
    Some(out)
}

/// Inverts the filter.
pub(super) fn inverse(mut content: Vec<u8>) -> Result<Vec<u8>, Error> {
    for table in tables(&content)? {
        let records = content.get_mut(table).ok_or_else(damaged)?;
        let planes = records.to_vec();
        transpose(&planes, records, Shape { row: planes.len() / RECORD, rows: RECORD });
        delta_decode(records);
    }
    Ok(content)
}

/// The ranges of the symbol tables, which overlap neither headers nor each other.
fn tables(file: &[u8]) -> Result<Vec<Range<usize>>, Error> {
    let ident: [u8; 6] = bytes::array(file, 0, WHAT)?;
    if ident != [0x7f, b'E', b'L', b'F', 2, 1] {
        return Err(ErrorKind::Magic { what: "a 64-bit little-endian ELF file" }.into());
    }
    let start = bytes::u64_at(file, 0x28, WHAT)?;
    let step = bytes::u16_at(file, 0x3a, WHAT)?;
    let count = bytes::u16_at(file, 0x3c, WHAT)?;
    if u64::from(step) != SECTION_HEADER {
        return Err(Error::invalid("the size of a section header", step.into()));
    }
    let size = SECTION_HEADER.saturating_mul(count.into());
    let headers = bytes::range(file, start, size, "the section headers")?;
    let mut occupied = vec![0..FILE_HEADER, start..start.saturating_add(size)];
    let mut tables = Vec::new();
    for header in headers.chunks_exact(SECTION_HEADER as usize) {
        let Some(table) = table(file, header)? else { continue };
        if occupied.iter().any(|other| other.start < table.end && table.start < other.end) {
            return Err(Error::invalid("the offset of a symbol table", table.start));
        }
        occupied.push(table.clone());
        tables.push(usize_of(table.start)?..usize_of(table.end)?);
    }
    Ok(tables)
}

fn table(file: &[u8], header: &[u8]) -> Result<Option<Range<u64>>, Error> {
    let kind = bytes::u32_at(header, 4, WHAT)?;
    let record = bytes::u64_at(header, 56, WHAT)?;
    let offset = bytes::u64_at(header, 24, WHAT)?;
    let size = bytes::u64_at(header, 32, WHAT)?;
    if !matches!(kind, SHT_SYMTAB | SHT_DYNSYM) || record != RECORD as u64 || size < RECORD as u64 {
        return Ok(None);
    }
    let whole = size.checked_div(RECORD as u64).unwrap_or(0).saturating_mul(RECORD as u64);
    bytes::range(file, offset, whole, "the symbol table")?;
    Ok(Some(offset..offset.saturating_add(whole)))
}

fn delta_encode(records: &mut [u8]) {
    let mut previous = [0; 2];
    for record in records.chunks_exact_mut(RECORD) {
        for (field, previous) in DELTA_FIELDS.into_iter().zip(&mut previous) {
            let value = field.get(record);
            field.put(record, value.wrapping_sub(*previous));
            *previous = value;
        }
    }
}

fn delta_decode(records: &mut [u8]) {
    let mut previous = [0u64; 2];
    for record in records.chunks_exact_mut(RECORD) {
        for (field, previous) in DELTA_FIELDS.into_iter().zip(&mut previous) {
            *previous = previous.wrapping_add(field.get(record));
            field.put(record, *previous);
        }
    }
}

/// A field of a record, in bytes.
#[derive(Clone, Copy)]
struct Field {
    start: usize,
    size: usize,
}

impl Field {
    fn get(self, record: &[u8]) -> u64 {
        let bytes = record.iter().skip(self.start).take(self.size).rev();
        bytes.fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    /// Differences of 32-bit fields wrap at 32 bits, because only their low bytes are kept.
    fn put(self, record: &mut [u8], value: u64) {
        let slots = record.iter_mut().skip(self.start).take(self.size);
        slots.zip(value.to_le_bytes()).for_each(|(slot, byte)| *slot = byte);
    }
}

fn usize_of(value: u64) -> Result<usize, Error> {
    usize::try_from(value).map_err(|_| Error::invalid("the offset of a symbol table", value))
}

fn damaged() -> Error {
    ErrorKind::Damaged { what: "the symbol tables of the image" }.into()
}
