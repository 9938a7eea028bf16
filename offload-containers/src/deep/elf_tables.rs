//! How large a 64-bit little-endian ELF file is that lies among other bytes
//! (<https://gabi.xinuos.com/elf/02-eheader.html>).

use offload_format::bytes;

const WHAT: &str = "the ELF header";

/// The tables of segments and sections; both lie within the bytes.
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

/// Where a header says what it describes.
#[derive(Clone, Copy, Debug)]
struct Fields {
    offset: u64,
    size: u64,
}

const OF_SEGMENT: Fields = Fields { offset: 8, size: 32 };
const OF_SECTION: Fields = Fields { offset: 24, size: 32 };

/// Types of sections of which nothing lies in the file: the bss of all, and four of NVIDIA's.
const NOBITS: [u32; 5] = [8, 0x7000_0007, 0x7000_0009, 0x7000_000a, 0x7000_0015];

impl ElfTables {
    /// `None` if one of them does not fit into `image`.
    pub(super) fn of(image: &[u8]) -> Option<ElfTables> {
        let table = |offset, step| {
            let u16_at = |at| bytes::u16_at(image, at, WHAT).ok().map(u64::from);
            let offset = bytes::u64_at(image, offset, WHAT).ok()?;
            Some(Table { offset, step: u16_at(step)?, count: u16_at(step.checked_add(2)?)? })
        };
        let (segments, sections) = (table(32, 54)?, table(40, 58)?);
        let fits = |table: Table| table.end().is_some_and(|end| end <= image.len() as u64);
        (fits(segments) && fits(sections)).then_some(ElfTables { segments, sections })
    }

    /// How much has to be looked at to know the size of the file.
    pub(super) fn size(self) -> u64 {
        let size = |table: Table| table.step.saturating_mul(table.count);
        size(self.segments).saturating_add(size(self.sections))
    }

    /// Where the last of tables, segments and sections ends.
    pub(super) fn file_size(self, image: &[u8]) -> Option<u64> {
        let mut end = self.segments.end()?.max(self.sections.end()?).max(64);
        for at in self.segments.headers() {
            end = end.max(OF_SEGMENT.end(image, at?)?);
        }
        for at in self.sections.headers() {
            let at = at?;
            if !NOBITS.contains(&bytes::u32_at(image, at.checked_add(4)?, WHAT).ok()?) {
                end = end.max(OF_SECTION.end(image, at)?);
            }
        }
        Some(end)
    }
}

impl Table {
    fn end(self) -> Option<u64> {
        self.offset.checked_add(self.step.checked_mul(self.count)?)
    }

    /// Where each header starts.
    fn headers(self) -> impl Iterator<Item = Option<u64>> {
        (0..self.count).map(move |number| self.offset.checked_add(number.checked_mul(self.step)?))
    }
}

impl Fields {
    /// Where the bytes end that the header at `at` describes.
    fn end(self, image: &[u8], at: u64) -> Option<u64> {
        let field = |offset: u64| bytes::u64_at(image, at.checked_add(offset)?, WHAT).ok();
        field(self.offset)?.checked_add(field(self.size)?)
    }
}
