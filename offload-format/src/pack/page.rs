//! Pages of an index: compressed groups of image records, decoded on first use. What only an open kernel needs is apart.

use std::sync::OnceLock;

use super::record::Image;
use super::tables::{RecordRange, Tables, reference};
use crate::codec::columns::transpose;
use crate::codec::{Codec, Expected, Filter, MAX_BLOCK, inflate};
use crate::{Aspects, Error, ErrorKind, Hash128, ImageKind, OffloadKind, bytes};

/// The decoded pages of one pack's index; the index of many images is compressed in pages.
///
/// It belongs to one pack and outlives everything read from it; see [`Pack::parse`](super::Pack::parse).
#[derive(Debug, Default)]
pub struct Pages {
    cells: OnceLock<Vec<PageCells>>,
}

type Cell = OnceLock<Result<Vec<u8>, Error>>;

/// The parts of a page.
#[derive(Debug, Default)]
struct PageCells {
    images: Cell,
    details: Cell,
}

/// A part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Images, and what the selection of one needs.
    Images,
    /// Arguments and resources of kernels.
    Details,
}

impl Pages {
    /// The number of decoded pages.
    pub fn decoded(&self) -> usize {
        self.cells.get().into_iter().flatten().filter(|cells| cells.images.get().is_some()).count()
    }

    /// The number of pages of which kernels have been read: their details are decoded.
    pub fn decoded_details(&self) -> usize {
        self.cells.get().into_iter().flatten().filter(|cells| cells.details.get().is_some()).count()
    }

    /// The content of a part of page `number` of `count`, decoded by `decode` on first use.
    pub(super) fn page(
        &self,
        (number, count): (u32, u32),
        part: Part,
        decode: impl FnOnce() -> Result<Vec<u8>, Error>,
    ) -> Result<&[u8], Error> {
        let cells = self.cells.get_or_init(|| (0..count).map(|_| PageCells::default()).collect());
        let cells =
            cells.get(number as usize).ok_or_else(|| Error::invalid("the page of a pack", number.into()))?;
        let cell = if part == Part::Images { &cells.images } else { &cells.details };
        cell.get_or_init(decode).as_deref().map_err(Clone::clone)
    }
}

/// Consecutive images with their kernels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page<'a> {
    pub(super) tables: Tables<'a>,
    /// `None` for the images of an index without pages.
    pub(super) number: Option<u32>,
    /// The number of its first image.
    pub(super) first: u32,
    /// The base of the offsets of frames.
    pub(super) base: u64,
}

impl<'a> Page<'a> {
    /// All images.
    pub(super) fn images(self) -> impl Iterator<Item = Result<Image<'a>, Error>> + use<'a> {
        let count = u32::try_from(self.tables.images.count).unwrap_or(u32::MAX);
        (0..count).map(move |index| self.image(index))
    }

    /// Image number `index` of the page.
    pub(super) fn image(&self, index: u32) -> Result<Image<'a>, Error> {
        image(self, index, self.tables.record(self.tables.images, index.into())?)
    }

    /// The partition point of the images by module: the number of the first one for whose module `before` is false.
    pub(super) fn partition_point(&self, before: &dyn Fn(&str) -> bool) -> Result<u32, Error> {
        let index = partition_point(self.tables.images.count, &|index| Ok(before(self.module(index)?)))?;
        u32::try_from(index.saturating_add(self.first.into()))
            .map_err(|_| Error::invalid("the number of images", index))
    }

    /// The records of the kernels of `image`, which is in this page.
    pub(super) fn kernel_records(
        &self,
        image: &Image<'_>,
    ) -> Result<impl Iterator<Item = &'a [u8]> + use<'a>, Error> {
        let range = RecordRange { first: image.first_kernel, count: image.kernel_count };
        self.tables.all(self.tables.kernels, range)
    }

    /// The module of image number `index` of the page.
    fn module(&self, index: u64) -> Result<&'a str, Error> {
        self.tables.text(self.tables.record(self.tables.images, index)?, 0)
    }
}

