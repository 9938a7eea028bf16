//! A pack of which everything is known but where frames start: that depends on the pages of all packs.

use super::super::new::NewImage;
use super::super::place::{Numbers, Placed, PlacedBlock, Stored};
use super::super::size::too_large;
use super::builder::PackBuilder;
use super::pages;
use super::tables::{PlacedPage, Tables};
use crate::Error;

/// What a pack's index will say.
pub(super) struct Draft<'a> {
    pack: &'a PackBuilder,
    numbers: Numbers,
    images: Vec<(&'a NewImage, Stored)>,
    /// None if the images lie in the index itself.
    pages: Vec<PlacedPage<'a>>,
}

impl<'a> Draft<'a> {
    /// The draft of `pack`, whose pages go behind those in `pages`.
    pub(super) fn new(
        pack: &'a PackBuilder,
        placed: &Placed,
        pages: &mut Vec<u8>,
    ) -> Result<Draft<'a>, Error> {
        let numbers = placed.numbers(&pack.images)?;
        let stored = |(image, frame)| placed.stored(&numbers, frame).map(|stored| (image, stored));
        let images = pack.images.iter().map(|(image, frame)| (image, frame)).map(stored);
        let images: Vec<(&NewImage, Stored)> = images.collect::<Result<_, _>>()?;
        let pages = pages::of(&images, pages)?;
        Ok(Draft { pack, numbers, images, pages })
    }

    /// Its tables, if the frames follow `base` bytes of pages.
    pub(super) fn tables(&self, placed: &Placed, base: u64) -> Result<Tables, Error> {
        let mut tables = Tables::default();
        self.pack.meta.iter().try_for_each(|(key, value)| tables.meta(key, value))?;
        if self.pages.is_empty() {
            let mut images = self.images.iter();
            images.try_for_each(|(image, stored)| tables.image(image, &stored.behind(base)?))?;
        }
        self.pages.iter().try_for_each(|page| tables.page(page, base))?;
        for placed in &self.numbers.blocks {
            let offset = placed.offset.checked_add(base).ok_or_else(|| too_large(base))?;
            tables.block(&PlacedBlock { offset, ..*placed }, self.numbers.parent(&placed.block)?);
        }
        for parent in &self.numbers.parents {
            tables.parent(&placed.stored(&self.numbers, parent)?.behind(base)?);
        }
        self.pack.missing.iter().try_for_each(|missing| tables.missing(&missing.borrowed()))?;
        Ok(tables)
    }
}
