//! Access to the tables, records and texts of an index or of a page.

use std::ops::Range;

use super::layout::{
    ARG_RECORD, BLOCK_RECORD, DETAILS_RECORD, DIRECTORY_ENTRY, IMAGE_RECORD, KERNEL_RECORD, META_RECORD,
    MISSING_RECORD, NONE, PAGE_RECORD, TABLE_ARGS, TABLE_BLOCKS, TABLE_DETAILS, TABLE_IMAGES, TABLE_KERNELS,
    TABLE_META, TABLE_MISSING, TABLE_PAGES, TABLE_PARENTS, TABLE_STRINGS,
};
use crate::codec::columns::Shape;
use crate::{Error, bytes};

/// The reference at `offset` of `record`; `None` for [`NONE`].
pub(super) fn reference(record: &[u8], offset: u64, what: &'static str) -> Result<Option<u32>, Error> {
    let number = bytes::u32_at(record, offset, what)?;
    Ok((number != NONE).then_some(number))
}

/// The tables of a directory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tables<'a> {
    bytes: &'a [u8],
    strings: Table,
    pub(super) meta: Table,
    pub(super) images: Table,
    pub(super) kernels: Table,
    pub(super) details: Table,
    pub(super) args: Table,
    pub(super) blocks: Table,
    pub(super) missing: Table,
    pub(super) pages: Table,
    pub(super) parents: Table,
    /// End of the directory and of the last table.
    pub(super) end: u64,
}

/// Records of one size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Table {
    offset: u64,
    record_size: u64,
    pub(super) count: u64,
}

/// A range of records in a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordRange {
    pub(super) first: u32,
    pub(super) count: u32,
}

impl<'a> Tables<'a> {
    /// Reads the directory whose offset, number of entries and size of an entry are at offset `at` of `bytes`.
    pub(super) fn read(bytes: &'a [u8], at: u64) -> Result<Tables<'a>, Error> {
        const WHAT: &str = "the table directory";
        let start = bytes::u64_at(bytes, at, WHAT)?;
        let count = u64::from(bytes::u32_at(bytes, at.saturating_add(8), WHAT)?);
        let step = u64::from(bytes::u32_at(bytes, at.saturating_add(12), WHAT)?);
        if step < DIRECTORY_ENTRY {
            return Err(Error::invalid("the size of a directory entry", step));
        }
        let size = count.checked_mul(step).ok_or_else(|| Error::invalid("the number of tables", count))?;
        let directory = bytes::range(bytes, start, size, WHAT)?;
        let mut tables = Tables::new(bytes);
        tables.end = start.saturating_add(size);
        for entry in directory.chunks_exact(usize::try_from(step).unwrap_or(usize::MAX)) {
            tables.add(entry)?;
        }
        Ok(tables)
    }

    fn new(bytes: &'a [u8]) -> Tables<'a> {
        Tables {
            bytes,
            strings: Table::default(),
            meta: Table::default(),
            images: Table::default(),
            kernels: Table::default(),
            details: Table::default(),
            args: Table::default(),
            blocks: Table::default(),
            missing: Table::default(),
            pages: Table::default(),
            parents: Table::default(),
            end: 0,
        }
    }

    /// Adds the table of a directory entry; one of an unknown kind only extends the end.
    fn add(&mut self, entry: &[u8]) -> Result<(), Error> {
        const WHAT: &str = "the table directory";
        let table = Table {
            record_size: bytes::u16_at(entry, 2, WHAT)?.into(),
            offset: bytes::u32_at(entry, 4, WHAT)?.into(),
            count: bytes::u32_at(entry, 8, WHAT)?.into(),
        };
        self.end = self.end.max(table.end());
        let (slot, least) = match bytes::u16_at(entry, 0, WHAT)? {
            TABLE_STRINGS => (&mut self.strings, 1),
            TABLE_META => (&mut self.meta, META_RECORD),
            TABLE_IMAGES => (&mut self.images, IMAGE_RECORD),
            TABLE_KERNELS => (&mut self.kernels, KERNEL_RECORD),
            TABLE_DETAILS => (&mut self.details, DETAILS_RECORD),
            TABLE_ARGS => (&mut self.args, ARG_RECORD),
            TABLE_BLOCKS => (&mut self.blocks, BLOCK_RECORD),
            TABLE_MISSING => (&mut self.missing, MISSING_RECORD),
            TABLE_PAGES => (&mut self.pages, PAGE_RECORD),
            TABLE_PARENTS => (&mut self.parents, IMAGE_RECORD),
            _ => return Ok(()),
        };
        table.check(self.bytes, least)?;
        *slot = table;
        Ok(())
    }

    /// The byte ranges and shapes of the tables of records.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (Range<usize>, Shape)> + use<> {
        let tables = [
            self.meta,
            self.images,
            self.kernels,
            self.details,
            self.args,
            self.blocks,
            self.missing,
            self.pages,
            self.parents,
        ];
        tables.into_iter().filter_map(Table::range)
    }

    /// The text referenced at offset `field` of `record`.
    pub(super) fn text(&self, record: &[u8], field: u64) -> Result<&'a str, Error> {
        let offset = u64::from(bytes::u32_at(record, field, "the text reference")?);
        let size = u64::from(bytes::u32_at(record, field.saturating_add(4), "the text reference")?);
        if offset.checked_add(size).is_none_or(|end| end > self.strings.count) {
            return Err(Error::truncated("the text", offset, size));
        }
        let start = self
            .strings
            .offset
            .checked_add(offset)
            .ok_or_else(|| Error::invalid("the text offset", offset))?;
        bytes::text_at(self.bytes, start, size, "the text")
    }

