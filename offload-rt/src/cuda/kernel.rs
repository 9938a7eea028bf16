//! Kernels of a loaded module: comparing a launch with what pack and driver know, and putting it into a stream.

use std::ptr;
use std::sync::Arc;

use offload_format::pack::KernelInfo;

use super::api::{CUfunction, CUstream, call};
use super::driver::problem;
use super::function::Function;
use super::module::RawModule;
use super::params::{are_of_sizes, check_sizes, fill};
use crate::backend::KernelArg;
use crate::backend::{BackendKernel, BackendOutput, BackendStream, ContextId};
use crate::error::Problem;
use crate::range::NdRange;
use crate::thread_blocks::{Filled, Parameters};

#[derive(Debug)]
pub(super) struct CudaKernel {
    info: KernelInfo,
    function: Function,
    /// Keeps the code of the function.
    module: Arc<RawModule>,
}

impl CudaKernel {
    pub(super) fn new(module: Arc<RawModule>, mut function: Function, mut info: KernelInfo) -> CudaKernel {
        // A pack has no arguments of a kernel without any, and of one that it knows only by name; a driver before CUDA
        // 12.4 does not tell which it is.
        if function.sizes.is_none() && info.args.as_ref().is_some_and(Vec::is_empty) {
            info.args = None;
        }
        // The layer compares a launch with the records.
        function.sizes.take_if(|sizes| info.args.as_ref().is_some_and(|args| are_of_sizes(args, sizes)));
        CudaKernel { info, function, module }
    }
}

impl CudaKernel {
    pub(super) fn raw(&self) -> CUfunction {
        self.function.raw
    }

    pub(super) fn module(&self) -> &RawModule {
        &self.module
    }
}

impl BackendKernel for CudaKernel {
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
        if let Some(sizes) = &self.function.sizes {
            check_sizes(sizes, args)?;
        }
        let stream: CUstream = stream.handle().cast();
        let entered = self.module.context().enter().map_err(problem)?;
        let mut parameters = Parameters::new(args.len());
        let Filled { pointers, local } = fill(&mut parameters, args, stream)?;
        let shape = entered.limits().shape(self.function.resources.needs, range, local)?;
        self.function
            .opt_in(&shape, &entered)
            .map_err(|error| problem(error).during("the shared memory is refused"))?;
        let [gx, gy, gz] = shape.grid;
        let [bx, by, bz] = shape.block;
        let function = self.function.raw;
        let shared = shape.shared;
        let no_extra = ptr::null_mut();
        // SAFETY: the kernel's module is loaded in the current context; the parameters are as many and as large as the
        // kernel's, as far as pack and driver know them, and are copied during the call. The caller answers for what the
        // kernel does with them.
        let launched = unsafe {
            call!(
                entered.functions(),
                cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, pointers, no_extra)
            )
        };
        launched.map_err(|error| problem(error).during("the launch failed"))
    }
}
