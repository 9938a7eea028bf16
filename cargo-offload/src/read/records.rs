//! Uniform records of the images of a file, from packs and from other toolchains.

mod code;
mod compilers;
mod kernel;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use offload_containers::contents::{self, BundleSlice, Image as ForeignImage};
use offload_format::limits::Budget;
use offload_format::pack::Image;
use offload_format::{Hash128, Import, Limits, SpecConstant};
use offload_images::describe::Description;
use serde::Serialize;

pub(crate) use self::kernel::{KernelRecord, or_dash, text_or_dash};
use crate::cli;
use crate::error::{Error, Result};
use crate::print::text::{escaped, listed};
use crate::read::input::{Container, Contents};
use crate::read::limit_hint::with_limit_hint;
use crate::read::pack_file::LocatedPack;
use crate::read::packs::ReachedPack;
use crate::settings::target_filter::{TargetFilter, glob};

/// An image, as `inspect` shows it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ImageRecord {
    pub(crate) reason: &'static str,
    pub(crate) package: String,
    pub(crate) version: String,
    /// The name of the file that has it, if the file that was looked at names another one.
    pub(crate) file: String,
    pub(crate) module: String,
    pub(crate) variant: String,
    pub(crate) part: String,
    /// Name of the image in another toolchain's container, mostly empty.
    pub(crate) name: String,
    pub(crate) target: String,
    pub(crate) aspects: Vec<String>,
    /// The device libraries that are linked with it when it is loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) imports: Vec<String>,
    /// The functions that it has for others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) exports: Vec<String>,
    /// The specialisation constants, as the pack has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) spec: Vec<String>,
    pub(crate) image_kind: String,
    pub(crate) offload_kind: String,
    pub(crate) codec: String,
    pub(crate) filter: String,
    /// The block that the image lies in with others; `stored_size` is its share then.
    pub(crate) block: Option<u32>,
    /// Hash of the delta parent.
    pub(crate) parent: Option<String>,
    pub(crate) stored_size: u64,
    pub(crate) raw_size: u64,
    /// Of a pack; containers of other tool chains record none.
    pub(crate) hash: Option<String>,
    /// Containers of the image, outermost first; empty for a pack.
    pub(crate) containers: Vec<String>,
    /// Label of the image's machine in another toolchain's container.
    pub(crate) label: String,
    /// `None` if they were not read.
    pub(crate) kernels: Option<Vec<KernelRecord>>,
    /// Compilers that the image records; empty if kernels were not measured.
    #[serde(skip)]
    pub(crate) compilers: BTreeSet<String>,
    #[serde(skip)]
    pub(crate) origin: Origin,
}

/// Location of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// Number of the pack among all that are reached, and of the image in it.
    Pack(usize, u32),
    /// Number of the container, and of the image in it.
    Container(usize, usize),
}

/// Kernel details to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernels {
    /// The records of packs.
    Recorded,
    /// That, and what images of other tool chains say, which means to decode them.
    Read,
    /// That, and the size of their code, which means to decode everything.
    Measured,
}

impl ImageRecord {
    /// The module with its variant.
    pub(crate) fn module_name(&self) -> String {
        match self.variant.as_str() {
            "" => self.module.clone(),
            variant => format!("{}[{variant}]", self.module),
        }
    }
}

/// Selection of images by target and module.
#[derive(Debug)]
pub(crate) struct Selection {
    targets: Vec<TargetFilter>,
    modules: Vec<String>,
}

impl Selection {
    pub(crate) fn parse(select: &cli::Select) -> Result<Selection> {
        let targets = select.target.iter().map(|word| TargetFilter::parse(word)).collect::<Result<_>>()?;
        Ok(Selection { targets, modules: select.module.clone() })
    }

    /// Whether all images are meant.
    pub(crate) fn is_everything(&self) -> bool {
        self.targets.is_empty() && self.modules.is_empty()
    }

