//! Cutting the records of many images into pages that are compressed.

use super::super::layout::{DIRECTORY_ENTRY, PAGE_HEAD};
use super::super::new::NewImage;
use super::super::page::by_columns;
use super::super::place::Stored;
use super::super::size::{aligned, small, too_large, usize_of};
use super::record::Record;
use super::tables::{PlacedPage, Tables};
use crate::Error;
use crate::codec::{self, Codec};

/// An index below this size stays as it is: a look-up would gain nothing.
const PAGED: usize = 64 << 10;
/// A look-up decodes a page: some ten microseconds for this much.
const PAGE: usize = 64 << 10;
/// Most of what remains are hashes, of which higher levels make nothing.
const LEVEL: i32 = 6;

/// The pages for `images`, none if there are so few that they need none. Their frames go behind `bytes`, each at a multiple
/// of 16.
pub(super) fn of<'a>(
    images: &[(&'a NewImage, Stored)],
    bytes: &mut Vec<u8>,
) -> Result<Vec<PlacedPage<'a>>, Error> {
    let cut = cut(images)?;
    if cut.iter().map(|page| page.tables.of_images()).sum::<usize>() < PAGED {
        return Ok(Vec::new());
    }
    let mut pages = Vec::new();
    let mut first = 0u32;
    for Cut { tables, count, modules } in cut {
        let frame = codec::encode(&content(&tables)?, Codec::Zstd, LEVEL)?;
        let offset = bytes.len() as u64;
        bytes.extend_from_slice(frame.bytes());
        bytes.resize(usize_of(aligned(bytes.len() as u64)?)?, 0);
        pages.push(PlacedPage { frame, offset, first, count, modules });
        first = first.checked_add(count).ok_or_else(|| too_large(offset))?;
    }
    Ok(pages)
}

/// The records of neighbours.
struct Cut<'a> {
    tables: Tables,
    count: u32,
    modules: [&'a str; 2],
}

fn cut<'a>(images: &[(&'a NewImage, Stored)]) -> Result<Vec<Cut<'a>>, Error> {
    let mut pages: Vec<Cut<'a>> = Vec::new();
    for (image, stored) in images {
        let open = pages.last_mut().filter(|page| page.tables.of_images() < PAGE);
        match open {
            Some(page) => page.add(image, stored)?,
            None => {
                let modules = [image.module.as_str(); 2];
                let mut page = Cut { tables: Tables::default(), count: 0, modules };
                page.add(image, stored)?;
                pages.push(page);
            }
        }
    }
    Ok(pages)
}

impl<'a> Cut<'a> {
    fn add(&mut self, image: &'a NewImage, stored: &Stored) -> Result<(), Error> {
        self.tables.image(image, stored)?;
        let [first, _] = self.modules;
        self.modules = [first, &image.module];
        self.count = small(self.count as usize + 1)?;
        Ok(())
    }
}

/// Where the directory is, as in the header of a pack; the directory; the tables, by columns.
fn content(tables: &Tables) -> Result<Vec<u8>, Error> {
    let (count, tables) = tables.encode(PAGE_HEAD)?;
    let head = Record::default().u64(PAGE_HEAD).u32(count).u32(DIRECTORY_ENTRY as u32);
    by_columns(&[head.done(PAGE_HEAD), tables].concat())
}
