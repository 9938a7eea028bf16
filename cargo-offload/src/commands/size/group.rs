//! Sizes by module, target and kernel.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::read::records::{ImageRecord, Origin};

/// Size of a group of images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Group {
    reason: &'static str,
    by: &'static str,
    pub(super) name: String,
    pub(super) images: u64,
    /// In the file; what several images share is divided among them.
    pub(super) stored_size: u64,
    /// Of a kernel its code alone.
    pub(super) raw_size: u64,
}

/// The same bytes three times, the largest group first.
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) modules: Vec<Group>,
    targets: Vec<Group>,
    kernels: Vec<Group>,
}

/// Share of an image in the size of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) stored: u64,
    pub(super) first: FirstOccurrence,
}

/// Whether it is the first of the images with its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstOccurrence {
    Yes,
    No,
}

impl Groups {
    pub(super) fn from_images(images: &[ImageRecord]) -> Groups {
        let mut modules = Sums::new();
        let mut targets = Sums::new();
        let mut kernels = Sums::new();
        for (image, share) in images.iter().zip(shares(images)) {
            let whole = Sum { images: 1, stored: share.stored, raw: image.raw_size };
            add(&mut modules, image.module_name(), whole);
            add(&mut targets, image.target.clone(), whole);
            for (name, size) in code(image) {
                let stored = u128::from(share.stored) * u128::from(size) / u128::from(image.raw_size.max(1));
                let stored = u64::try_from(stored).unwrap_or(u64::MAX);
                add(&mut kernels, name, Sum { images: 1, stored, raw: size });
            }
        }
        Groups {
            modules: sort_by_size("module", modules),
            targets: sort_by_size("target", targets),
            kernels: sort_by_size("kernel", kernels),
        }
    }

    /// With what they have in common.
    pub(super) fn by(&self) -> [(&'static str, &[Group]); 3] {
        [("module", &self.modules), ("target", &self.targets), ("kernel", &self.kernels)]
    }
}

/// The code of each kernel, and all else: tables, data, functions that kernels share. An image without machine code is
/// all else.
fn code(image: &ImageRecord) -> Vec<(String, u64)> {
    let kernels = image.kernels.iter().flatten();
    let sizes: Vec<(String, u64)> =
        kernels.filter_map(|kernel| Some((kernel.name.clone(), kernel.code_size?))).collect();
    let sum = sizes.iter().fold(0u64, |sum, (_, size)| sum.saturating_add(*size));
    let rest = match sizes.as_slice() {
        [] => "(no machine code)",
        _ => "(tables, data, shared functions)",
    };
    sizes.into_iter().chain([(rest.to_string(), image.raw_size.saturating_sub(sum))]).collect()
}

/// The share of each image: equal images of a pack are stored once, and split the size evenly.
pub(crate) fn shares(images: &[ImageRecord]) -> Vec<Share> {
    let mut users: BTreeMap<StoredContent, u64> = BTreeMap::new();
    for content in images.iter().filter_map(StoredContent::new) {
        *users.entry(content).or_default() += 1;
    }
    let mut seen: BTreeMap<StoredContent, u64> = BTreeMap::new();
    images
        .iter()
        .map(|image| {
            let Some(content) = StoredContent::new(image) else {
                return Share { stored: image.stored_size, first: FirstOccurrence::Yes };
            };
            let sharers = users.get(&content).copied().unwrap_or(1).max(1);
            let number = seen.entry(content).or_default();
            // The bytes that do not divide go to the first.
            let rest = if *number == 0 { image.stored_size % sharers } else { 0 };
            let first = if *number == 0 { FirstOccurrence::Yes } else { FirstOccurrence::No };
            *number = number.saturating_add(1);
            Share { stored: (image.stored_size / sharers).saturating_add(rest), first }
        })
        .collect()
}

/// Content that equal images of a pack share.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct StoredContent {
    file: String,
    pack: usize,
    hash: String,
}

impl StoredContent {
    /// `None` for an image in another toolchain's container, which shares nothing.
    fn new(image: &ImageRecord) -> Option<StoredContent> {
        let Origin::Pack(pack, _) = image.origin else { return None };
        Some(StoredContent { file: image.file.clone(), pack, hash: image.hash.clone()? })
    }
}

/// Images, and their bytes.
#[derive(Clone, Copy, Default)]
struct Sum {
    images: u64,
    stored: u64,
    raw: u64,
}

type Sums = BTreeMap<String, Sum>;

fn add(sums: &mut Sums, name: String, more: Sum) {
    let sum = sums.entry(name).or_default();
    sum.images = sum.images.saturating_add(more.images);
    sum.stored = sum.stored.saturating_add(more.stored);
    sum.raw = sum.raw.saturating_add(more.raw);
}

fn sort_by_size(by: &'static str, sums: Sums) -> Vec<Group> {
    let mut groups = Vec::new();
    for (name, Sum { images, stored, raw }) in sums {
        groups.push(Group { reason: "size", by, name, images, stored_size: stored, raw_size: raw });
    }
    groups.sort_by_key(|group| std::cmp::Reverse((group.stored_size, group.raw_size)));
    groups
}
