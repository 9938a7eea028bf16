//! The images of one kernel module, with what every choice asks of them: its variants, and which image has which kernel.
//!
//! This is found out once, when a module is first asked for; a choice then looks at numbers alone.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use offload_format::Variant;

use crate::entry::{Entry, NewEntry, work_items};

/// The images of a kernel module.
#[derive(Debug)]
pub(crate) struct ModuleImages {
    /// In the registry's order.
    pub(crate) entries: Arc<[Entry]>,
    /// The packages that have a module of this name, sorted.
    pub(crate) packages: Vec<String>,
    /// The variants, sorted; none for a module without variants.
    pub(crate) variants: Vec<Variant>,
    groups: Vec<Arc<Group>>,
}

/// The images of one variant.
#[derive(Debug)]
pub(crate) struct Group {
    /// `None` for a module without variants.
    variant: Option<Variant>,
    /// In the registry's order.
    pub(crate) entries: Vec<Entry>,
    /// Every kernel that a record names, sorted by name.
    pub(crate) kernels: Vec<NamedKernel>,
    /// Images with the same kernels, which require the same, as their numbers in the registry's order.
    pub(crate) alike: Vec<Vec<usize>>,
    /// Numbers of the images without records, which may have any kernel.
    pub(crate) silent: Vec<usize>,
}

/// A kernel, and which images have it.
#[derive(Debug)]
pub(crate) struct NamedKernel {
    pub(crate) name: String,
    /// Its place in the registry's order of kernels.
    pub(crate) order: usize,
    pub(crate) holders: Vec<Holder>,
}

/// Images that have a kernel, as their number in [`Group::alike`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder {
    pub(crate) images: usize,
    /// Work-items of the work-group that the kernel requires there; 0 if it requires none.
    pub(crate) work_items: u64,
}

impl ModuleImages {
    pub(crate) fn new(new: Vec<NewEntry<'_>>) -> ModuleImages {
        let entries: Vec<Entry> = new.iter().map(|new| new.entry.clone()).collect();
        // A pack tells its package by its header: one image of each is asked.
        let first_of_pack = entries.chunk_by(Entry::shares_pack).filter_map(<[Entry]>::first);
        let packages: BTreeSet<&str> = first_of_pack.map(Entry::package).collect();
        let packages = packages.into_iter().map(str::to_string).collect();
        let mut by_variant: BTreeMap<Option<Variant>, Vec<NewEntry<'_>>> = BTreeMap::new();
        for new in new {
            // A text that is no variant is of a later release; its image is refused with that reason.
            let variant = new.entry.parsed_variant().filter(|variant| !variant.is_empty());
            by_variant.entry(variant.cloned()).or_default().push(new);
        }
        let variants = by_variant.keys().flatten().cloned().collect();
        let groups = by_variant.into_iter().map(|(variant, entries)| Arc::new(Group::new(variant, entries)));
        ModuleImages { packages, variants, groups: groups.collect(), entries: entries.into() }
    }

    /// The images of this variant.
    pub(crate) fn group(&self, variant: Option<&Variant>) -> Option<&Arc<Group>> {
        self.groups.iter().find(|group| group.variant.as_ref() == variant)
    }
}

impl Group {
    fn new(variant: Option<Variant>, new: Vec<NewEntry<'_>>) -> Group {
        let NamedKernels { mut kernels, mut alike, silent, .. } = NamedKernels::from_entries(&new);
        kernels.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        if !silent.is_empty() {
            let holder = Holder { images: alike.len(), work_items: 0 };
            kernels.iter_mut().for_each(|kernel| kernel.holders.push(holder));
            alike.push(silent.clone());
        }
        let entries = new.into_iter().map(|new| new.entry).collect();
        Group { variant, entries, kernels, alike, silent }
    }

    /// The images of which the holder is.
    pub(crate) fn images(&self, holder: &Holder) -> &[usize] {
        self.alike.get(holder.images).map_or(&[], Vec::as_slice)
    }

    /// Where the kernel is in [`Group::kernels`].
    pub(crate) fn kernel(&self, name: &str) -> Option<usize> {
        self.kernels.binary_search_by(|kernel| kernel.name.as_str().cmp(name)).ok()
    }

    /// Its variant as texts show it, empty if there is none.
    pub(crate) fn shown_variant(&self) -> String {
        self.variant.as_ref().map(ToString::to_string).unwrap_or_default()
    }
}

/// The kernels of some images while they are collected, in the order in which they come.
struct NamedKernels<'e> {
    kernels: Vec<NamedKernel>,
    places: BTreeMap<&'e str, usize>,
    alike: Vec<Vec<usize>>,
    silent: Vec<usize>,
}

