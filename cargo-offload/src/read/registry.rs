//! Images of a file in the runtime's registry form.

use std::collections::BTreeSet;

use offload_containers::contents::{self, Image};
use offload_format::codec::{self, Codec};
use offload_format::limits::Budget;
use offload_format::pack::{NewImage, PackBuilder};
use offload_format::{Limits, Target};
use offload_images::describe::{self, Description};
use offload_rt::Registry;

use crate::error::Result;
use crate::read::input::{Container, Contents};

/// Details to read from images of other toolchains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// For which target each is, which tables tell.
    Target,
    /// Also its kernels and what it needs, which means to decode it.
    Needs,
}

/// One registry for each crate's packs: packages may have modules of the same name. The images of other tool chains are judged
/// by this project's rules, as if they were in a pack.
pub(crate) fn read(contents: &Contents<'_>, known: Detail) -> Result<Vec<Registry>> {
    let mut registries = Vec::new();
    for source in contents.packs.here().packs() {
        let named = contents.packs.named(source.pack).flatten().map(|named| named.source);
        let with_images = std::iter::once(source).chain(named).filter(|it| it.pack.image_count() > 0);
        let packs = with_images.map(|source| source.bytes()).collect::<Result<Vec<_>>>()?;
        registries.push(Registry::from_packs(packs));
    }
    if !contents.containers.is_empty() {
        let budget = Budget::new("the images of the file", contents.limits.allowance(contents.size));
        let mut means = Decoding { limits: contents.listed(), held: contents.held(), budget, known };
        let images = contents.loaded().map(|container| foreign(container, &mut means));
        let images = images.collect::<Result<Vec<_>>>()?;
        registries.push(registry(images.concat())?);
    }
    Ok(registries)
}

/// The modules of a registry in their variants.
pub(crate) fn modules(registry: &Registry) -> Vec<(String, Vec<(String, String)>)> {
    let names: BTreeSet<&str> = registry.entries().iter().map(|entry| entry.module()).collect();
    let mut modules = Vec::new();
    for name in names {
        let variants = registry.variants(name);
        if variants.is_empty() {
            modules.push((name.to_string(), Vec::new()));
        }
        for variant in &variants {
            let values = variant.iter().map(|(name, value)| (name.to_string(), value.to_string()));
            modules.push((name.to_string(), values.collect()));
        }
    }
    modules
}

/// A registry of images of which nothing but the records is asked.
pub(crate) fn registry(images: Vec<NewImage>) -> Result<Registry> {
    let frame = codec::encode(b"", Codec::Raw, 0)?;
    let mut builder = PackBuilder::new("", "");
    for image in images {
        builder.image(image, frame.info())?;
    }
    Ok(Registry::from_pack(builder.finish()?.index))
}

/// Limits of listing and decoding.
struct Decoding {
    limits: Limits,
    /// Of one image.
    held: Limits,
    /// Of all.
    budget: Budget,
    known: Detail,
}

/// The images whose target has a name here, each target once.
fn foreign(container: &Container<'_>, means: &mut Decoding) -> Result<Vec<NewImage>> {
    let mut seen: BTreeSet<Target> = BTreeSet::new();
    let mut images = Vec::new();
    for image in contents::images_of(&container.found, &means.limits)? {
        let Some(target) = image.target.clone().filter(|_| image.is_loadable()) else { continue };
        if !seen.insert(target.clone()) {
            continue;
        }
        // The compiler of HIP's runtime decides what becomes of AMD's SPIR-V, and by which names its kernels are found.
        let is_read = means.known == Detail::Needs && target != Target::AmdgcnSpirv;
        let described = if is_read { describe(&image, means) } else { None };
        // What nothing is known of is judged by its target.
        let described = described.unwrap_or_default();
        images.push(NewImage {
            format_version: described.format_version,
            aspects: described.aspects,
            kernels: described.kernels,
            ..NewImage::new(&container.name, target)
        });
    }
    Ok(images)
}

fn describe(image: &Image<'_>, means: &mut Decoding) -> Option<Description> {
    let bytes = means.budget.spend(image.raw_size).and_then(|()| image.decode(&means.held)).ok()?;
    describe::any(&bytes).ok().flatten()
}