    /// None of `all` is wanted.
    fn nothing(&self, all: &[ImageRecord]) -> Error {
        let targets = self.targets.iter().map(|filter| format!("`--for {}`", filter.given()));
        let modules = self.modules.iter().map(|name| format!("`--module {name}`"));
        let wanted = listed(targets.chain(modules)).unwrap_or_default();
        let there: BTreeSet<String> =
            all.iter().map(|record| format!("{} {}", record.module, record.target)).collect();
        let there = listed(there.into_iter()).unwrap_or_default();
        Error::usage(format!("no image matches {wanted}")).hint(format!("available images: {there}"))
    }

    fn has(&self, record: &ImageRecord) -> bool {
        (self.targets.is_empty() || self.targets.iter().any(|filter| filter.matches(&record.target)))
            && (self.modules.is_empty() || self.modules.iter().any(|pattern| glob(pattern, &record.module)))
    }

    /// The images of `contents` that are wanted.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn select(&self, contents: &Contents<'_>, kernels: Kernels) -> Result<Vec<ImageRecord>> {
        let wanted = self.any_of(contents, kernels)?;
        let others = if wanted.is_empty() { all(contents)? } else { Vec::new() };
        if others.is_empty() { Ok(wanted) } else { Err(self.nothing(&others)) }
    }

    /// As [`Selection::of`], where it is no mistake that there is none.
    pub(crate) fn any_of(&self, contents: &Contents<'_>, kernels: Kernels) -> Result<Vec<ImageRecord>> {
        let mut wanted = all(contents)?;
        wanted.retain(|record| self.has(record));
        if kernels != Kernels::Recorded {
            read_kernels(contents, &mut wanted, kernels)?;
        }
        Ok(wanted)
    }
}

/// All images of a file: those of packs by package and module, then those of containers in the order of the file.
pub(crate) fn all(contents: &Contents<'_>) -> Result<Vec<ImageRecord>> {
    let mut records = Vec::new();
    for (number, reached) in contents.packs.all().enumerate() {
        for (index, image) in (0..).zip(reached.source.pack.images()) {
            records.push(pack_record(reached, &image?, Origin::Pack(number, index))?);
        }
    }
    records.sort_by(|a, b| (&a.package, &a.module).cmp(&(&b.package, &b.module)));
    for (number, container) in contents.containers.iter().enumerate() {
        let images = container.images.iter().enumerate();
        records.extend(
            images.map(|(index, image)| container_record(container, image, Origin::Container(number, index))),
        );
    }
    Ok(records)
}

fn pack_record(reached: ReachedPack<'_>, image: &Image<'_>, origin: Origin) -> Result<ImageRecord> {
    let pack = &reached.source.pack;
    let kernels = pack.kernels(image).map(|kernel| kernel.map(KernelRecord::from).map_err(Error::from));
    let stored = pack.stored(image)?;
    let parent = image.parent.map(|parent| pack.image(parent)).transpose()?;
    Ok(ImageRecord {
        reason: "image",
        package: pack.meta("package").unwrap_or_default().to_string(),
        version: pack.meta("version").unwrap_or_default().to_string(),
        file: reached.file.unwrap_or_default().to_string(),
        module: image.module.to_string(),
        variant: image.variant.to_string(),
        part: image.part.to_string(),
        name: String::new(),
        aspects: image.aspects.names(),
        imports: Import::list(image.imports).iter().map(Import::to_string).collect(),
        exports: image.exported().map(str::to_string).collect(),
        spec: SpecConstant::list(image.spec).iter().map(SpecConstant::to_string).collect(),
        target: image.target_text.to_string(),
        image_kind: image.image_kind.to_string(),
        offload_kind: image.offload_kind.to_string(),
        codec: stored.codec.to_string(),
        filter: image.filter.to_string(),
        block: image.block,
        parent: parent.map(|parent| parent.hash.to_string()),
        stored_size: stored.size,
        raw_size: image.raw_size,
        hash: Some(image.hash.to_string()),
        containers: Vec::new(),
        label: String::new(),
        kernels: Some(kernels.collect::<Result<_>>()?),
        compilers: BTreeSet::new(),
        origin,
    })
}

