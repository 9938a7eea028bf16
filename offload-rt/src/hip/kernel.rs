//! Kernels of a loaded module: comparing a launch with what pack and runtime know, and putting it into a stream.

use std::ptr;
use std::sync::Arc;

use offload_format::pack::KernelInfo;

use super::api::call;
use super::driver::problem;
use super::function::Function;
use super::module::HipModule;
use super::params::Params;
use super::stream::HipStream;
use crate::driver::{ContextId, DriverKernel, DriverStream, KernelArg, own};
use crate::error::Problem;
use crate::range::NdRange;

#[derive(Debug)]
pub(super) struct HipKernel {
    pub(super) info: KernelInfo,
    pub(super) function: Function,
    /// Keeps the code of the function.
    pub(super) module: Arc<HipModule>,
}

impl DriverKernel for HipKernel {
    fn context(&self) -> ContextId {
        self.module.context().id()
    }

    fn info(&self) -> &KernelInfo {
        &self.info
    }

    unsafe fn launch(
        &self,
        stream: &dyn DriverStream,
        range: &NdRange,
        args: &[KernelArg<'_>],
    ) -> Result<(), Problem> {
        let stream = own::<HipStream>(stream)?;
        let entered = self.module.context().enter().map_err(problem)?;
        let mut params = Params::new(args)?;
        let shape = entered.limits().shape(self.function.needs, range, params.local)?;
        let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
        let (function, shared, stream) = (self.function.raw, shape.shared, stream.raw);
        let (params, no_extra) = (params.pointers(args), ptr::null_mut());
        // SAFETY: the kernel's module is loaded on the current device; the parameters are as many and as large as the
        // kernel's, as far as the pack knows them, and are copied during the call. The caller answers for what the
        // kernel does with them.
        let launched = unsafe {
            call!(
                entered.functions(),
                hipModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, params, no_extra)
            )
        };
        launched.map_err(|error| problem(error).during("the launch failed"))
    }
}
