//! Bytes by module, by target and by kernel.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::read::records::{ImageRecord, Origin};

/// What images with something in common take.
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

/// What an image takes of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) stored: u64,
    pub(super) first: First,
}

/// Whether it is the first of the images with its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    Yes,
    No,
}

impl Groups {
    pub(super) fn of(images: &[ImageRecord]) -> Groups {
        let (mut modules, mut targets, mut kernels) = (Sums::new(), Sums::new(), Sums::new());
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
            modules: sorted("module", modules),
            targets: sorted("target", targets),
            kernels: sorted("kernel", kernels),
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

/// What each image takes: equal images of a pack lie in one place, and share it in equal parts.
pub(crate) fn shares(images: &[ImageRecord]) -> Vec<Share> {
    let place = |image: &ImageRecord| match (image.origin, &image.hash) {
        (Origin::Pack(pack, _), Some(hash)) => Some((image.file.clone(), pack, hash.clone())),
        _ => None,
    };
    let mut users: BTreeMap<(String, usize, String), u64> = BTreeMap::new();
    images.iter().filter_map(place).for_each(|place| *users.entry(place).or_default() += 1);
    let mut seen: BTreeMap<(String, usize, String), u64> = BTreeMap::new();
    let share = |image: &ImageRecord| {
        let Some(place) = place(image) else { return Share { stored: image.stored_size, first: First::Yes } };
        let sharers = users.get(&place).copied().unwrap_or(1).max(1);
        let number = seen.entry(place).or_default();
        // The bytes that do not divide go to the first.
        let rest = if *number == 0 { image.stored_size % sharers } else { 0 };
        let first = if *number == 0 { First::Yes } else { First::No };
        *number = number.saturating_add(1);
        Share { stored: (image.stored_size / sharers).saturating_add(rest), first }
    };
    images.iter().map(share).collect()
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

fn sorted(by: &'static str, sums: Sums) -> Vec<Group> {
    let group = |(name, sum): (String, Sum)| Group {
        reason: "size",
        by,
        name,
        images: sum.images,
        stored_size: sum.stored,
        raw_size: sum.raw,
    };
    let mut groups: Vec<Group> = sums.into_iter().map(group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse((group.stored_size, group.raw_size)));
    groups
}
