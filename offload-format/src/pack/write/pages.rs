//! Splitting of a large index into compressed pages.

use super::super::layout::{DIRECTORY_ENTRY, PAGE_HEAD};
use super::super::new::NewImage;
use super::super::page::records_to_columns;
use super::super::place::StorageFields;
use super::super::size::{aligned, small, too_large, usize_of};
use super::record::Record;
use super::tables::{PlacedPage, Tables};
use crate::Error;
use crate::codec::{self, Codec};

/// The size of records from which an index has pages: below it a lookup would gain nothing.
const MIN_PAGED_SIZE: usize = 64 << 10;
/// The size of a page. A lookup decodes a page: some ten microseconds for this size.
const PAGE_SIZE: usize = 64 << 10;
/// Hashes dominate compressed pages, and do not shrink at higher levels.
const LEVEL: i32 = 6;

/// The pages of `images`; none for a small index. Their frames are appended to `bytes`, each at a multiple of 16.
pub(super) fn split<'a>(
    images: &[(&'a NewImage, StorageFields)],
    bytes: &mut Vec<u8>,
) -> Result<Vec<PlacedPage<'a>>, Error> {
    let groups = group(images)?;
    if groups.iter().map(|group| group.tables.image_size()).sum::<usize>() < MIN_PAGED_SIZE {
        return Ok(Vec::new());
    }
    let mut pages = Vec::new();
    let mut first = 0u32;
    for PageRecords { tables, count, modules } in groups {
        let frame = codec::encode(&encode_page(&tables)?, Codec::Zstd, LEVEL)?;
        let offset = bytes.len() as u64;
        bytes.extend_from_slice(frame.bytes());
        bytes.resize(usize_of(aligned(bytes.len() as u64)?)?, 0);
        pages.push(PlacedPage { frame, offset, first, count, modules });
        first = first.checked_add(count).ok_or_else(|| too_large(offset))?;
    }
    Ok(pages)
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
                let mut page = PageRecords { tables: Tables::default(), count: 0, modules };
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

/// The content of a page: its header, the directory, the transposed tables.
fn encode_page(tables: &Tables) -> Result<Vec<u8>, Error> {
    let (count, tables) = tables.encode(PAGE_HEAD)?;
    let head = Record::default().u64(PAGE_HEAD).u32(count).u32(DIRECTORY_ENTRY as u32);
    records_to_columns(&[head.pad_to(PAGE_HEAD), tables].concat())
}
