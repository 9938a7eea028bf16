//! All device images of a program, and the choice among them.

use std::sync::Arc;

use offload_format::Variant;

use crate::description::DeviceDescription;
use crate::entry::Entry;
use crate::error::Error;
use crate::index::{Index, Missing, Unreadable};
use crate::sections::{self, PackBytes, PackSource, PackSources};
use crate::select::{self, Selection, VariantQuery};
use crate::specialization::Specialization;

/// The device images of some packs.
///
/// Entries share their decompressed bytes while these are in use, and clones of a registry share the entries: keep one
/// registry, and clone it.
#[derive(Clone, Debug)]
pub struct Registry {
    index: Arc<Index>,
}

impl Registry {
    /// The images of the executable or shared library that this code is linked into.
    ///
    /// Unreadable packs are listed in [`Registry::unreadable`], here and below.
    pub fn own() -> Registry {
        Registry::from_sources(sections::own())
    }

    /// The images of all modules of the process that are loaded now.
    ///
    /// Packs of other modules than the main program are copied, because those modules may be unloaded.
    pub fn process() -> Registry {
        Registry::from_sources(sections::process())
    }

    /// The images of a pack that lies beside the program, given as its bytes.
    pub fn from_pack(bytes: Vec<u8>) -> Registry {
        Registry::from_packs([bytes])
    }

    /// The images of several packs together, as those of a program that is split into a file for each family of targets.
    pub fn from_packs(packs: impl IntoIterator<Item = Vec<u8>>) -> Registry {
        let mut sources = PackSources::default();
        for bytes in packs {
            sources.packs.push(PackSource { bytes: PackBytes::Owned(Arc::from(bytes)), home: None });
        }
        Registry::from_sources(sources)
    }

    /// All images: packs in the order of the link, and in a pack sorted by module, variant and target.
    ///
    /// Selecting reads the records of one module; this reads all of them, once.
    pub fn entries(&self) -> &[Entry] {
        &self.index.lists().entries
    }

    /// The images that the builds left out.
    pub fn missing(&self) -> &[Missing] {
        &self.index.lists().missing
    }

    /// The packs and records that this release cannot read.
    pub fn unreadable(&self) -> &[Unreadable] {
        &self.index.lists().unreadable
    }

    /// The best image for `device`, a [`Device`](crate::Device) or the description of one, of each kernel in the kernel
    /// module `module`.
    ///
    /// The order: native code for exactly this architecture, native code that is declared compatible, intermediate
    /// code that the driver compiles, source. Of images that fit equally well, that of the target is taken which is
    /// best for the most kernels; then the first. An image without records of its kernels counts as having them all.
    ///
    /// Kernels of a split module may have no image for the device while others have:
    /// [`Selection::entry_for`] tells.
    ///
    /// # Errors
    /// There is no such module, packages share its name, it has variants, or no image fits; the message lists what
    /// there is.
    pub fn select(&self, module: &str, device: &impl AsRef<DeviceDescription>) -> Result<Selection, Error> {
        self.select_variant(module, &[], device)
    }

    /// As [`Registry::select`], of the variant of `module` with these values: a name and a value for each of its
    /// names, in any order.
    ///
    /// ```
    /// # use offload_format::codec::{self, Codec};
    /// # use offload_format::pack::{NewImage, PackBuilder};
    /// # use offload_rt::{Device, Registry};
    /// # let frame = codec::encode(b"code", Codec::Raw, 0)?;
    /// # let mut builder = PackBuilder::new("my-crate", "0.1.0");
    /// # for variant in ["HEAD_DIM=64,T=half", "HEAD_DIM=128,T=half"] {
    /// #     let image = NewImage { variant: variant.into(), ..NewImage::new("attention", "host".parse()?) };
    /// #     builder.image(image, frame.info())?;
    /// # }
    /// # let pack = builder.finish()?.with_frames([&frame])?;
    /// # let registry = Registry::from_pack(pack);
    /// // build.rs: Build::new().file("attention.cl").variants("HEAD_DIM", [64, 128]).variants("T", ["half"])
    /// let selection =
    ///     registry.select_variant("attention", &[("T", "half"), ("HEAD_DIM", "64")], &Device::host())?;
    /// assert_eq!(selection.entry().variant(), "HEAD_DIM=64,T=half");
    ///
    /// let error = registry.select("attention", &Device::host()).unwrap_err();
    /// assert!(error.to_string().contains("HEAD_DIM = 64 or 128, T = half"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Registry::select`]; or the module has no such variant, or a name lacks its value; the message lists the
    /// variants there are.
    pub fn select_variant(
        &self,
        module: &str,
        values: &[(&str, &str)],
        device: &impl AsRef<DeviceDescription>,
    ) -> Result<Selection, Error> {
        select::select(&self.index, VariantQuery { module, values, spec: None }, device.as_ref())
    }

    /// As [`Registry::select_variant`], of images that have the values `spec` or take them when they are loaded. Where there
    /// are variants by the name of a constant, `values` need not have it: they are those for its value.
    ///
    /// Open it with [`Device::open_selection`](crate::Device::open_selection): an image that is opened by itself has its
    /// defaults.
    ///
    /// # Errors
    /// As [`Registry::select_variant`]; or no image has the values, or has constants of these names and types.
    pub fn select_specialized(
        &self,
        module: &str,
        values: &[(&str, &str)],
        spec: &Specialization,
        device: &impl AsRef<DeviceDescription>,
    ) -> Result<Selection, Error> {
        select::select(&self.index, VariantQuery { module, values, spec: Some(spec) }, device.as_ref())
    }

    /// The variants of `module`, sorted; none if it has no variants.
    pub fn variants(&self, module: &str) -> Vec<Variant> {
        select::variants(&self.index, module)
    }

    pub(crate) fn from_sources(found: PackSources) -> Registry {
        Registry { index: Arc::new(Index::new(found)) }
    }

    pub(crate) fn index(&self) -> &Arc<Index> {
        &self.index
    }
}

impl Default for Registry {
    /// No images.
    fn default() -> Registry {
        Registry::from_sources(PackSources::default())
    }
}