fn container_record(container: &Container<'_>, image: &ForeignImage<'_>, origin: Origin) -> ImageRecord {
    ImageRecord {
        reason: "image",
        package: String::new(),
        version: String::new(),
        file: String::new(),
        module: container.name.clone(),
        variant: String::new(),
        part: String::new(),
        name: image.name.clone(),
        aspects: Vec::new(),
        imports: Vec::new(),
        exports: Vec::new(),
        spec: Vec::new(),
        target: image.target_text(),
        image_kind: image.format.map_or_else(String::new, |format| format.to_string()),
        offload_kind: image.offload_kind.to_string(),
        codec: image.compression.to_string(),
        filter: String::new(),
        block: None,
        parent: None,
        stored_size: image.stored_size,
        raw_size: image.raw_size,
        hash: None,
        containers: image.containers.iter().map(ToString::to_string).collect(),
        label: image.label.clone(),
        kernels: None,
        compilers: BTreeSet::new(),
        origin,
    }
}

/// Data from the content of an image.
struct ReadImage {
    described: Option<Description>,
    sizes: BTreeMap<String, u64>,
    compilers: BTreeSet<String>,
}

/// Reads the kernels of the images whose container does not tell them, and measures their code.
fn read_kernels(contents: &Contents<'_>, records: &mut [ImageRecord], kernels: Kernels) -> Result<()> {
    let origins: Vec<Origin> = records
        .iter()
        .filter(|record| kernels == Kernels::Measured || record.kernels.is_none())
        .map(|record| record.origin)
        .collect();
    let mut read = BTreeMap::new();
    each_decoded(contents, &origins, &mut |origin, bytes| {
        // An image that cannot be read has no kernels that anyone could show; `verify` and `extract` say why.
        if let Ok(bytes) = bytes {
            let described = offload_images::describe::any(&bytes).ok().flatten();
            let found = ReadImage {
                described,
                sizes: code::sizes(&bytes),
                compilers: compilers::compiler_versions(&bytes),
            };
            read.insert(origin, found);
        }
        Ok(())
    })?;
    for record in records {
        let Some(ReadImage { described, sizes, compilers }) = read.remove(&record.origin) else { continue };
        record.compilers = compilers;
        if let Some(described) = described.filter(|_| record.kernels.is_none()) {
            record.aspects = described.aspects.names();
            record.kernels = Some(described.kernels.into_iter().map(KernelRecord::from).collect());
        }
        for kernel in record.kernels.iter_mut().flatten() {
            kernel.code_size = sizes.get(&kernel.name).copied();
        }
    }
    Ok(())
}

/// Callback of [`each_decoded`] for the bytes of each image, or its error.
pub(crate) type Visit<'v> = dyn FnMut(Origin, Result<Cow<'_, [u8]>>) -> Result<()> + 'v;

/// Decodes images one after another. Of containers of other tool chains one at a time is held decoded, if `origins` are
/// in order.
pub(crate) fn each_decoded(contents: &Contents<'_>, origins: &[Origin], visit: &mut Visit<'_>) -> Result<()> {
    each_image(contents, origins, &mut |origin, image| visit(origin, image.decode()))
}

/// Name of the hash that packs record.
pub(crate) const HASH: &str = "blake3";

/// An image that can be decoded.
#[derive(Debug)]
pub(crate) enum StoredImage<'i> {
    /// Of a pack.
    Packed(&'i LocatedPack<'i>, Image<'i>),
    /// Of a container of another tool chain.
    Foreign {
        container: &'i Container<'i>,
        image: &'i ForeignImage<'i>,
        /// Decoding limits, unless earlier images have used the budget up.
        limits: std::result::Result<Limits, offload_format::Error>,
    },
}