impl<'e> NamedKernels<'e> {
    fn from_entries(new: &'e [NewEntry<'e>]) -> NamedKernels<'e> {
        let kernels = Vec::new();
        let places = BTreeMap::new();
        let mut all = NamedKernels { kernels, places, alike: Vec::new(), silent: Vec::new() };
        let mut first = 0;
        // Neighbours with the same kernels share them.
        for neighbours in new.chunk_by(|one, other| Rc::ptr_eq(&one.kernels, &other.kernels)) {
            let next = neighbours.len().saturating_add(first);
            all.add(neighbours, (first..next).collect());
            first = next;
        }
        all
    }

    /// Adds the kernels of `neighbours`, which have the same ones and these numbers.
    fn add(&mut self, neighbours: &'e [NewEntry<'e>], images: Vec<usize>) {
        let kernels = neighbours.first().map_or(&[][..], |new| &new.kernels);
        if kernels.is_empty() {
            return self.silent.extend(images);
        }
        for (number, kernel) in kernels.iter().enumerate() {
            let place = self.place(number, kernel.name);
            let holder = self.alike.len();
            if let Some(known) = self.kernels.get_mut(place) {
                known.holders.push(Holder { images: holder, work_items: work_items(kernel) });
            }
        }
        self.alike.push(images);
    }

    /// Where the kernel is, which is number `number` of its image. Images of a module have mostly the same kernels in the
    /// same order, so that this is where it is looked for first.
    fn place(&mut self, number: usize, name: &'e str) -> usize {
        if self.kernels.get(number).is_some_and(|kernel| kernel.name == name) {
            return number;
        }
        let order = self.kernels.len();
        let place = *self.places.entry(name).or_insert(order);
        if place == order {
            self.kernels.push(NamedKernel { name: name.to_string(), order, holders: Vec::new() });
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use offload_format::codec::{self, Codec};
    use offload_format::pack::{KernelInfo, NewImage, PackBuilder};

    use super::*;
    use crate::index::Index;
    use crate::sections::{PackBytes, PackSource, PackSources};

    /// The images of a module with these targets, parts and kernels.
    fn group(images: &[(&str, &str, &[&str])]) -> Arc<Group> {
        let frame = codec::encode(b"code", Codec::Raw, 0).unwrap();
        let mut builder = PackBuilder::new("p", "1.0.0");
        for (target, part, kernels) in images {
            let kernels = kernels.iter().map(|name| KernelInfo::new(*name)).collect();
            let image =
                NewImage { kernels, part: (*part).into(), ..NewImage::new("m", target.parse().unwrap()) };
            builder.image(image, frame.info()).unwrap();
        }
        let bytes = builder.finish().unwrap().with_frames(std::iter::repeat_n(&frame, images.len())).unwrap();
        let pack = PackSource { bytes: PackBytes::Owned(Arc::from(bytes)), home: None };
        let index = Index::new(PackSources { packs: vec![pack], unreadable: Vec::new() });
        index.module("m").group(None).unwrap().clone()
    }

    /// Each kernel with the images that have it.
    fn holders(group: &Group) -> Vec<(String, Vec<usize>)> {
        let mut all = Vec::new();
        for kernel in &group.kernels {
            let images = kernel.holders.iter().flat_map(|holder| group.images(holder)).copied().collect();
            all.push((kernel.name.clone(), images));
        }
        all
    }

    #[test]
    fn neighbours_with_the_same_kernels_are_kept_together() {
        let both: &[&str] = &["b", "a"];
        let found = group(&[("cubin:sm_50", "", both), ("cubin:sm_60", "", both), ("cubin:sm_70", "", both)]);
        assert_eq!(holders(&found), [("a".into(), vec![0, 1, 2]), ("b".into(), vec![0, 1, 2])]);
        assert_eq!((found.alike.len(), found.kernels[1].order), (1, 0));
    }

    #[test]
    fn parts_and_images_without_records_have_their_own() {
        let found = group(&[
            ("cubin:sm_50", "1", &["a"]),
            ("cubin:sm_50", "2", &["b"]),
            ("cubin:sm_60", "", &["a", "b"]),
            ("cubin:sm_70", "", &[]),
            ("cubin:sm_80", "", &["a", "b"]),
        ]);
        assert_eq!(holders(&found), [("a".into(), vec![0, 2, 4, 3]), ("b".into(), vec![1, 2, 4, 3])]);
        assert_eq!(found.silent, [3]);
    }
}
