//! An image that CUDA's driver has loaded, and its kernels.

use std::sync::Arc;

use offload_format::pack::KernelInfo;

use super::context::Context;
use super::device::CudaDevice;
use super::driver::problem;
use super::function::Function;
use super::kernel::CudaKernel;
use super::module::RawModule;
use super::pinned::CudaHostMemory;
use super::stream::CudaStream;
use crate::backend::{BackendDevice, BackendHostMemory, BackendKernel, BackendModule, BackendStream};
use crate::entry::{Entry, LoadedImage};
use crate::error::{Error, Problem};
use crate::output::PrintingImage;
use crate::text::escape;
use crate::thread_blocks::{Resolved, ResolvedKernels};

/// An image that CUDA's driver has loaded.
///
/// Its kernels' records have what the pack knows, completed by the driver: registers, shared and private memory, the
/// largest work-group, and the sizes of arguments of which the pack knows nothing.
#[derive(Debug)]
pub(super) struct CudaModule {
    kernels: ResolvedKernels<Function>,
    module: Arc<RawModule>,
    /// The linked libraries, kept so that other images share their decoded bytes.
    _libraries: Vec<LoadedImage>,
}

impl CudaModule {
    /// # Errors
    /// The image is of a kind that CUDA does not take; or the driver refuses it, and then the message holds its
    /// compiler's messages.
    fn load(
        context: &Arc<Context>,
        image: &LoadedImage,
        libraries: Vec<LoadedImage>,
    ) -> Result<CudaModule, Problem> {
        let entry = image.entry();
        let module = RawModule::load(context, image, &libraries);
        let module = module.map_err(|problem| problem.during(&format!("cannot load {entry}")))?;
        let kernels = resolve(&module, entry.kernels()).map_err(Problem::from);
        let kernels = kernels.map_err(|problem| problem.during(&format!("cannot use {entry}")))?;
        Ok(CudaModule { kernels, module: Arc::new(module), _libraries: libraries })
    }

    /// The handle and the record of a kernel.
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

/// The kernels that the pack knows, or those that the driver knows, each with its handle.
fn resolve(module: &RawModule, known: &[KernelInfo]) -> Result<ResolvedKernels<Function>, String> {
    let entered = module.context().enter().map_err(|error| error.to_string())?;
    let kernels = match known {
        [] => module.kernel_names(&entered).unwrap_or_default().into_iter().map(KernelInfo::new).collect(),
        known => known.to_vec(),
    };
    let resolved = kernels.into_iter().map(|info| {
        let function = module.function(&info.name, &entered).and_then(|raw| Function::new(raw, &entered));
        let function = function.map_err(|error| format!("kernel `{}`: {error}", escape(&info.name)))?;
        Ok(Resolved { info: function.complete(info), function })
    });
    resolved.collect()
}

impl BackendDevice for CudaDevice {
    fn load(&self, image: &LoadedImage, libraries: &[Entry]) -> Result<Arc<dyn BackendModule>, Error> {
        let libraries = libraries.iter().map(Entry::load).collect::<Result<Vec<_>, _>>()?;
        let loaded = self.shared_context().and_then(|context| CudaModule::load(&context, image, libraries));
        Ok(Arc::new(loaded.map_err(|problem| Error::from_device(&self.name(), problem))?))
    }

    fn stream(&self) -> Result<Box<dyn BackendStream>, Problem> {
        let stream = CudaStream::new(self.shared_context()?);
        Ok(Box::new(stream.map_err(|error| problem(error).during("cannot make a stream"))?))
    }

    fn lock_memory(&self, size: usize) -> Result<Option<Box<dyn BackendHostMemory>>, Problem> {
        let memory = CudaHostMemory::new(self.shared_context()?, size).map_err(problem)?;
        Ok(Some(Box::new(memory)))
    }
}

impl CudaDevice {
    pub(super) fn shared_context(&self) -> Result<Arc<Context>, Problem> {
        self.context().map_err(|error| problem(error).during("cannot use the device's context"))
    }
}

impl BackendModule for CudaModule {
    fn kernels(&self) -> &[KernelInfo] {
        self.kernels.infos()
    }

    fn kernel(self: Arc<Self>, name: &str) -> Result<Box<dyn BackendKernel>, Error> {
        let Resolved { info, function } = self.resolved(name)?;
        Ok(Box::new(CudaKernel::new(self.module.clone(), function, info)))
    }

    fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.module
            .write_global(name, bytes)
            .map_err(|problem| Error::device(&format!("variable `{}`", escape(name)), problem))
    }
}