impl StoredImage<'_> {
    pub(crate) fn decode(&self) -> Result<Cow<'_, [u8]>> {
        match self {
            StoredImage::Packed(source, image) => source.decode(image).map(Cow::Owned),
            StoredImage::Foreign { image, limits, .. } => {
                let decoded = limits.as_ref().map_err(Clone::clone).and_then(|limits| image.decode(limits));
                decoded.map_err(|error| Error::check(format!("{}: {}", self.name(), with_limit_hint(&error))))
            }
        }
    }

    /// Equal keys decode to the same bytes; `None` if that is unknown, or if the image may not be decoded.
    pub(crate) fn frame_hash(&self) -> Option<Hash128> {
        match self {
            StoredImage::Foreign { image, limits: Ok(_), .. } => image.frame_hash(),
            _ => None,
        }
    }

    /// With what it is compared when it is decoded; `None` where the file records nothing.
    pub(crate) fn checksum(&self) -> Option<String> {
        match self {
            StoredImage::Packed(..) => Some(HASH.to_string()),
            StoredImage::Foreign { image, .. } => image.checksum().map(|checksum| checksum.to_string()),
        }
    }

    /// The part of a bundle that is compressed as a whole.
    pub(crate) fn part(&self) -> Option<BundleSlice<'_>> {
        match self {
            StoredImage::Packed(..) => None,
            StoredImage::Foreign { image, limits, .. } => image.bundle_slice().filter(|_| limits.is_ok()),
        }
    }

    /// The name for errors.
    pub(crate) fn name(&self) -> String {
        match self {
            StoredImage::Packed(_, image) => {
                format!("image {} of {}", escaped(image.target_text), escaped(image.module))
            }
            StoredImage::Foreign { container, image, .. } => {
                format!("image {} of {}", escaped(&image.target_text()), container.name)
            }
        }
    }
}

/// `origins` with the images of each block one after another: it is decoded once then.
fn by_block(packs: &[LocatedPack<'_>], origins: &[Origin]) -> Vec<Origin> {
    let mut sorted = origins.to_vec();
    sorted.sort_by_cached_key(|origin| match *origin {
        Origin::Pack(number, index) => {
            let image = packs.get(number).and_then(|source| source.pack.image(index).ok());
            (number, image.and_then(|image| image.block))
        }
        Origin::Container(..) => (packs.len(), None),
    });
    sorted
}

/// As [`each_decoded`], for who may decode in another way.
pub(crate) fn each_image(
    contents: &Contents<'_>,
    origins: &[Origin],
    visit: &mut dyn FnMut(Origin, &StoredImage<'_>) -> Result<()>,
) -> Result<()> {
    let packs = contents.packs.sources();
    let origins = &by_block(&packs, origins);
    // Every image of a container may be the same bytes again.
    let allowance = contents.limits.allowance(contents.size);
    let mut budget = Budget::new("what the images of the file decode to", allowance);
    let mut open: Option<(usize, Vec<ForeignImage<'_>>)> = None;
    let limits = contents.listed();
    let held = contents.held();
    for origin in origins {
        match *origin {
            Origin::Pack(number, index) => {
                let Some(source) = packs.get(number) else { continue };
                let image = source.pack.image(index)?;
                visit(*origin, &StoredImage::Packed(source, image))?;
            }
            Origin::Container(number, index) => {
                let Some(container) = contents.containers.get(number) else { continue };
                if open.as_ref().is_none_or(|(opened, _)| *opened != number) {
                    // Listed again: what its images share while they are decoded goes when the next one comes.
                    open = Some((number, contents::images_of(&container.found, &limits)?));
                }
                let image = open.as_ref().and_then(|(_, images)| images.get(index));
                let Some(image) = image else { continue };
                let limits = budget.spend(image.raw_size).map(|()| held);
                visit(*origin, &StoredImage::Foreign { container, image, limits })?;
            }
        }
    }
    Ok(())
}
