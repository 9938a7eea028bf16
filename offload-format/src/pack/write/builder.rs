//! Collecting what goes into a pack.

use std::collections::BTreeMap;

use super::super::layout::NONE;
use super::super::new::{NewBlock, NewImage};
use super::super::record::{Missing, MissingKind};
use crate::codec::FrameInfo;
use crate::{Error, Hash128};

/// Collects images and lays them out. Equal images are stored once.
#[derive(Debug)]
pub struct PackBuilder {
    pub(super) meta: Vec<(String, String)>,
    pub(super) blocks: BTreeMap<Hash128, NewBlock>,
    pub(super) images: Vec<(NewImage, FrameInfo)>,
    pub(super) missing: Vec<OwnedMissing>,
}

/// A [`Missing`] with texts of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OwnedMissing {
    kind: MissingKind,
    module: String,
    target: String,
    reason: String,
}

impl OwnedMissing {
    pub(super) fn borrowed(&self) -> Missing<'_> {
        Missing { kind: self.kind, module: &self.module, target: &self.target, reason: &self.reason }
    }
}

impl PackBuilder {
    /// A pack of the crate `package` `version`.
    pub fn new(package: &str, version: &str) -> PackBuilder {
        let meta = [("package", package), ("version", version)];
        let meta = meta.map(|(key, value)| (key.to_string(), value.to_string()));
        PackBuilder { meta: meta.into(), blocks: BTreeMap::new(), images: Vec::new(), missing: Vec::new() }
    }

    /// Adds a block, for images that [`FrameInfo::in_block`] places in it.
    pub fn block(&mut self, block: NewBlock) -> &mut PackBuilder {
        self.blocks.insert(block.hash, block);
        self
    }

    /// Adds a value to the metadata, behind those that are there.
    pub fn meta(&mut self, key: &str, value: &str) -> &mut PackBuilder {
        self.meta.push((key.to_string(), value.to_string()));
        self
    }

    /// Adds an image whose frame the caller will place as [`PackLayout::frames`](super::PackLayout::frames) says.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Invalid`] if there are more than 2³² − 1 images.
    pub fn image(&mut self, image: NewImage, frame: FrameInfo) -> Result<&mut PackBuilder, Error> {
        if self.images.len() as u64 >= u64::from(NONE) {
            return Err(Error::invalid("the number of images", self.images.len() as u64));
        }
        self.images.push((image, frame));
        Ok(self)
    }

    /// Records what the pack is without.
    pub fn missing(&mut self, missing: Missing<'_>) -> &mut PackBuilder {
        let Missing { kind, module, target, reason } = missing;
        let [module, target, reason] = [module, target, reason].map(str::to_string);
        self.missing.push(OwnedMissing { kind, module, target, reason });
        self
    }

    pub(super) fn sort(&mut self) {
        self.images.sort_by(|(a, _), (b, _)| {
            (&a.module, &a.variant, &a.target, &a.part).cmp(&(&b.module, &b.variant, &b.target, &b.part))
        });
        self.missing.sort();
    }
}
