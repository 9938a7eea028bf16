//! The images of one kernel module, with what every choice asks of them: its variants, and which image has which kernel.
//!
//! This is found out once, when a module is first asked for; a choice then looks at numbers alone.

use std::collections::{BTreeMap, BTreeSet};
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
    /// Numbers of the images without records, which may have any kernel.
    pub(crate) silent: Vec<usize>,
}

/// A kernel, and which images have it.
#[derive(Debug)]
pub(crate) struct NamedKernel {
    pub(crate) name: String,
    /// Its place in the registry's order of kernels.
    pub(crate) order: usize,
    /// In the registry's order.
    pub(crate) holders: Vec<Holder>,
}

/// An image that has a kernel, as its number in [`Group::entries`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder {
    pub(crate) image: usize,
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
        let NamedKernels { mut kernels, silent, .. } = NamedKernels::of(&new);
        kernels.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        for kernel in &mut kernels {
            kernel.holders.extend(silent.iter().map(|image| Holder { image: *image, work_items: 0 }));
        }
        Group { variant, entries: new.into_iter().map(|new| new.entry).collect(), kernels, silent }
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
    silent: Vec<usize>,
}

impl<'e> NamedKernels<'e> {
    fn of(new: &[NewEntry<'e>]) -> NamedKernels<'e> {
        let mut all = NamedKernels { kernels: Vec::new(), places: BTreeMap::new(), silent: Vec::new() };
        for (image, NewEntry { kernels, .. }) in new.iter().enumerate() {
            for (number, kernel) in kernels.iter().enumerate() {
                let place = all.place(number, kernel.name);
                if let Some(known) = all.kernels.get_mut(place) {
                    known.holders.push(Holder { image, work_items: work_items(kernel) });
                }
            }
            if kernels.is_empty() {
                all.silent.push(image);
            }
        }
        all
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
