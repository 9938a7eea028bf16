//! The size of a 64-bit little-endian ELF file among other bytes (<https://gabi.xinuos.com/elf/02-eheader.html>).

use offload_format::bytes;

const WHAT: &str = "the ELF header";

/// The tables of segments and sections, both within the bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ElfTables {
    segments: Table,
    sections: Table,
}

#[derive(Clone, Copy, Debug)]
struct Table {
    offset: u64,
    step: u64,
    count: u64,
}

/// The positions of the offset and size fields in a header.
#[derive(Clone, Copy, Debug)]
struct RangeFields {
    offset: u64,
    size: u64,
}

const SEGMENT_RANGE: RangeFields = RangeFields { offset: 8, size: 32 };
const SECTION_RANGE: RangeFields = RangeFields { offset: 24, size: 32 };

/// Section types without bytes in the file: `SHT_NOBITS`, and four of NVIDIA's.
const NOBITS: [u32; 5] = [8, 0x7000_0007, 0x7000_0009, 0x7000_000a, 0x7000_0015];

impl ElfTables {
    /// `None` if a table does not fit into `image`.
    pub(super) fn parse(image: &[u8]) -> Option<ElfTables> {
        let segments = Table::parse(image, 32, 54)?;
        let sections = Table::parse(image, 40, 58)?;
        Some(ElfTables { segments, sections })
    }

    /// The size of both tables, in bytes.
    pub(super) fn size(self) -> u64 {
        self.segments.size().saturating_add(self.sections.size())
    }

    /// The end of the last table, segment or section.
    pub(super) fn file_size(self, image: &[u8]) -> Option<u64> {
        let mut end = self.segments.end()?.max(self.sections.end()?).max(64);
        for at in self.segments.headers() {
            end = end.max(SEGMENT_RANGE.end(image, at?)?);
        }
        for at in self.sections.headers() {
            let at = at?;
            if !NOBITS.contains(&bytes::u32_at(image, at.checked_add(4)?, WHAT).ok()?) {
                end = end.max(SECTION_RANGE.end(image, at)?);
            }
        }
        Some(end)
    }
}

impl Table {
    /// Reads the offset of the table at `offset_field`, and the entry size and count at `step_field`.
    fn parse(image: &[u8], offset_field: u64, step_field: u64) -> Option<Table> {
        let offset = bytes::u64_at(image, offset_field, WHAT).ok()?;
        let step = bytes::u16_at(image, step_field, WHAT).ok()?.into();
        let count = bytes::u16_at(image, step_field.checked_add(2)?, WHAT).ok()?.into();
        let table = Table { offset, step, count };
        (table.end()? <= image.len() as u64).then_some(table)
    }

    fn size(self) -> u64 {
        self.step.saturating_mul(self.count)
    }

    fn end(self) -> Option<u64> {
        self.offset.checked_add(self.step.checked_mul(self.count)?)
    }

    /// The offset of each header.
    fn headers(self) -> impl Iterator<Item = Option<u64>> {
        (0..self.count).map(move |number| self.offset.checked_add(number.checked_mul(self.step)?))
    }
}

impl RangeFields {
    /// The end of the range in the header at `at`.
    fn end(self, image: &[u8], at: u64) -> Option<u64> {
        let offset = bytes::u64_at(image, at.checked_add(self.offset)?, WHAT).ok()?;
        let size = bytes::u64_at(image, at.checked_add(self.size)?, WHAT).ok()?;
        offset.checked_add(size)
    }
}
