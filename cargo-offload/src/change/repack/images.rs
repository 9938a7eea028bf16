//! Deduplicated images of several packs, decoded on demand.

use std::collections::{BTreeMap, BTreeSet};

use offload_format::Hash128;
use offload_format::pack::Image;
use offload_packer::RawImage;

use super::pack::PackContent;
use crate::error::{Error, Result};
use crate::read::pack_file::LocatedPack;
use crate::read::program::PackImages;

/// Location of an image. It is `Send`.
#[derive(Clone, Debug)]
pub(super) struct LocatedImage<'a> {
    pub(super) source: LocatedPack<'a>,
    pub(super) image: Image<'a>,
    /// Index of the old payload with the image.
    pub(super) payload: usize,
}

/// Every image by its hash, where it comes first.
#[derive(Debug)]
pub(super) struct Images<'a> {
    by_hash: BTreeMap<Hash128, LocatedImage<'a>>,
    /// In the order of the packs.
    order: Vec<Hash128>,
    /// Those that several payloads have, maybe after different filters.
    several: BTreeSet<Hash128>,
}

impl<'a> Images<'a> {
    pub(super) fn from_packs(packs: &[PackContent<'a>]) -> Images<'a> {
        let mut images = Images { by_hash: BTreeMap::new(), order: Vec::new(), several: BTreeSet::new() };
        // A pack of each payload.
        let mut payloads: Vec<LocatedPack<'a>> = Vec::new();
        for kept in packs.iter().flat_map(|pack| &pack.kept) {
            let known = payloads.iter().position(|other| other.shares_with(&kept.source));
            let payload = known.unwrap_or_else(|| {
                payloads.push(kept.source);
                payloads.len().saturating_sub(1)
            });
            images.add(kept, payload);
        }
        images
    }

    fn add(&mut self, kept: &PackImages<'a>, payload: usize) {
        for image in &kept.images {
            if let Some(known) = self.by_hash.get(&image.hash) {
                if known.payload != payload {
                    self.several.insert(image.hash);
                }
                continue;
            }
            let source = LocatedImage { source: kept.source, image: image.clone(), payload };
            self.by_hash.insert(image.hash, source);
            self.order.push(image.hash);
        }
    }

    /// Those that are `chosen`, for a planner.
    pub(super) fn raw(&self, chosen: &BTreeSet<Hash128>) -> Vec<RawImage> {
        self.all()
            .filter(|source| chosen.contains(&source.image.hash))
            .map(|source| RawImage {
                hash: source.image.hash,
                size: source.image.raw_size,
                kind: source.image.image_kind,
            })
            .collect()
    }

    pub(super) fn get(&self, hash: Hash128) -> Result<&LocatedImage<'a>> {
        self.by_hash.get(&hash).ok_or_else(|| Error::check(format!("the image {hash} is in no pack")))
    }

    /// The size of an image in bytes.
    pub(super) fn size(&self, hash: Hash128) -> u64 {
        self.by_hash.get(&hash).map_or(0, |source| source.image.raw_size)
    }

    /// All of them, in the order of the packs.
    pub(super) fn all(&self) -> impl Iterator<Item = &LocatedImage<'a>> {
        self.order.iter().filter_map(|hash| self.by_hash.get(hash))
    }

    /// Whether the image stays, and is the only one that `payload` has for its children.
    pub(super) fn lends(&self, hash: Hash128, payload: usize) -> bool {
        let here = self.by_hash.get(&hash).is_some_and(|source| source.payload == payload);
        here && !self.several.contains(&hash)
    }
}

impl offload_packer::ImageSource for Images<'_> {
    type Error = Error;

    fn read(&self, hash: Hash128) -> Result<Vec<u8>> {
        let source = self.get(hash)?;
        source.source.decode(&source.image)
    }
}
