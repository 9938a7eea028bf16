//! Pages: the images of an index, all of them in one, or compressed by the hundreds.

use std::sync::OnceLock;

use super::layout::NONE;
use super::record::Image;
use super::tables::Tables;
use crate::codec::columns::{Shape, transpose};
use crate::codec::{Codec, Expected, Filter, MAX_BLOCK, inflate};
use crate::{Aspects, Error, ErrorKind, Hash128, ImageKind, OffloadKind, bytes};

/// Keeps the parts of one pack's index that were asked for, decoded: the index of many images is compressed in pages.
///
/// It belongs to one pack, and lives as long as what is read of it; see [`Pack::parse`](super::Pack::parse).
#[derive(Debug, Default)]
pub struct Pages {
    cells: OnceLock<Vec<Cell>>,
}

type Cell = OnceLock<Result<Vec<u8>, Error>>;

impl Pages {
    /// How many pages were decoded.
    pub fn decoded(&self) -> usize {
        self.cells.get().into_iter().flatten().filter(|cell| cell.get().is_some()).count()
    }

    /// The content of page `number` of `count`; `decode` makes it where it was not asked for before.
    pub(super) fn page(
        &self,
        number: u32,
        count: u32,
        decode: impl FnOnce() -> Result<Vec<u8>, Error>,
    ) -> Result<&[u8], Error> {
        let cells = self.cells.get_or_init(|| (0..count).map(|_| Cell::new()).collect());
        let cell =
            cells.get(number as usize).ok_or_else(|| Error::invalid("the page of a pack", number.into()))?;
        cell.get_or_init(decode).as_deref().map_err(Clone::clone)
    }
}

/// Some images, one after the other, with their kernels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page<'a> {
    pub(super) tables: Tables<'a>,
    /// None if the images lie in the index itself.
    pub(super) number: Option<u32>,
    /// The number of its first image.
    pub(super) first: u32,
    /// What the offsets of frames count from.
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

    /// The number of the first image for whose module `before` does not hold.
    pub(super) fn partition(&self, before: &dyn Fn(&str) -> bool) -> Result<u32, Error> {
        let module = |index: u64| self.tables.text(self.tables.record(self.tables.images, index)?, 0);
        let within = partition(self.tables.images.count, &|index| Ok(before(module(index)?)))?;
        u32::try_from(within.saturating_add(self.first.into()))
            .map_err(|_| Error::invalid("the number of images", within))
    }
}

/// Image number `index` of `page`.
pub(super) fn image<'a>(page: &Page<'a>, index: u32, record: &[u8]) -> Result<Image<'a>, Error> {
    const WHAT: &str = "the image record";
    let tables = &page.tables;
    let reference = |offset| bytes::u32_at(record, offset, WHAT).map(|v| (v != NONE).then_some(v));
    let (block, offset) = (reference(36)?, bytes::u64_at(record, 40, WHAT)?);
    // In a block it counts from the block's content.
    let offset = if block.is_some() { Some(offset) } else { offset.checked_add(page.base) };
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
        parent: reference(32)?,
        block,
        offset: offset.ok_or_else(|| Error::invalid("the offset of an image", page.base))?,
        stored_size: bytes::u64_at(record, 48, WHAT)?,
        raw_size: bytes::u64_at(record, 56, WHAT)?,
        hash: Hash128(bytes::array(record, 64, WHAT)?),
        first_kernel: bytes::u32_at(record, 80, WHAT)?,
        kernel_count: bytes::u32_at(record, 84, WHAT)?,
        format_version: Some(bytes::u32_at(record, 88, WHAT)?).filter(|version| *version != 0),
        aspects: Aspects::from_bits(bytes::u32_at(record, 92, WHAT)?),
        part: tables.text(record, 96)?,
        imports: tables.text(record, 104)?,
        exports: tables.text(record, 112)?,
        spec: tables.text(record, 120)?,
    })
}

/// How many of `count` sorted things come `before`.
pub(super) fn partition(count: u64, before: &dyn Fn(u64) -> Result<bool, Error>) -> Result<u64, Error> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if before(middle)? { low = middle.saturating_add(1) } else { high = middle }
    }
    Ok(low)
}

/// Where a page's record has the module of its first image.
pub(super) const PAGE_FIRST: u64 = 32;
/// Where it has that of the last one.
pub(super) const PAGE_LAST: u64 = 40;

/// What the index says about a page.
pub(super) struct PageRecord {
    pub(super) offset: u64,
    pub(super) base: u64,
    pub(super) stored_size: u64,
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) raw_size: u64,
    codec: Codec,
    hash: Hash128,
}

impl PageRecord {
    pub(super) fn read(record: &[u8]) -> Result<PageRecord, Error> {
        const WHAT: &str = "the page record";
        let u32_at = |offset| bytes::u32_at(record, offset, WHAT);
        Ok(PageRecord {
            offset: bytes::u64_at(record, 0, WHAT)?,
            base: bytes::u64_at(record, 8, WHAT)?,
            stored_size: u32_at(16)?.into(),
            raw_size: u32_at(20)?.into(),
            first: u32_at(24)?,
            count: u32_at(28)?,
            codec: Codec::from_u16(bytes::u16_at(record, 48, WHAT)?),
            hash: Hash128(bytes::array(record, 56, WHAT)?),
        })
    }

    /// What `frame` holds.
    pub(super) fn decode(&self, frame: &[u8]) -> Result<Vec<u8>, Error> {
        const WHAT: &str = "a page of the index";
        if self.raw_size > MAX_BLOCK {
            return Err(ErrorKind::TooLarge { what: WHAT, size: self.raw_size, limit: MAX_BLOCK }.into());
        }
        let content = inflate(frame, self.codec, Expected { size: self.raw_size, what: WHAT })?;
        if Hash128::of(&content) != self.hash {
            return Err(ErrorKind::Damaged { what: WHAT }.into());
        }
        by_rows(&content)
    }

    /// The page with this `content`.
    pub(super) fn open<'a>(&self, number: u32, content: &'a [u8]) -> Result<Page<'a>, Error> {
        let tables = Tables::read(content, 0)?;
        let found = tables.images.count;
        if found != u64::from(self.count) {
            return Err(Error::invalid("the number of images of a page", found));
        }
        Ok(Page { tables, number: Some(number), first: self.first, base: self.base })
    }
}

/// The content of a page, whose tables are by columns, from one whose tables are by records.
#[cfg(feature = "write")]
pub(super) fn by_columns(content: &[u8]) -> Result<Vec<u8>, Error> {
    turned(content, |table| table)
}

fn by_rows(content: &[u8]) -> Result<Vec<u8>, Error> {
    turned(content, Shape::turned)
}

fn turned(content: &[u8], shape: fn(Shape) -> Shape) -> Result<Vec<u8>, Error> {
    let mut out = content.to_vec();
    for (place, table) in Tables::read(content, 0)?.places() {
        if let (Some(from), Some(to)) = (content.get(place.clone()), out.get_mut(place)) {
            transpose(from, to, shape(table));
        }
    }
    Ok(out)
}
