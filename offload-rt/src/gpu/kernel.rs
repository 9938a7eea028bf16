//! Kernels of a loaded module, and launches.

use std::ffi::c_int;
use std::sync::Arc;

use offload_format::pack::KernelInfo;

use super::api::{ArgumentCheck, DriverApi, NodeLaunch, RawFunction, RawGraphExec, RawGraphNode};
use super::context::Entered;
use super::driver_module::DriverModule;
use super::error::TOO_LARGE;
use super::function::Function;
use super::limits::Shape;
use super::parameters::{Filled, Parameters};
use super::stream::GpuStream;
use crate::backend::{BackendKernel, BackendOutput, BackendStream, ContextId, KernelArg, downcast};
use crate::error::Problem;
use crate::group_size::{GroupSizes, USUAL_GROUP};
use crate::properties::KernelProperties;
use crate::range::{LaunchMode, NdRange};

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
                LaunchTarget::Stream if range.mode().is_plain() => {
                    api.launch(function, &shape, stream.handle().cast(), pointers)
                }
                LaunchTarget::Stream => {
                    let launch = NodeLaunch { function, shape: &shape, parameters: pointers };
                    return self.launch_in_mode(&entered, &launch, range.mode(), stream);
                }
                // The node keeps its mode.
                LaunchTarget::Node { executable, node } => api.update_graph(
                    executable,
                    node,
                    &NodeLaunch { function, shape: &shape, parameters: pointers },
                ),
            }
        };
        launched.map_err(|error| error.during("the launch failed"))
    }

    /// # Safety
    /// That of [`DriverApi::launch_in_mode`].
    #[cold]
    unsafe fn launch_in_mode(
        &self,
        entered: &Entered<'_, A>,
        launch: &NodeLaunch<'_>,
        mode: &LaunchMode,
        stream: &dyn BackendStream,
    ) -> Result<(), Problem> {
        let stream = downcast::<GpuStream<A>>(stream)?;
        A::check_mode(mode, stream.is_capturing())?;
        // SAFETY: the contract is the same.
        match unsafe { entered.api().launch_in_mode(launch, mode, stream.raw) } {
            Ok(()) => Ok(()),
            Err(error) if error.code() == Some(TOO_LARGE) => {
                let given: u64 = launch.shape.grid.iter().map(|size| u64::from(*size)).product();
                let most = self.resident_groups(entered, launch.shape)?;
                Err(too_many_groups(given, most, entered.limits().units))
            }
            Err(error) => Err(error.during("the launch failed")),
        }
    }

    /// How many blocks of `shape` the device has room for at a time.
    fn resident_groups(&self, entered: &Entered<'_, A>, shape: &Shape) -> Result<u64, Problem> {
        let threads: u32 = shape.block.iter().product();
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        let mut blocks = 0;
        // SAFETY: the kernel's module is loaded in the current context; the function writes one number.
        let queried = unsafe {
            entered.api().resident_blocks(&raw mut blocks, self.function.raw, threads, shape.shared as usize)
        };
        queried.map_err(|error| error.during("cannot query the occupancy"))?;
        Ok(u64::try_from(blocks).unwrap_or(0).saturating_mul(entered.limits().units.into()))
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

    fn properties(&self) -> KernelProperties {
        let resources = &self.function.resources;
        KernelProperties {
            registers: Some(resources.registers),
            local_memory: Some(resources.needs.static_shared.into()),
            private_memory: Some(resources.private_memory.into()),
            max_work_group: Some(resources.needs.max_threads.into()),
            preferred_multiple: (resources.sub_group > 0).then_some(resources.sub_group),
            ..KernelProperties::from_info(&self.info)
        }
    }

    fn group_sizes(&self, shared_memory: u32) -> Result<GroupSizes, Problem> {
        let entered = self.module.context().enter()?;
        let api = entered.api();
        let function = self.function.raw;
        let resources = &self.function.resources;
        let one_item = NdRange::linear_at_least(1, 1).with_shared_memory(shared_memory);
        let shape = entered.limits().shape(resources.needs, &one_item, 0)?;
        let mut grid = 0;
        let mut block = 0;
        // SAFETY: the kernel's module is loaded in the current context; the functions write two numbers.
        let queried = unsafe {
            api.opt_in_shared_memory(function, &shape).and_then(|()| {
                api.potential_block(&raw mut grid, &raw mut block, function, shape.shared as usize)
            })
        };
        let most = resources.needs.max_threads as usize;
        let multiple = resources.sub_group as usize;
        match queried {
            Ok(()) => match usize::try_from(block) {
                Ok(best) if best > 0 => {
                    Ok(GroupSizes { best: best.min(most.max(1)), multiple: multiple.max(1), units: 1 })
                }
                _ => Err(too_large(shared_memory)),
            },
            // A library without the function.
            Err(error) if error.code().is_none() => {
                Ok(GroupSizes::with_most(most.min(USUAL_GROUP), multiple))
            }
            Err(error) => Err(error.during("cannot query the size of work-groups")),
        }
    }

    fn cooperative_groups(&self, range: &NdRange) -> Result<Option<u64>, Problem> {
        let entered = self.module.context().enter()?;
        let shape = entered.limits().shape(self.function.resources.needs, range, 0)?;
        // SAFETY: the kernel's module is loaded in the current context.
        unsafe { entered.api().opt_in_shared_memory(self.function.raw, &shape) }
            .map_err(|error| error.during("the shared memory is refused"))?;
        self.resident_groups(&entered, &shape).map(Some)
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

fn too_many_groups(given: u64, most: u64, units: u32) -> Problem {
    let problem = format!(
        "a cooperative launch of {given} work-groups is more than the {most} that run at the same time: {} on each of \
         {units} multiprocessors",
        most.checked_div(units.into()).unwrap_or(0)
    );
    Problem::with_hint(
        problem,
        "`Kernel::max_cooperative_groups` tells how many fit; let each do more of the work",
    )
}

fn too_large(shared_memory: u32) -> Problem {
    let text = format!(
        "no work-group of it fits on a multiprocessor with {shared_memory} bytes of shared memory each"
    );
    text.into()
}
