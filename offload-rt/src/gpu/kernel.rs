//! Kernels of a loaded module, and launches.

use std::sync::Arc;

use offload_format::pack::KernelInfo;

use super::api::{ArgumentCheck, DriverApi, RawFunction, RawStream};
use super::driver_module::DriverModule;
use super::function::Function;
use super::parameters::{Filled, Parameters};
use crate::backend::{BackendKernel, BackendOutput, BackendStream, ContextId, KernelArg};
use crate::error::Problem;
use crate::range::NdRange;

#[derive(Debug)]
pub(crate) struct GpuKernel<A: DriverApi> {
    info: KernelInfo,
    arguments: A::ArgumentCheck,
    function: Function,
    /// Keeps the code of the function.
    module: Arc<DriverModule<A>>,
}

impl<A: DriverApi> GpuKernel<A> {
    pub(super) fn new(
        module: Arc<DriverModule<A>>,
        mut function: Function,
        info: KernelInfo,
    ) -> GpuKernel<A> {
        let arguments = A::ArgumentCheck::new(&info, function.sizes.take());
        GpuKernel { info, arguments, function, module }
    }

    pub(crate) fn raw(&self) -> RawFunction {
        self.function.raw
    }

    pub(crate) fn module(&self) -> &DriverModule<A> {
        &self.module
    }
}

impl<A: DriverApi> BackendKernel for GpuKernel<A> {
    fn context(&self) -> ContextId {
        self.module.context().id()
    }

    fn info(&self) -> &KernelInfo {
        &self.info
    }

    fn output(&self) -> Option<Arc<dyn BackendOutput>> {
        Some(self.module.output()?.clone())
    }

    unsafe fn launch(
        &self,
        stream: &dyn BackendStream,
        range: &NdRange,
        args: &[KernelArg<'_>],
    ) -> Result<(), Problem> {
        self.arguments.check(args)?;
        let stream: RawStream = stream.handle().cast();
        let entered = self.module.context().enter()?;
        let mut parameters = Parameters::new(args.len());
        let Filled { pointers, local } = parameters.fill(args, stream)?;
        let shape = entered.limits().shape(self.function.resources.needs, range, local)?;
        let api = entered.api();
        let function = self.function.raw;
        // SAFETY: the kernel's module is loaded.
        unsafe { api.opt_in_shared_memory(function, &shape) }
            .map_err(|error| error.during("the shared memory is refused"))?;
        // SAFETY: the kernel's module is loaded in the current context; the parameters are as many and as large as the
        // kernel's, as far as pack and library know them, and are copied during the call. The caller answers for what the
        // kernel does with them.
        unsafe { api.launch(function, &shape, stream, pointers) }
            .map_err(|error| error.during("the launch failed"))
    }
}
