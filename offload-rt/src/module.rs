//! The images of one kernel module, which generated Rust leads to, and the choice among them.

use std::sync::{Arc, OnceLock};

use offload_format::Variant;

use crate::device::Device;
use crate::entry::Entry;
use crate::error::Error;
use crate::launch::Program;
use crate::registry::Registry;
use crate::request::ImageRequest;
use crate::sections::included::IncludedPack;
use crate::sections::{self, PackSources, included_list};

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
    pub fn included(name: &'static str, pack: &'static IncludedPack) -> Module {
        included_list::add(pack);
        Module::new(name, PackSources { packs: vec![pack.source()], unreadable: Vec::new() })
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

    /// The variants of the module, sorted; none if it has no variants.
    pub fn variants(&self) -> Vec<Variant> {
        self.registry.variants(self.name)
    }

    /// A request for its images, by variant and specialisation constants, which makes a [`Selection`](crate::Selection)
    /// or a [`Program`].
    pub fn request(&self) -> ImageRequest<'_> {
        self.registry.request(self.name)
    }

    /// Selects the best images for `device` and loads them: [`Module::request`] without options, then
    /// [`ImageRequest::load`].
    ///
    /// # Errors
    /// As [`ImageRequest::load`].
    pub fn load(&self, device: &Device) -> Result<Program, Error> {
        self.request().load(device)
    }

    /// Everything in the pack, with what the build left out.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }
}
