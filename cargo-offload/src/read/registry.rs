//! The images of a file, as the runtime would see them.

use std::collections::BTreeSet;

use offload_containers::contents::{self, Image};
use offload_format::codec::{self, Codec};
use offload_format::limits::Budget;
use offload_format::pack::{NewImage, PackBuilder};
use offload_format::{Limits, Target, Variant};
use offload_images::describe::{self, Description};
use offload_rt::Registry;

use crate::error::Result;
use crate::read::input::{Container, Contents};

/// What is asked of images of other tool chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// For which target each is, which tables tell.
    Target,
    /// Also its kernels and what it needs, which means to decode it.
    Needs,
}

/// One registry for each crate's packs: packages may have modules of the same name. The images of other tool chains are judged
/// by this project's rules, as if they were in a pack.
pub(crate) fn of(contents: &Contents<'_>, known: Known) -> Result<Vec<Registry>> {
    let mut registries = Vec::new();
    for source in contents.packs.here().packs() {
        let named = contents.packs.named(source.pack).flatten().map(|named| named.source);
        let with_images = std::iter::once(source).chain(named).filter(|it| it.pack.image_count() > 0);
        let packs = with_images.map(|source| source.bytes()).collect::<Result<Vec<_>>>()?;
        registries.push(Registry::from_packs(packs));
    }
    if !contents.containers.is_empty() {
        let budget = Budget::new("the images of the file", contents.limits.allowance(contents.size));
        let mut means = Means { limits: contents.listed(), held: contents.held(), budget, known };
        let images = contents.loaded().map(|container| foreign(container, &mut means));
        let images = images.collect::<Result<Vec<_>>>()?;
        registries.push(registry(images.concat())?);
    }
    Ok(registries)
}

/// The modules of a registry in their variants.
pub(crate) fn modules(registry: &Registry) -> Vec<(String, Vec<(String, String)>)> {
    let names: BTreeSet<&str> = registry.entries().iter().map(|entry| entry.module()).collect();
    let values = |variant: &Variant| -> Vec<(String, String)> {
        variant.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    };
    let of_module = |name: &str| {
        let variants = registry.variants(name);
        let plain = variants.is_empty().then(Vec::new);
        let all = plain.into_iter().chain(variants.iter().map(values));
        all.map(|values| (name.to_string(), values)).collect::<Vec<_>>()
    };
    names.into_iter().flat_map(of_module).collect()
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

/// What listing and decoding may take.
struct Means {
    limits: Limits,
    /// Of one image.
    held: Limits,
    /// Of all.
    budget: Budget,
    known: Known,
}

/// The images whose target has a name here, each target once.
fn foreign(container: &Container<'_>, means: &mut Means) -> Result<Vec<NewImage>> {
    let mut seen: BTreeSet<Target> = BTreeSet::new();
    let mut images = Vec::new();
    for image in contents::images_of(&container.found, &means.limits)? {
        let Some(target) = image.target.clone().filter(|_| image.is_loadable()) else { continue };
        if !seen.insert(target.clone()) {
            continue;
        }
        // The compiler of HIP's runtime decides what becomes of AMD's SPIR-V, and by which names its kernels are found.
        let is_read = means.known == Known::Needs && target != Target::AmdgcnSpirv;
        let described = if is_read { described(&image, means) } else { None };
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

fn described(image: &Image<'_>, means: &mut Means) -> Option<Description> {
    let bytes = means.budget.spend(image.raw_size).and_then(|()| image.decode(&means.held)).ok()?;
    describe::any(&bytes).ok().flatten()
}
