//! A code object that HIP's runtime has loaded, and its kernels.

use std::sync::Arc;

use offload_format::pack::KernelInfo;

use super::context::Context;
use super::device::Found;
use super::driver::problem;
use super::function::Function;
use super::kernel::HipKernel;
use super::module::HipModule;
use super::pinned::HipHostMemory;
use super::stream::HipStream;
use crate::driver::{Driver, DriverHostMemory, DriverKernel, DriverModule, DriverStream, find};
use crate::entry::LoadedImage;
use crate::error::{Error, Problem};
use crate::text::escape;

/// A code object that HIP's runtime has loaded.
///
/// Its kernels' records have what the pack knows, completed by the runtime: registers, shared and private memory, and the
/// largest work-group.
#[derive(Debug)]
struct HipImage {
    kernels: Vec<KernelInfo>,
    /// Of each kernel, in the same order.
    functions: Vec<Function>,
    module: Arc<HipModule>,
}

/// A kernel's record and handle.
struct Resolved {
    info: KernelInfo,
    function: Function,
}

impl HipImage {
    fn load(context: &Arc<Context>, image: &LoadedImage) -> Result<HipImage, Problem> {
        let entry = image.entry();
        let module = HipModule::load(context, image);
        let module = module.map_err(|problem| problem.during(&format!("cannot load {entry}")))?;
        let resolved = resolve(&module, entry.kernels()).map_err(Problem::from);
        let resolved = resolved.map_err(|problem| problem.during(&format!("cannot use {entry}")))?;
        let (kernels, functions) = resolved.into_iter().map(|it| (it.info, it.function)).unzip();
        Ok(HipImage { kernels, functions, module: Arc::new(module) })
    }

    /// The handle and the record of a kernel. The runtime lists none: where the pack has no record, a name is looked up.
    fn resolved(&self, name: &str) -> Result<Resolved, Error> {
        if self.kernels.is_empty() {
            let missing = |error| Error::of_launch(name, problem(error).during("the image does not have it"));
            let entered = self.module.context().enter().map_err(missing)?;
            let function = self.module.function(name, &entered).and_then(|raw| Function::of(raw, &entered));
            let function = function.map_err(missing)?;
            return Ok(Resolved { info: function.complete(KernelInfo::new(name)), function });
        }
        let info = find(&self.kernels, name)?.clone();
        let found = self.kernels.iter().zip(&self.functions).find(|(kernel, _)| kernel.name == name);
        let (_, function) = found.ok_or_else(|| Error::launch(name, "the image lost its entry"))?;
        Ok(Resolved { info, function: *function })
    }
}

/// The kernels that the pack knows, each with its handle.
fn resolve(module: &HipModule, known: &[KernelInfo]) -> Result<Vec<Resolved>, String> {
    let entered = module.context().enter().map_err(|error| error.to_string())?;
    let resolved = known.iter().map(|info| {
        let function = module.function(&info.name, &entered).and_then(|raw| Function::of(raw, &entered));
        let function = function.map_err(|error| format!("kernel `{}`: {error}", escape(&info.name)))?;
        Ok(Resolved { info: function.complete(info.clone()), function })
    });
    resolved.collect()
}

impl Driver for Found {
    fn load(&self, image: &LoadedImage) -> Result<Arc<dyn DriverModule>, Error> {
        let loaded = HipImage::load(&self.context, image);
        Ok(Arc::new(loaded.map_err(|problem| Error::of_device(&self.name(), problem))?))
    }

    fn stream(&self) -> Result<Box<dyn DriverStream>, Problem> {
        let stream = HipStream::new(self.context.clone());
        Ok(Box::new(stream.map_err(|error| problem(error).during("cannot make a stream"))?))
    }

    fn lock_memory(&self, size: usize) -> Result<Option<Box<dyn DriverHostMemory>>, Problem> {
        let memory = HipHostMemory::new(self.context.clone(), size).map_err(problem)?;
        Ok(Some(Box::new(memory)))
    }
}

impl DriverModule for HipImage {
    fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    fn kernel(self: Arc<Self>, name: &str) -> Result<Box<dyn DriverKernel>, Error> {
        let Resolved { info, function } = self.resolved(name)?;
        Ok(Box::new(HipKernel { info, function, module: self.module.clone() }))
    }

    fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.module
            .write_global(name, bytes)
            .map_err(|problem| Error::device(&format!("variable `{}`", escape(name)), problem))
    }
}
