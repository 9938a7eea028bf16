//! A code object that HIP's runtime has loaded, and its kernels.

use std::sync::Arc;

use offload_format::pack::KernelInfo;

use super::context::Context;
use super::device::HipDevice;
use super::function::Function;
use super::kernel::HipKernel;
use super::module::RawModule;
use super::pinned::HipHostMemory;
use super::runtime::problem;
use super::stream::HipStream;
use crate::backend::{BackendDevice, BackendHostMemory, BackendKernel, BackendModule, BackendStream};
use crate::entry::{Entry, LoadedImage};
use crate::error::{Error, Problem};
use crate::output::PrintingImage;
use crate::text::escape;
use crate::thread_blocks::{Resolved, ResolvedKernels};

/// A code object that HIP's runtime has loaded.
///
/// Its kernels' records have what the pack knows, completed by the runtime: registers, shared and private memory, and the
/// largest work-group.
#[derive(Debug)]
struct HipModule {
    kernels: ResolvedKernels<Function>,
    module: Arc<RawModule>,
}

impl HipModule {
    fn load(context: &Arc<Context>, image: &LoadedImage) -> Result<HipModule, Problem> {
        let entry = image.entry();
        let module = RawModule::load(context, image);
        let module = module.map_err(|problem| problem.during(&format!("cannot load {entry}")))?;
        let kernels = resolve(&module, entry.kernels()).map_err(Problem::from);
        let kernels = kernels.map_err(|problem| problem.during(&format!("cannot use {entry}")))?;
        Ok(HipModule { kernels, module: Arc::new(module) })
    }

    /// The handle and the record of a kernel. The runtime lists none: where the pack has no record, a name is looked up.
    fn resolved(&self, name: &str) -> Result<Resolved<Function>, Error> {
        if let Some(known) = self.kernels.get(name)? {
            return Ok(known);
        }
        let function = self.module.context().enter().and_then(|entered| {
            let raw = self.module.function(name, &entered)?;
            Function::new(raw, &entered)
        });
        let function = function
            .map_err(|error| Error::from_launch(name, problem(error).during("the image does not have it")))?;
        Ok(Resolved { info: function.complete(KernelInfo::new(name)), function })
    }
}

/// The kernels that the pack knows, each with its handle.
fn resolve(module: &RawModule, known: &[KernelInfo]) -> Result<ResolvedKernels<Function>, String> {
    let entered = module.context().enter().map_err(|error| error.to_string())?;
    let resolved = known.iter().map(|info| {
        let function = module.function(&info.name, &entered).and_then(|raw| Function::new(raw, &entered));
        let function = function.map_err(|error| format!("kernel `{}`: {error}", escape(&info.name)))?;
        Ok(Resolved { info: function.complete(info.clone()), function })
    });
    resolved.collect()
}

impl BackendDevice for HipDevice {
    fn load(&self, image: &LoadedImage, libraries: &[Entry]) -> Result<Arc<dyn BackendModule>, Error> {
        let linked = refuse_libraries(image, libraries);
        linked.map_err(|problem| Error::from_device(&self.name(), problem))?;
        let loaded = HipModule::load(&self.context, image);
        Ok(Arc::new(loaded.map_err(|problem| Error::from_device(&self.name(), problem))?))
    }

    fn stream(&self) -> Result<Box<dyn BackendStream>, Problem> {
        let stream = HipStream::new(self.context.clone());
        Ok(Box::new(stream.map_err(|error| problem(error).during("cannot make a stream"))?))
    }

    fn lock_memory(&self, size: usize) -> Result<Option<Box<dyn BackendHostMemory>>, Problem> {
        let memory = HipHostMemory::new(self.context.clone(), size).map_err(problem)?;
        Ok(Some(Box::new(memory)))
    }
}

impl BackendModule for HipModule {
    fn kernels(&self) -> &[KernelInfo] {
        self.kernels.infos()
    }

    fn kernel(self: Arc<Self>, name: &str) -> Result<Box<dyn BackendKernel>, Error> {
        let Resolved { info, function } = self.resolved(name)?;
        Ok(Box::new(HipKernel::new(self.module.clone(), function, info)))
    }

    fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.module
            .write_global(name, bytes)
            .map_err(|problem| Error::device(&format!("variable `{}`", escape(name)), problem))
    }
}

/// HIP links none at load: builds make no such images.
fn refuse_libraries(image: &LoadedImage, libraries: &[Entry]) -> Result<(), Problem> {
    match libraries.first() {
        None => Ok(()),
        Some(library) => {
            let text = format!("cannot load {}: it imports `{}`", image.entry(), escape(library.module()));
            Err(Problem::with_hint(
                text,
                "images for AMD GPUs have their libraries from the build: leave out `link`",
            ))
        }
    }
}
