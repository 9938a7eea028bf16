//! A loaded image and its kernels.

use std::sync::Arc;

use offload_format::pack::KernelInfo;

use super::api::DriverApi;
use super::context::Context;
use super::driver_module::DriverModule;
use super::function::Function;
use super::kernel::GpuKernel;
use super::kernels::{Resolved, ResolvedKernels};
use crate::backend::{BackendKernel, BackendModule};
use crate::entry::LoadedImage;
use crate::error::{Error, Problem};
use crate::output::PrintingImage;
use crate::text::escape;

/// An image that the library has loaded.
///
/// Its kernels' records have what the pack knows, completed by the library: registers, shared and private memory, the
/// largest work-group, and the sizes of arguments of which the pack knows nothing.
#[derive(Debug)]
pub(super) struct GpuModule<A: DriverApi> {
    kernels: ResolvedKernels<Function>,
    module: Arc<DriverModule<A>>,
    /// The linked libraries, kept so that other images share their decoded bytes.
    _libraries: Vec<LoadedImage>,
}

impl<A: DriverApi> GpuModule<A> {
    /// # Errors
    /// The image is of a kind that the library does not take; or the library refuses it, and then the message holds its
    /// compiler's messages.
    pub(super) fn load(
        context: &Arc<Context<A>>,
        image: &LoadedImage,
        libraries: Vec<LoadedImage>,
    ) -> Result<GpuModule<A>, Problem> {
        let entry = image.entry();
        let module = DriverModule::load(context, image, &libraries);
        let module = module.map_err(|problem| problem.during(&format!("cannot load {entry}")))?;
        let kernels = resolve(&module, entry.kernels()).map_err(Problem::from);
        let kernels = kernels.map_err(|problem| problem.during(&format!("cannot use {entry}")))?;
        Ok(GpuModule { kernels, module: Arc::new(module), _libraries: libraries })
    }

    /// The handle and the record of a kernel. Where neither the pack nor the library lists kernels, the name is looked up.
    fn resolved(&self, name: &str) -> Result<Resolved<Function>, Error> {
        if let Some(known) = self.kernels.get(name)? {
            return Ok(known);
        }
        let function = self.module.context().enter().and_then(|entered| {
            let raw = self.module.function(name, &entered)?;
            Function::new(raw, &entered)
        });
        let function =
            function.map_err(|error| Error::from_launch(name, error.during("the image does not have it")))?;
        Ok(Resolved { info: function.complete(KernelInfo::new(name)), function })
    }
}

/// The kernels that the pack knows, or those that the library knows, each with its handle.
fn resolve<A: DriverApi>(
    module: &DriverModule<A>,
    known: &[KernelInfo],
) -> Result<ResolvedKernels<Function>, String> {
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

impl<A: DriverApi> BackendModule for GpuModule<A> {
    fn kernels(&self) -> &[KernelInfo] {
        self.kernels.infos()
    }

    fn kernel(self: Arc<Self>, name: &str) -> Result<Box<dyn BackendKernel>, Error> {
        let Resolved { info, function } = self.resolved(name)?;
        Ok(Box::new(GpuKernel::new(self.module.clone(), function, info)))
    }

    #[cfg(all(feature = "launchers", target_os = "linux"))]
    fn variable(&self, name: &str) -> Option<crate::backend::ImageVariable> {
        self.module.variable_address(name)
    }

    fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.module
            .write_global(name, bytes)
            .map_err(|problem| Error::device(&format!("variable `{}`", escape(name)), problem))
    }

    fn read_global(&self, name: &str, bytes: &mut [u8]) -> Result<(), Error> {
        self.module
            .read_global(name, bytes)
            .map_err(|problem| Error::device(&format!("variable `{}`", escape(name)), problem))
    }
}