/// Image number `index` of `page`.
pub(super) fn image<'a>(page: &Page<'a>, index: u32, record: &[u8]) -> Result<Image<'a>, Error> {
    const WHAT: &str = "the image record";
    let tables = &page.tables;
    let block = reference(record, 36, WHAT)?;
    let recorded = bytes::u64_at(record, 40, WHAT)?;
    // In a block the offset is relative to the block's content.
    let offset = if block.is_some() { Some(recorded) } else { recorded.checked_add(page.base) };
    Ok(Image {
        number: page.first.saturating_add(index),
        page: page.number,
        module: tables.text(record, 0)?,
        variant: tables.text(record, 8)?,
        target_text: tables.text(record, 16)?,
        image_kind: ImageKind::from_u16(bytes::u16_at(record, 24, WHAT)?),
        offload_kind: OffloadKind::from_u16(bytes::u16_at(record, 26, WHAT)?),
        codec: Codec::from_u16(bytes::u16_at(record, 28, WHAT)?),
        filter: Filter::from_u16(bytes::u16_at(record, 30, WHAT)?),
        parent: reference(record, 32, WHAT)?,
        block,
        offset: offset.ok_or_else(|| Error::invalid("the offset of an image", page.base))?,
        stored_size: bytes::u64_at(record, 48, WHAT)?,
        raw_size: bytes::u64_at(record, 56, WHAT)?,
        hash: Hash128(bytes::array(record, 64, WHAT)?),
        first_kernel: bytes::u32_at(record, 80, WHAT)?,
        kernel_count: bytes::u32_at(record, 84, WHAT)?,
        first_details: bytes::u32_at(record, 128, WHAT)?,
        format_version: Some(bytes::u32_at(record, 88, WHAT)?).filter(|version| *version != 0),
        aspects: Aspects::from_bits(bytes::u32_at(record, 92, WHAT)?),
        part: tables.text(record, 96)?,
        imports: tables.text(record, 104)?,
        exports: tables.text(record, 112)?,
        spec: tables.text(record, 120)?,
    })
}

/// The partition point of `count` items, as of [`slice::partition_point`].
pub(super) fn partition_point(count: u64, before: &dyn Fn(u64) -> Result<bool, Error>) -> Result<u64, Error> {
    let mut low = 0;
    let mut high = count;
    while low < high {
        let middle = low.midpoint(high);
        if before(middle)? {
            low = middle.saturating_add(1);
        } else {
            high = middle;
        }
    }
    Ok(low)
}

/// Offset in a page record of the module of its first image.
pub(super) const PAGE_FIRST: u64 = 32;
/// Offset in a page record of the module of its last image.
pub(super) const PAGE_LAST: u64 = 40;

/// The record of a page in the index.
pub(super) struct PageRecord {
    pub(super) base: u64,
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) images: PageFrame,
    pub(super) details: PageFrame,
}

/// The frame of a part of a page.
pub(super) struct PageFrame {
    pub(super) offset: u64,
    pub(super) stored_size: u64,
    pub(super) raw_size: u64,
    codec: Codec,
    hash: Hash128,
}

impl PageRecord {
    pub(super) fn read(record: &[u8]) -> Result<PageRecord, Error> {
        const WHAT: &str = "the page record";
        let images = PageFrame {
            offset: bytes::u64_at(record, 0, WHAT)?,
            stored_size: bytes::u32_at(record, 16, WHAT)?.into(),
            raw_size: bytes::u32_at(record, 20, WHAT)?.into(),
            codec: Codec::from_u16(bytes::u16_at(record, 48, WHAT)?),
            hash: Hash128(bytes::array(record, 60, WHAT)?),
        };
        let details = PageFrame {
            offset: images.end(),
            stored_size: bytes::u32_at(record, 52, WHAT)?.into(),
            raw_size: bytes::u32_at(record, 56, WHAT)?.into(),
            codec: Codec::from_u16(bytes::u16_at(record, 50, WHAT)?),
            hash: Hash128(bytes::array(record, 76, WHAT)?),
        };
        Ok(PageRecord {
            base: bytes::u64_at(record, 8, WHAT)?,
            first: bytes::u32_at(record, 24, WHAT)?,
            count: bytes::u32_at(record, 28, WHAT)?,
            images,
            details,
        })
    }

