//! Kernels of a loaded module: comparing a launch with what pack and runtime know, and putting it into a stream.

use std::ptr;
use std::sync::Arc;

use offload_format::pack::KernelInfo;

use super::api::{call, hipFunction_t, hipStream_t};
use super::function::Function;
use super::module::RawModule;
use super::params::{LocalParameters, fill};
use super::runtime::problem;
use crate::backend::{BackendKernel, BackendOutput, BackendStream, ContextId, KernelArg};
use crate::error::Problem;
use crate::range::NdRange;
use crate::thread_blocks::{Filled, Parameters};

#[derive(Debug)]
pub(super) struct HipKernel {
    info: KernelInfo,
    locals: LocalParameters,
    function: Function,
    /// Keeps the code of the function.
    module: Arc<RawModule>,
}

impl HipKernel {
    pub(super) fn new(module: Arc<RawModule>, function: Function, info: KernelInfo) -> HipKernel {
        HipKernel { locals: LocalParameters::for_kernel(&info), info, function, module }
    }

    pub(super) fn raw(&self) -> hipFunction_t {
        self.function.raw
    }

    pub(super) fn module(&self) -> &RawModule {
        &self.module
    }
}

impl BackendKernel for HipKernel {
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
        let stream: hipStream_t = stream.handle().cast();
        let entered = self.module.context().enter().map_err(problem)?;
        let mut parameters = Parameters::new(args.len());
        let Filled { pointers, local } = fill(&mut parameters, args, self.locals)?;
        let shape = entered.limits().shape(self.function.resources.needs, range, local)?;
        let [gx, gy, gz] = shape.grid;
        let [bx, by, bz] = shape.block;
        let function = self.function.raw;
        let shared = shape.shared;
        let no_extra = ptr::null_mut();
        // SAFETY: the kernel's module is loaded on the current device; the parameters are as many and as large as the
        // kernel's, as far as the pack knows them, and are copied during the call. The caller answers for what the
        // kernel does with them.
        let launched = unsafe {
            call!(
                entered.functions(),
                hipModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, pointers, no_extra)
            )
        };
        launched.map_err(|error| problem(error).during("the launch failed"))
    }
}
