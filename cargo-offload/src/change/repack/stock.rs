//! The images of some packs, each once, and their bytes on demand.

use std::collections::{BTreeMap, BTreeSet};

use offload_format::Hash128;
use offload_format::pack::Image;
use offload_format::packer::{self, Candidate};

use super::Part;
use crate::error::{Error, Result};
use crate::read::pack_file::Source;

/// Where an image is. Nothing in it is bound to a thread.
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    pub(super) source: Source<'a>,
    pub(super) image: Image<'a>,
    /// Which of the old payloads has it.
    pub(super) payload: usize,
}

/// Every image by its hash, where it comes first.
#[derive(Debug)]
pub(super) struct Stock<'a> {
    items: BTreeMap<Hash128, Item<'a>>,
    /// In the order of the packs.
    order: Vec<Hash128>,
    /// Those that several payloads have, maybe after different filters.
    several: BTreeSet<Hash128>,
}

/// A pack of each payload.
pub(super) fn payloads<'a>(parts: &[Part<'a>]) -> Vec<Source<'a>> {
    let mut payloads: Vec<Source<'a>> = Vec::new();
    for (source, _) in parts.iter().flat_map(|part| &part.kept) {
        if !payloads.iter().any(|other| other.shares_with(source)) {
            payloads.push(*source);
        }
    }
    payloads
}

impl<'a> Stock<'a> {
    pub(super) fn of(parts: &[Part<'a>], payloads: &[Source<'a>]) -> Stock<'a> {
        let mut stock = Stock { items: BTreeMap::new(), order: Vec::new(), several: BTreeSet::new() };
        for (source, images) in parts.iter().flat_map(|part| &part.kept) {
            let payload = payloads.iter().position(|other| other.shares_with(source)).unwrap_or_default();
            images.iter().for_each(|image| stock.add(source, (payload, image)));
        }
        stock
    }

    fn add(&mut self, source: &Source<'a>, (payload, image): (usize, &Image<'a>)) {
        if let Some(known) = self.items.get(&image.hash) {
            if known.payload != payload {
                self.several.insert(image.hash);
            }
            return;
        }
        self.items.insert(image.hash, Item { source: *source, image: image.clone(), payload });
        self.order.push(image.hash);
    }

    /// Those that are `wanted`, for a planner.
    pub(super) fn candidates(&self, wanted: &BTreeSet<Hash128>) -> Vec<Candidate> {
        let items = self.order.iter().filter(|hash| wanted.contains(hash));
        let candidate = |item: &Item<'_>| Candidate {
            hash: item.image.hash,
            size: item.image.raw_size,
            kind: item.image.image_kind,
        };
        items.filter_map(|hash| self.items.get(hash)).map(candidate).collect()
    }

    pub(super) fn item(&self, hash: Hash128) -> Result<&Item<'a>> {
        self.items.get(&hash).ok_or_else(|| Error::check(format!("the image {hash} is in no pack")))
    }

    /// The size of an image in bytes.
    pub(super) fn size(&self, hash: Hash128) -> u64 {
        self.items.get(&hash).map_or(0, |item| item.image.raw_size)
    }

    pub(super) fn items(&self) -> impl Iterator<Item = &Item<'a>> {
        self.order.iter().filter_map(|hash| self.items.get(hash))
    }

    /// Whether the image stays, and is the only one that `payload` has for its children.
    pub(super) fn lends(&self, hash: Hash128, payload: usize) -> bool {
        let here = self.items.get(&hash).is_some_and(|item| item.payload == payload);
        here && !self.several.contains(&hash)
    }
}

impl packer::Source for Stock<'_> {
    type Error = Error;

    fn read(&self, hash: Hash128) -> Result<Vec<u8>> {
        let item = self.item(hash)?;
        item.source.decode(&item.image)
    }
}