    /// The page with this `content`.
    pub(super) fn open<'a>(&self, number: u32, content: &'a [u8]) -> Result<Page<'a>, Error> {
        let tables = Tables::read(content, 0)?;
        let image_count = tables.images.count;
        if image_count != u64::from(self.count) {
            return Err(Error::invalid("the number of images of a page", image_count));
        }
        Ok(Page { tables, number: Some(number), first: self.first, base: self.base })
    }
}

impl PageFrame {
    /// Offset of the byte after the frame from the payload.
    pub(super) fn end(&self) -> u64 {
        self.offset.saturating_add(self.stored_size)
    }

    /// Verifies `frame` and decodes it.
    pub(super) fn decode(&self, frame: &[u8]) -> Result<Vec<u8>, Error> {
        const WHAT: &str = "a page of the index";
        if self.raw_size > MAX_BLOCK {
            return Err(ErrorKind::TooLarge { what: WHAT, size: self.raw_size, limit: MAX_BLOCK }.into());
        }
        if Hash128::digest(frame) != self.hash {
            return Err(ErrorKind::Damaged { what: WHAT }.into());
        }
        columns_to_records(&inflate(frame, self.codec, Expected { size: self.raw_size, what: WHAT })?)
    }
}

/// Converts the tables of a page from records to columns of differences, as they are stored.
#[cfg(feature = "write")]
pub(super) fn records_to_columns(content: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = content.to_vec();
    for (range, table) in Tables::read(content, 0)?.ranges() {
        if let (Some(from), Some(to)) = (content.get(range.clone()), out.get_mut(range)) {
            transpose(&differences(from, table.row), to, table);
        }
    }
    Ok(out)
}

/// Converts the tables of a stored page to records.
fn columns_to_records(content: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = content.to_vec();
    for (range, table) in Tables::read(content, 0)?.ranges() {
        if let (Some(from), Some(to)) = (content.get(range.clone()), out.get_mut(range)) {
            transpose(from, to, table.transposed());
            sum(to, table.row);
        }
    }
    Ok(out)
}

/// The size of a word in bytes.
const WORD: usize = 4;

/// Records of `row` bytes whose words are differences to the record before. Bytes after the last whole word stay.
#[cfg(feature = "write")]
fn differences(records: &[u8], row: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(records.len());
    let mut previous: &[u8] = &[];
    for record in records.chunks(row.max(1)) {
        let mut words = previous.chunks_exact(WORD);
        for word in record.chunks(WORD) {
            match (word.first_chunk(), words.next().and_then(<[u8]>::first_chunk)) {
                (Some(word), Some(other)) => {
                    let difference = u32::from_le_bytes(*word).wrapping_sub(u32::from_le_bytes(*other));
                    out.extend_from_slice(&difference.to_le_bytes());
                }
                _ => out.extend_from_slice(word),
            }
        }
        previous = record;
    }
    out
}

/// Undoes [`differences`].
fn sum(records: &mut [u8], row: usize) {
    let mut rest = records;
    while let Some((previous, records)) = rest.split_at_mut_checked(row.max(1)) {
        for (word, other) in records.chunks_exact_mut(WORD).zip(previous.chunks_exact(WORD)) {
            if let (Some(word), Some(other)) = (word.first_chunk_mut(), other.first_chunk()) {
                *word = u32::from_le_bytes(*word).wrapping_add(u32::from_le_bytes(*other)).to_le_bytes();
            }
        }
        rest = records;
    }
}

#[cfg(all(test, feature = "write"))]
mod tests {
    use super::*;

    #[test]
    fn differences_are_undone() {
        for row in [1, 3, 4, 6, 8, 132] {
            let records: Vec<u8> = (0..row * 7).map(|at| (at * at % 251) as u8).collect();
            let mut summed = differences(&records, row);
            sum(&mut summed, row);
            assert_eq!(summed, records, "{row}");
        }
        assert_eq!(differences(&[1, 0, 0, 0, 9, 3, 0, 0, 0, 9], 5), [1, 0, 0, 0, 9, 2, 0, 0, 0, 9]);
        sum(&mut [], 0);
    }
}
