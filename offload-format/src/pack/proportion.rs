//! Whether what a pack says it holds is in proportion to its size.
//!
//! Records are claims, and many of them may refer to the same bytes: a few kilobytes can list gigabytes of names, or
//! decode to terabytes. Who reads a pack that it does not trust asks here before it looks at the rest.

use std::collections::BTreeSet;

use super::page::Page;
use super::read::Pack;
use super::record::{Block, Image};
use super::tables::RecordRange;
use crate::codec::MAX_ANCESTORS;
use crate::limits::Budget;
use crate::{Error, ErrorKind, Limits};

/// What the packs of one file may hold, all of them together.
#[derive(Debug)]
pub struct PackBudget {
    indexes: Budget,
    images: Budget,
    decoding: Budget,
    reading: Budget,
}

impl PackBudget {
    /// An image is decoded with two others, and maybe what it is a patch of.
    const CHAIN: u64 = MAX_ANCESTORS as u64 + 2;
    /// Indexes may list so many times the size of their file...
    const LISTED: u64 = 64;
    /// ...and be so many times its size: of packs that share a payload, each index has those behind it in it.
    const READ: u64 = 16;

    /// For a file of `size` bytes.
    pub fn for_file(size: u64, limits: &Limits) -> PackBudget {
        let images = limits.allowance(size);
        // Who allows more images allows their names.
        let any_list = limits.any_ratio / 2;
        let times = |times: u64| size.saturating_mul(times).max(any_list);
        let (listed, read) = (times(PackBudget::LISTED), times(PackBudget::READ));
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

/// The most records of metadata: each question looks at all of them.
const MOST_METADATA: u64 = 4096;
/// What a sidecar costs that is looked for, in bytes.
const SIDECAR: u64 = 4096;

impl Pack<'_> {
    /// Takes all that the pack lists and what it decodes to from `budget`. Pages are decoded for it, nothing else.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] or [`ErrorKind::TooMany`] where that is out of proportion to the file; those of damaged
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
        let (meta, missing) = (self.tables().meta, self.tables().missing);
        if meta.count > MOST_METADATA {
            let (what, count, limit) = ("the metadata of the pack", meta.count, MOST_METADATA);
            return Err(ErrorKind::TooMany { what, count, limit }.into());
        }
        for (table, fields) in [(meta, &[0, 8][..]), (missing, &[8, 16, 24])] {
            for record in self.tables().records(table) {
                budget.indexes.spend(self.tables().text_sizes(record, fields)?)?;
            }
        }
        // For each file that is not there, all is listed that is missing.
        let sidecars = self.sidecars().count() as u64;
        budget
            .indexes
            .spend(sidecars.saturating_mul(missing.count.saturating_mul(32).saturating_add(SIDECAR)))
    }

    /// Takes the records and texts of an image, its kernels and their arguments: each once for each reference.
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
        let texts = texts.iter().fold(128u64, |sum, text| sum.saturating_add(text.len() as u64));
        budget.indexes.spend(texts)?;
        let Page { tables, .. } = self.page(image.page)?;
        let range = RecordRange { first: image.first_kernel, count: image.kernel_count };
        for kernel in tables.some(tables.kernels, range) {
            let kernel = kernel?;
            budget.indexes.spend(tables.text_sizes(kernel, &[0, 76])?)?;
            let range = RecordRange { first: number(kernel, 8)?, count: number(kernel, 12)? };
            for arg in tables.some(tables.args, range) {
                budget.indexes.spend(tables.text_sizes(arg?, &[0, 8, 24])?)?;
            }
        }
        Ok(())
    }
}

fn number(record: &[u8], offset: u64) -> Result<u32, Error> {
    crate::bytes::u32_at(record, offset, "the kernel record")
}

/// The frames that were taken so far: several images may have the same.
struct Frames<'b> {
    seen: BTreeSet<Content>,
    budget: &'b mut PackBudget,
}

/// Where the bytes of an image are.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Content {
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
            let Some(found) = parent.and_then(|number| pack.block(number).ok()) else { break };
            self.budget.decoding.spend(found.raw_size)?;
            parent = found.parent;
        }
        Ok(())
    }

    /// Equal images count once, but who asks for all of them decodes each.
    fn image(&mut self, pack: &Pack<'_>, image: &Image<'_>) -> Result<(), Error> {
        let &Image { block, parent, offset, raw_size, .. } = image;
        self.budget.decoding.spend(raw_size)?;
        if block.is_some() {
            return Ok(());
        }
        if self.seen.insert(Content { parent, offset, size: raw_size }) {
            self.budget.images.spend(raw_size)?;
        }
        let mut next = parent.filter(|_| image.codec.needs_parent());
        // A patch is no step.
        for _ in 0..=MAX_ANCESTORS {
            let Some(found) = next.and_then(|number| pack.image(number).ok()) else { break };
            self.budget.decoding.spend(found.raw_size)?;
            next = found.parent.filter(|_| found.codec.needs_parent());
        }
        Ok(())
    }
}
