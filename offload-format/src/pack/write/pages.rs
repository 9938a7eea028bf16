//! Splitting of an index into compressed pages.

use super::super::layout::{DIRECTORY_ENTRY, PAGE_HEAD, PAGE_RECORD};
use super::super::new::NewImage;
use super::super::page::records_to_columns;
use super::super::place::StorageFields;
use super::super::size::{aligned, small, too_large, usize_of};
use super::record::Record;
use super::tables::{EncodedPart, EncodedTables, PlacedPage, Tables};
use crate::codec::{self, Codec, Frame};
use crate::{Error, Hash128};

/// The size of a page. A lookup decodes a page: some ten microseconds for this size.
const PAGE_SIZE: usize = 64 << 10;
/// The level of a single page.
const LEVEL: i32 = 19;
/// The level of several pages. Hashes dominate them, and do not shrink at higher levels.
const MANY_LEVEL: i32 = 6;
/// The least that pages must save, as an inverse share of the records: a lookup decodes them.
const MIN_SHARE: usize = 4;
/// The share of its size that the codec which decodes sooner may lose, as an inverse.
const QUICK_SHARE: usize = 8;

/// The pages of `images`; none if they do not pay. Their frames are appended to `bytes`, each page at a multiple of 16.
pub(super) fn split<'a>(
    images: &[(&'a NewImage, StorageFields)],
    bytes: &mut Vec<u8>,
) -> Result<Vec<PlacedPage<'a>>, Error> {
    // There the crate does not compress.
    if cfg!(target_family = "wasm") {
        return Ok(Vec::new());
    }
    let groups = group(images)?;
    let level = if groups.len() > 1 { MANY_LEVEL } else { LEVEL };
    let plain: usize = groups.iter().map(|group| group.tables.image_size()).sum();
    let start = bytes.len();
    let mut pages = Vec::new();
    let mut first = 0u32;
    for PageRecords { tables, count, modules } in groups {
        let offset = bytes.len() as u64;
        let images = append(encode_part(tables.encode(PAGE_HEAD)?)?, level, bytes)?;
        let details = append(encode_part(tables.encode_details(PAGE_HEAD)?)?, level, bytes)?;
        bytes.resize(usize_of(aligned(bytes.len() as u64)?)?, 0);
        pages.push(PlacedPage { images, details, offset, first, count, modules });
        first = first.checked_add(count).ok_or_else(|| too_large(offset))?;
    }
    let paged = bytes.len().saturating_sub(start).saturating_add(pages.len() * PAGE_RECORD as usize);
    if paged > plain.saturating_sub(plain / MIN_SHARE) {
        bytes.truncate(start);
        pages.clear();
    }
    Ok(pages)
}

/// `quick`, unless it is larger than `small` by more than a share.
fn smaller(quick: Frame, small: Frame) -> Frame {
    let size = quick.bytes().len();
    if size.saturating_sub(size / QUICK_SHARE) <= small.bytes().len() { quick } else { small }
}

/// Appends the frame of a part of a page.
fn append(content: Vec<u8>, level: i32, bytes: &mut Vec<u8>) -> Result<EncodedPart, Error> {
    let frame =
        smaller(codec::encode(&content, Codec::Lz, level)?, codec::encode(&content, Codec::Zstd, level)?);
    bytes.extend_from_slice(frame.bytes());
    Ok(EncodedPart {
        codec: frame.info().codec,
        stored_size: small(frame.bytes().len())?,
        raw_size: small(content.len())?,
        hash: Hash128::digest(frame.bytes()),
    })
}

/// The records of consecutive images.
struct PageRecords<'a> {
    tables: Tables,
    count: u32,
    modules: [&'a str; 2],
}

fn group<'a>(images: &[(&'a NewImage, StorageFields)]) -> Result<Vec<PageRecords<'a>>, Error> {
    let mut pages: Vec<PageRecords<'a>> = Vec::new();
    for (image, storage) in images {
        let open = pages.last_mut().filter(|page| page.tables.image_size() < PAGE_SIZE);
        match open {
            Some(page) => page.add(image, storage)?,
            None => {
                let modules = [image.module.as_str(); 2];
                let mut page = PageRecords { tables: Tables::for_page(), count: 0, modules };
                page.add(image, storage)?;
                pages.push(page);
            }
        }
    }
    Ok(pages)
}

impl<'a> PageRecords<'a> {
    fn add(&mut self, image: &'a NewImage, storage: &StorageFields) -> Result<(), Error> {
        self.tables.image(image, storage)?;
        let [first, _] = self.modules;
        self.modules = [first, &image.module];
        self.count = small(self.count as usize + 1)?;
        Ok(())
    }
}

/// The content of a part of a page: its header, the directory, the transposed tables.
fn encode_part((count, tables): EncodedTables) -> Result<Vec<u8>, Error> {
    let head = Record::default().u64(PAGE_HEAD).u32(count).u32(DIRECTORY_ENTRY as u32);
    records_to_columns(&[head.pad_to(PAGE_HEAD), tables].concat())
}
