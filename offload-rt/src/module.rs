//! The kernels of one module of one crate, found through its own pack.

use std::sync::{Arc, OnceLock};

use offload_format::Variant;

use crate::description::DeviceDescription;
use crate::device::Device;
use crate::entry::{Entry, LoadedImage};
use crate::error::Error;
use crate::launch::Program;
use crate::registry::Registry;
use crate::sections;
use crate::select::Selection;

/// The images of a kernel module; the function `module()` that [`include_kernels!`](crate::include_kernels) generates
/// returns it.
///
/// Unlike [`Registry::own`] it sees this crate's pack alone, whatever other crates name their modules. Using it also
/// keeps the pack in the program where the program is linked by something else than rustc.
#[derive(Clone, Debug)]
pub struct Module {
    name: &'static str,
    registry: Registry,
    entries: OnceLock<Arc<[Entry]>>,
}

impl Module {
    /// The name of the kernel module.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The images.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.get_or_init(|| self.registry.module(self.name)).iter()
    }

    /// The best image for each kernel on `device`; see [`Registry::select`].
    ///
    /// # Errors
    /// The module has variants, or no image fits; the message says for each why.
    pub fn select(&self, device: &impl AsRef<DeviceDescription>) -> Result<Selection, Error> {
        self.registry.select(self.name, device)
    }

    /// The variants of the module, sorted; none if it has no variants.
    pub fn variants(&self) -> Vec<Variant> {
        self.registry.variants(self.name)
    }

    /// The best image of one variant; see [`Registry::select_variant`].
    ///
    /// # Errors
    /// There is no such variant, or none of its images fits.
    pub fn select_variant(
        &self,
        values: &[(&str, &str)],
        device: &impl AsRef<DeviceDescription>,
    ) -> Result<Selection, Error> {
        self.registry.select_variant(self.name, values, device)
    }

    /// The best images for `device`, ready to launch kernels: [`Module::select`], then [`Device::open_selection`].
    ///
    /// # Errors
    /// No image fits, it is damaged, or the driver refuses it.
    pub fn open(&self, device: &Device) -> Result<Box<dyn Program>, Error> {
        device.open_selection(&self.select(device)?)
    }

    /// The best image for `device`, decompressed and verified; of a split module the first of several.
    ///
    /// # Errors
    /// No image fits, or the best one is damaged.
    pub fn load(&self, device: &impl AsRef<DeviceDescription>) -> Result<LoadedImage, Error> {
        self.select(device)?.entry().load()
    }

    /// Everything in the pack, with what the build left out.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }
}

/// The module `name` of the pack whose descriptor lies at `descriptor`.
pub(crate) fn at(name: &'static str, descriptor: *const u8) -> Module {
    let registry = Registry::from_found(sections::at(descriptor));
    Module { name, registry, entries: OnceLock::new() }
}