    /// The size of `record` with the texts referenced at the offsets `fields`.
    pub(super) fn text_sizes(&self, record: &[u8], fields: &[u64]) -> Result<u64, Error> {
        let mut sum = record.len() as u64;
        for field in fields {
            let size = bytes::u32_at(record, field.saturating_add(4), "the text reference")?;
            sum = sum.saturating_add(size.into());
        }
        Ok(sum)
    }

    /// Record number `index` of `table`.
    pub(super) fn record(&self, table: Table, index: u64) -> Result<&'a [u8], Error> {
        table.record(self.bytes, index)
    }

    /// All records of `table`.
    pub(super) fn records(&self, table: Table) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let bytes = self.bytes;
        // `Table::check` has verified the bounds of every record.
        (0..table.count).filter_map(move |index| table.record(bytes, index).ok())
    }

    /// The records of `table` in `range`; an error if one of them does not exist.
    pub(super) fn all(
        &self,
        table: Table,
        range: RecordRange,
    ) -> Result<impl Iterator<Item = &'a [u8]> + use<'a>, Error> {
        let first = u64::from(range.first);
        let count = u64::from(range.count);
        if first.saturating_add(count) > table.count {
            return Err(Error::invalid("the record reference", first));
        }
        // `Table::check` has verified that the products do not overflow.
        let start = table.offset.saturating_add(first.saturating_mul(table.record_size));
        let size = count.saturating_mul(table.record_size);
        let records = bytes::range(self.bytes, start, size, "the record")?;
        Ok(records.chunks_exact(usize::try_from(table.record_size).unwrap_or(usize::MAX).max(1)))
    }

    /// The records of `table` in `range`, to the first one that does not exist.
    pub(super) fn some(
        &self,
        table: Table,
        range: RecordRange,
    ) -> impl Iterator<Item = Result<&'a [u8], Error>> + use<'a> {
        let bytes = self.bytes;
        let first = u64::from(range.first);
        (first..first.saturating_add(range.count.into())).map_while({
            let mut failed = false;
            move |index| {
                let record = (!failed).then(|| table.record(bytes, index))?;
                // One error is enough: a damaged count must not yield four billion of them.
                failed = record.is_err();
                Some(record)
            }
        })
    }
}

impl Table {
    /// Its end, unchecked: tables of unknown kinds have one too.
    fn end(&self) -> u64 {
        self.record_size.saturating_mul(self.count).saturating_add(self.offset)
    }

    /// Its byte range and shape.
    fn range(self) -> Option<(Range<usize>, Shape)> {
        let row = usize::try_from(self.record_size).ok()?;
        let rows = usize::try_from(self.count).ok()?;
        let start = usize::try_from(self.offset).ok()?;
        let end = start.checked_add(row.checked_mul(rows)?)?;
        Some((start..end, Shape { row, rows }))
    }

    fn check(&self, index: &[u8], least: u64) -> Result<(), Error> {
        if self.record_size < least {
            return Err(Error::invalid("the record size of a table", self.record_size));
        }
        let size = self.record_size.checked_mul(self.count);
        let size = size.ok_or_else(|| Error::invalid("the record count of a table", self.count))?;
        bytes::range(index, self.offset, size, "the table").map(drop)
    }

    fn record<'a>(&self, bytes: &'a [u8], index: u64) -> Result<&'a [u8], Error> {
        if index >= self.count {
            return Err(Error::invalid("the record reference", index));
        }
        let offset = index.checked_mul(self.record_size).and_then(|skip| skip.checked_add(self.offset));
        bytes::range(bytes, offset.unwrap_or(u64::MAX), self.record_size, "the record")
    }
}
