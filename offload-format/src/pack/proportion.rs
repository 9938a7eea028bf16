//! Budgets against decompression bombs: a check that the content of a pack is in proportion to its size.
//!
//! Many records may refer to the same bytes: a few kilobytes can list gigabytes of names, or decode to terabytes. A
//! reader of untrusted packs calls [`Pack::spend`] before it follows the records.

use std::collections::BTreeSet;

use super::layout::IMAGE_RECORD;
use super::page::Page;
use super::read::Pack;
use super::record::{self, Block, DETAILS_REMARK, Image};
use super::tables::RecordRange;
use crate::codec::MAX_ANCESTORS;
use crate::limits::Budget;
use crate::{Error, ErrorKind, Limits};

/// The budgets of all packs of one file together.
#[derive(Debug)]
pub struct PackBudget {
    indexes: Budget,
    images: Budget,
    decoding: Budget,
    reading: Budget,
}

impl PackBudget {
    /// The longest delta chain: an image, its ancestors, and the base of a patch.
    const CHAIN: u64 = MAX_ANCESTORS as u64 + 2;
    /// The size of listed records and texts, as a multiple of the size of the file.
    const LIST_FACTOR: u64 = 64;
    /// The size of all indexes, as a multiple of the size of the file. Of packs that share a payload, each index includes
    /// those that follow it.
    const INDEX_FACTOR: u64 = 16;

    /// The budgets of a file of `size` bytes.
    pub fn for_file(size: u64, limits: &Limits) -> PackBudget {
        let images = limits.allowance(size);
        // A limit that admits more images admits their names.
        let minimum = limits.any_ratio / 2;
        let listed = size.saturating_mul(PackBudget::LIST_FACTOR).max(minimum);
        let read = size.saturating_mul(PackBudget::INDEX_FACTOR).max(minimum);
        PackBudget {
            reading: Budget::new("the indexes of the file's packs", read),
            indexes: Budget::new("what the index of the pack lists", listed),
            images: Budget::new("what the images of the pack decode to", images),
            decoding: Budget::new(
                "what has to be decoded for the images of the pack",
                images.saturating_mul(PackBudget::CHAIN),
            ),
        }
    }

    /// Takes an index of `size` bytes, before it is read.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if that is too much.
    pub fn read_index(&mut self, size: u64) -> Result<(), Error> {
        self.reading.spend(size)
    }
}

/// The most metadata records: a lookup scans all of them.
const MAX_METADATA: u64 = 4096;
/// The cost of the search for a sidecar, in bytes.
const SIDECAR_COST: u64 = 4096;

impl Pack<'_> {
    /// Takes the listed and the decoded size of the pack from `budget`. Only pages are decoded.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] or [`ErrorKind::TooMany`] where a size is out of proportion to the file; those of damaged
    /// records.
    pub fn spend(&self, budget: &mut PackBudget) -> Result<(), Error> {
        self.spend_pages(budget)?;
        self.spend_metadata(budget)?;
        let mut frames = Frames { seen: BTreeSet::new(), budget };
        for block in self.blocks() {
            frames.block(self, &block?)?;
        }
        for image in self.images() {
            let image = image?;
            self.spend_listed(&image, &mut *frames.budget)?;
            frames.image(self, &image)?;
        }
        Ok(())
    }

    fn spend_pages(&self, budget: &mut PackBudget) -> Result<(), Error> {
        self.page_sizes().try_for_each(|size| budget.indexes.spend(size?))
    }

    fn spend_metadata(&self, budget: &mut PackBudget) -> Result<(), Error> {
        let meta = self.tables().meta;
        let missing = self.tables().missing;
        if meta.count > MAX_METADATA {
            let what = "the metadata of the pack";
            return Err(ErrorKind::TooMany { what, count: meta.count, limit: MAX_METADATA }.into());
        }
        for (table, fields) in [(meta, &[0, 8][..]), (missing, &[8, 16, 24])] {
            for record in self.tables().records(table) {
                budget.indexes.spend(self.tables().text_sizes(record, fields)?)?;
            }
        }
        // An error about an absent sidecar lists all missing images.
        let sidecars = self.sidecars().count() as u64;
        let cost = missing.count.saturating_mul(32).saturating_add(SIDECAR_COST);
        budget.indexes.spend(sidecars.saturating_mul(cost))
    }

    /// Takes the records and texts of an image, its kernels and their arguments, once per reference.
    fn spend_listed(&self, image: &Image<'_>, budget: &mut PackBudget) -> Result<(), Error> {
        let texts = [
            image.module,
            image.variant,
            image.target_text,
            image.part,
            image.imports,
            image.exports,
            image.spec,
        ];
        let mut size = IMAGE_RECORD;
        for text in texts {
            size = size.saturating_add(text.len() as u64);
        }
        budget.indexes.spend(size)?;
        let Page { tables, .. } = self.page(image.page)?;
        let range = RecordRange { first: image.first_kernel, count: image.kernel_count };
        for kernel in tables.some(tables.kernels, range) {
            budget.indexes.spend(tables.text_sizes(kernel?, &[0])?)?;
        }
        let tables = self.details(image.page)?;
        let range = RecordRange { first: image.first_details, count: image.kernel_count };
        for details in tables.some(tables.details, range) {
            let details = details?;
            budget.indexes.spend(tables.text_sizes(details, &[DETAILS_REMARK])?)?;
            for arg in tables.some(tables.args, record::args(details)?) {
                budget.indexes.spend(tables.text_sizes(arg?, &[0, 8, 24])?)?;
            }
        }
        Ok(())
    }
}

/// The frames already taken; several images may share one.
struct Frames<'b> {
    seen: BTreeSet<FrameKey>,
    budget: &'b mut PackBudget,
}

/// The frame of an image.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct FrameKey {
    parent: Option<u32>,
    offset: u64,
    size: u64,
}

impl Frames<'_> {
    fn block(&mut self, pack: &Pack<'_>, block: &Block) -> Result<(), Error> {
        self.budget.images.spend(block.raw_size)?;
        self.budget.decoding.spend(block.raw_size)?;
        let mut parent = block.parent;
        for _ in 0..MAX_ANCESTORS {
            let Some(ancestor) = parent.and_then(|number| pack.block(number).ok()) else { break };
            self.budget.decoding.spend(ancestor.raw_size)?;
            parent = ancestor.parent;
        }
        Ok(())
    }

    /// Equal images are stored once, but decoded one by one.
    fn image(&mut self, pack: &Pack<'_>, image: &Image<'_>) -> Result<(), Error> {
        let &Image { block, parent, offset, raw_size, .. } = image;
        self.budget.decoding.spend(raw_size)?;
        if block.is_some() {
            return Ok(());
        }
        if self.seen.insert(FrameKey { parent, offset, size: raw_size }) {
            self.budget.images.spend(raw_size)?;
        }
        let mut next = parent.filter(|_| image.codec.needs_parent());
        // A patch does not count as an ancestor.
        for _ in 0..=MAX_ANCESTORS {
            let Some(ancestor) = next.and_then(|number| pack.image(number).ok()) else { break };
            self.budget.decoding.spend(ancestor.raw_size)?;
            next = ancestor.parent.filter(|_| ancestor.codec.needs_parent());
        }
        Ok(())
    }
}
