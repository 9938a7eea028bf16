//! The images of one kernel module, which generated Rust leads to, and the choice among them.

use std::sync::{Arc, OnceLock};

use offload_format::Variant;

use crate::description::DeviceDescription;
use crate::device::Device;
use crate::entry::{Entry, LoadedImage};
use crate::error::Error;
use crate::launch::Program;
use crate::registry::Registry;
use crate::sections::{self, PackBytes, PackSource, PackSources};
use crate::select::{self, Selection, VariantQuery};
use crate::specialization::Specialization;

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
    /// The module `name` of the pack whose descriptor lies at `descriptor`; the macro `kernel_module!` calls it.
    ///
    /// # Safety
    /// `descriptor` lies in the executable or shared library that the caller is linked into.
    #[doc(hidden)]
    pub unsafe fn at(name: &'static str, descriptor: *const u8) -> Module {
        Module::new(name, sections::at(descriptor))
    }

    /// The module `name` of `pack`; the macro `included_kernel_module!` calls it.
    #[doc(hidden)]
    pub fn included(name: &'static str, pack: &'static [u8]) -> Module {
        let pack = PackSource { bytes: PackBytes::Static(pack), home: None };
        Module::new(name, PackSources { packs: vec![pack], unreadable: Vec::new() })
    }

    fn new(name: &'static str, found: PackSources) -> Module {
        Module { name, registry: Registry::from_sources(found), entries: OnceLock::new() }
    }

    /// The name of the kernel module.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The images.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.get_or_init(|| self.registry.index().module(self.name).entries.clone()).iter()
    }

    /// The best image for each kernel on `device`; see [`Registry::select`].
    ///
    /// # Errors
    /// The module has variants, or no image fits; the message says for each why.
    pub fn select(&self, device: &impl AsRef<DeviceDescription>) -> Result<Selection, Error> {
        self.select_variant(&[], device)
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
        let query = VariantQuery { module: self.name, values, spec: None };
        select::select(self.registry.index(), query, device.as_ref())
    }

    /// The best images that have the values `spec` or take them; see [`Registry::select_specialized`].
    ///
    /// # Errors
    /// As [`Module::select_variant`]; or no image has the values, or has constants of these names and types.
    pub fn select_specialized(
        &self,
        values: &[(&str, &str)],
        spec: &Specialization,
        device: &impl AsRef<DeviceDescription>,
    ) -> Result<Selection, Error> {
        let query = VariantQuery { module: self.name, values, spec: Some(spec) };
        select::select(self.registry.index(), query, device.as_ref())
    }

    /// The best images for `device`, ready to launch kernels: [`Module::select`], then [`Device::open_selection`].
    ///
    /// # Errors
    /// No image fits, it is damaged, or the driver refuses it.
    pub fn open(&self, device: &Device) -> Result<Program, Error> {
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
