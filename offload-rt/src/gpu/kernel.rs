//! Kernels of a loaded module, and launches.

use std::sync::Arc;

use offload_format::pack::KernelInfo;

use super::api::{ArgumentCheck, DriverApi, NodeLaunch, RawFunction, RawGraphExec, RawGraphNode};
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

/// Where a launch goes.
#[derive(Clone, Copy)]
pub(super) enum LaunchTarget {
    Stream,
    /// A node of a graph, in place of the launch that it has.
    Node {
        executable: RawGraphExec,
        node: RawGraphNode,
    },
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

    /// Launches the kernel in `stream`, or sets the launch of a node, for which the stream is one that captures.
    ///
    /// # Safety
    /// As that of [`BackendKernel::launch`]; the node is of a launch of this kernel.
    #[inline]
    pub(super) unsafe fn launch_in(
        &self,
        target: LaunchTarget,
        stream: &dyn BackendStream,
        range: &NdRange,
        args: &[KernelArg<'_>],
    ) -> Result<(), Problem> {
        self.arguments.check(args)?;
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
        let launched = unsafe {
            match target {
                LaunchTarget::Stream => api.launch(function, &shape, stream.handle().cast(), pointers),
                LaunchTarget::Node { executable, node } => api.update_graph(
                    executable,
                    node,
                    &NodeLaunch { function, shape: &shape, parameters: pointers },
                ),
            }
        };
        launched.map_err(|error| error.during("the launch failed"))
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
        // SAFETY: the contract is the same.
        unsafe { self.launch_in(LaunchTarget::Stream, stream, range, args) }
    }
}
