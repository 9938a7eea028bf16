//! Modules of a file and their images, to which requirements apply.

use std::collections::{BTreeMap, BTreeSet};

use offload_containers::contents::Image;
use offload_format::Variant;
use offload_format::pack::MissingKind;
use offload_rt::{Entry, Registry};

use crate::read::input::{Container, Contents};
use crate::settings::target_filter::glob;

/// A module in one of its variants, or a container of another tool chain.
pub(super) struct Module<'m> {
    pub(super) name: String,
    pub(super) variant: Variant,
    pub(super) images: Vec<&'m Entry>,
    pub(super) registry: Option<&'m Registry>,
    /// Labels of images for machines without a target name.
    unknown: BTreeSet<String>,
    /// The demands that it need not meet.
    excepted: Vec<String>,
}

/// All of them, in the order of the file.
pub(super) fn from_registries<'m>(contents: &Contents<'_>, registries: &'m [Registry]) -> Vec<Module<'m>> {
    let modules = registries.iter().flat_map(from_registry);
    let unknown = contents.loaded().filter(|container| is_unknown(container)).map(|container| Module {
        name: container.name.clone(),
        variant: Variant::default(),
        images: Vec::new(),
        registry: None,
        unknown: loadable(container).map(Image::described_target).collect(),
        excepted: Vec::new(),
    });
    modules.chain(unknown).collect()
}

/// Those of a registry.
pub(super) fn from_registry(registry: &Registry) -> Vec<Module<'_>> {
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut modules: Vec<Module<'_>> = Vec::new();
    for entry in registry.entries() {
        let place = *places.entry((entry.module(), entry.variant())).or_insert(modules.len());
        match modules.get_mut(place) {
            Some(module) => module.images.push(entry),
            None => modules.push(Module {
                name: entry.module().to_string(),
                variant: entry.variant().parse().unwrap_or_default(),
                images: vec![entry],
                registry: Some(registry),
                unknown: BTreeSet::new(),
                excepted: Vec::new(),
            }),
        }
    }
    modules
}

/// Every image is for a machine that has no name here: no registry has it, and it would meet every demand.
fn is_unknown(container: &Container<'_>) -> bool {
    loadable(container).next().is_some() && loadable(container).all(|image| image.target.is_none())
}

/// The images of a container that a driver can load, without code for a later link.
fn loadable<'c>(container: &'c Container<'_>) -> impl Iterator<Item = &'c Image<'c>> {
    container.images.iter().filter(|image| image.is_loadable())
}

impl<'m> Module<'m> {
    /// The name for people, with its variant.
    pub(super) fn shown(&self) -> String {
        if self.variant.is_empty() { self.name.clone() } else { format!("{}[{}]", self.name, self.variant) }
    }

    /// For what it has images.
    pub(super) fn targets(&self) -> BTreeSet<String> {
        let known = self.images.iter().map(|image| image.target_text().to_string());
        known.chain(self.unknown.iter().cloned()).collect()
    }

    /// The same, which need not meet demands that fit `patterns`.
    pub(super) fn with_exceptions(self, patterns: Vec<String>) -> Module<'m> {
        Module { excepted: patterns, ..self }
    }

    /// Whether it need not meet `demand`.
    pub(super) fn may_lack(&self, demand: &str) -> bool {
        self.excepted.iter().any(|pattern| glob(pattern, demand))
    }

    /// Whether the settings of the build keep `kernel` away from all of `targets`.
    pub(super) fn keeps_away(&self, kernel: &str, targets: &BTreeSet<String>) -> bool {
        let missing = self.registry.map_or(&[][..], Registry::missing);
        targets.iter().all(|target| {
            missing.iter().any(|missing| {
                let name = missing.reason.split_once(": ").map(|(name, _)| name);
                missing.kind == MissingKind::KeptKernel
                    && missing.module == self.name
                    && missing.target == *target
                    && name == Some(kernel)
            })
        })
    }

    /// Whether its images come from a build with offload-build.
    pub(super) fn is_own(&self) -> bool {
        self.images.iter().any(|image| !image.package().is_empty())
    }
}

/// The names of the kernels of `images`, as far as they are recorded.
pub(super) fn kernels<'i>(images: &[&'i Entry]) -> BTreeSet<&'i str> {
    images.iter().flat_map(|image| image.kernels().iter().map(|kernel| kernel.name.as_str())).collect()
}
