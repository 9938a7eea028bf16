//! GPUs, through CUDA's driver or HIP's runtime.

pub(super) mod cuda;
pub(super) mod hip;

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::fmt::Debug;
use std::ptr;

use super::configuration::Configuration;
use super::elements::{ArrayForm, ArrayHandle, Extent, TextureElements, TextureSource};
use super::failure::{CudaError, Failure, INVALID_DEVICE, INVALID_VALUE, Outcome};
use super::platform::{
    Block, ContextHandle, Copy, EnteredContext, EventHandle, Fill, GraphExecHandle, GraphHandle, GraphUpdate,
    MemoryInfo, Platform, PointerAttributes, PoolHandle, RowsCopy, StreamHandle, UPDATE_NOT_SUPPORTED,
    UPDATE_SUCCESS,
};
use crate::device::Device;
use crate::error::Error;
use crate::gpu::{
    ApiError, ApiResult, ArrayDescriptor, BoxCopy, CaptureInfo, DriverApi, PitchedResource, RawEvent,
    RawFunction, RawGraph, RawGraphExec, RawHostFunction, RawPool, RawStream, ResourceDescriptor, Shape,
    TextureDescriptor, own_kernel,
};
use crate::images::{ImageFormat, TextureFormat, TextureSettings};
use crate::launch::Kernel;

/// What launchers need of a library beside what the launch layer does.
///
/// # Safety of the operations
/// That of [`DriverApi`].
pub(super) trait LauncherApi: DriverApi {
    /// [`Platform::thread_context`].
    fn thread_context(&'static self) -> Outcome<ContextHandle>;
    /// [`Platform::enter_stream`].
    unsafe fn enter_stream(&'static self, stream: RawStream) -> Outcome<EnteredContext>;
    /// [`Platform::leave`].
    fn leave_context(&'static self, previous: ContextHandle);
    /// [`Platform::device`].
    fn context_device(&'static self, context: ContextHandle) -> Outcome<Device>;

    fn device_count(&'static self) -> ApiResult<usize, Self>;
    /// The position of the current context's device.
    fn device_number(&'static self) -> Outcome<usize>;
    /// `number` is less than [`LauncherApi::device_count`].
    fn set_device(&'static self, number: c_int) -> Outcome;
    /// The device is one of [`LauncherApi::device_count`]. The number of the attribute is CUDA's.
    fn device_attribute(&'static self, attribute: c_uint, number: c_int) -> Outcome<c_int>;

    /// The device is one of [`LauncherApi::device_count`].
    fn device_name(&'static self, number: c_int) -> Outcome<String>;
    /// The device is one of [`LauncherApi::device_count`].
    fn device_memory(&'static self, number: c_int) -> Outcome<usize>;
    fn version(&'static self) -> Outcome<c_int>;
    /// The device is one of [`LauncherApi::device_count`].
    fn device_pci_address(&'static self, number: c_int) -> Outcome<String>;
    /// The devices are of [`LauncherApi::device_count`].
    fn can_access(&'static self, number: c_int, peer: c_int) -> Outcome<bool>;
    /// The device is one of [`LauncherApi::device_count`].
    fn enable_access(&'static self, peer: c_int) -> Outcome;
    /// As above.
    fn disable_access(&'static self, peer: c_int) -> Outcome;
    unsafe fn set_limit(&'static self, limit: c_uint, value: usize) -> ApiResult<(), Self>;
    unsafe fn read_limit(&'static self, value: *mut usize, limit: c_uint) -> ApiResult<(), Self>;
    /// [`Platform::pointer_attributes`].
    fn pointer_attributes(&'static self, memory: *mut c_void) -> Outcome<PointerAttributes>;
    /// The device is one of [`LauncherApi::device_count`].
    fn device_pool(&'static self, number: c_int) -> Outcome<RawPool>;
    /// As above.
    fn default_device_pool(&'static self, number: c_int) -> Outcome<RawPool>;

    unsafe fn create_stream_with(&'static self, stream: *mut RawStream, flags: c_uint)
    -> ApiResult<(), Self>;
    unsafe fn query_stream(&'static self, stream: RawStream) -> ApiResult<(), Self>;
    unsafe fn read_stream_flags(&'static self, stream: RawStream, flags: *mut c_uint) -> ApiResult<(), Self>;
    unsafe fn create_event_with(&'static self, event: *mut RawEvent, flags: c_uint) -> ApiResult<(), Self>;

    unsafe fn begin_capture_in(&'static self, stream: RawStream, mode: c_uint) -> ApiResult<(), Self>;
    /// Writes the mode before.
    unsafe fn exchange_capture_mode(&'static self, mode: *mut c_uint) -> ApiResult<(), Self>;
    unsafe fn instantiate_graph_with(
        &'static self,
        executable: *mut RawGraphExec,
        graph: RawGraph,
        flags: c_ulonglong,
    ) -> ApiResult<(), Self>;
    /// Writes what the update came to, also if it fails.
    unsafe fn update_executable(
        &'static self,
        executable: RawGraphExec,
        graph: RawGraph,
        update: &mut GraphUpdate,
    ) -> ApiResult<(), Self>;

    unsafe fn allocate_in_order(
        &'static self,
        address: *mut u64,
        size: usize,
        stream: RawStream,
    ) -> ApiResult<(), Self>;
    unsafe fn copy_any(&'static self, copy: Copy) -> ApiResult<(), Self>;
    unsafe fn copy_any_in_order(&'static self, copy: Copy, stream: RawStream) -> ApiResult<(), Self>;
    unsafe fn copy_rows_in_order(&'static self, copy: RowsCopy, stream: RawStream) -> ApiResult<(), Self>;
    unsafe fn allocate_managed(
        &'static self,
        address: *mut u64,
        size: usize,
        flags: c_uint,
    ) -> ApiResult<(), Self>;

    unsafe fn lock_memory(
        &'static self,
        memory: *mut c_void,
        size: usize,
        flags: c_uint,
    ) -> ApiResult<(), Self>;
    unsafe fn unlock_memory(&'static self, memory: *mut c_void) -> ApiResult<(), Self>;

    unsafe fn set_function_attribute(
        &'static self,
        function: RawFunction,
        attribute: c_uint,
        value: c_int,
    ) -> ApiResult<(), Self>;
    unsafe fn set_cache(&'static self, function: RawFunction, cache: c_uint) -> ApiResult<(), Self>;
    unsafe fn occupancy(
        &'static self,
        blocks: *mut c_int,
        function: RawFunction,
        block: Block,
        flags: c_uint,
    ) -> ApiResult<(), Self>;
    unsafe fn launch_cooperative(
        &'static self,
        function: RawFunction,
        configuration: &Configuration,
        arguments: *mut *mut c_void,
    ) -> ApiResult<(), Self>;
}

/// The GPUs of a library.
#[derive(Debug)]
pub(super) struct GpuPlatform<A: LauncherApi> {
    api: &'static A,
}

impl<A: LauncherApi> GpuPlatform<A> {
    /// Refuses a device that the library does not show.
    fn check_device(&self, number: c_int) -> Outcome {
        let count = self.api.device_count()?;
        match usize::try_from(number) {
            Ok(number) if number < count => Ok(()),
            _ => {
                let problem = format!("there is no device {number}: {} shows {count}", A::INTERFACE);
                Err(Failure::new(INVALID_DEVICE, problem))
            }
        }
    }
}

/// A launch that opts in to no shared memory: host functions do that themselves.
fn shape(configuration: &Configuration) -> Shape {
    let Configuration { grid, block, shared, .. } = *configuration;
    Shape { grid: [grid.x, grid.y, grid.z], block: [block.x, block.y, block.z], shared, opt_in: None }
}

fn function<A: LauncherApi>(kernel: &Kernel) -> Outcome<RawFunction> {
    Ok(own_kernel::<A>(kernel)?.raw())
}

impl<A: LauncherApi> Platform for GpuPlatform<A> {
    fn thread_context(&'static self) -> Outcome<ContextHandle> {
        self.api.thread_context()
    }

    unsafe fn enter_stream(&'static self, stream: StreamHandle) -> Outcome<EnteredContext> {
        // SAFETY: the contract is the same.
        unsafe { self.api.enter_stream(stream.cast()) }
    }

    fn leave(&'static self, previous: ContextHandle) {
        self.api.leave_context(previous);
    }

    fn device(&'static self, context: ContextHandle) -> Outcome<Device> {
        self.api.context_device(context)
    }

    fn device_count(&'static self) -> Outcome<c_int> {
        Ok(c_int::try_from(self.api.device_count()?).unwrap_or(c_int::MAX))
    }

    fn device_number(&'static self) -> Outcome<c_int> {
        Ok(c_int::try_from(self.api.device_number()?).unwrap_or(c_int::MAX))
    }

    fn set_device(&'static self, number: c_int) -> Outcome {
        self.check_device(number)?;
        self.api.set_device(number)
    }

    fn device_attribute(&'static self, attribute: c_uint, number: c_int) -> Outcome<c_int> {
        self.check_device(number)?;
        self.api.device_attribute(attribute, number)
    }

    fn device_name(&'static self, number: c_int) -> Outcome<String> {
        self.check_device(number)?;
        self.api.device_name(number)
    }

    fn device_memory(&'static self, number: c_int) -> Outcome<usize> {
        self.check_device(number)?;
        self.api.device_memory(number)
    }

    fn version(&'static self) -> Outcome<c_int> {
        LauncherApi::version(self.api)
    }

    fn pci_address(&'static self, number: c_int) -> Outcome<String> {
        self.check_device(number)?;
        self.api.device_pci_address(number)
    }

    fn can_access_peer(&'static self, number: c_int, peer: c_int) -> Outcome<bool> {
        self.check_device(number)?;
        self.check_device(peer)?;
        self.api.can_access(number, peer)
    }

    fn enable_peer_access(&'static self, peer: c_int) -> Outcome {
        self.check_device(peer)?;
        self.api.enable_access(peer)
    }

    fn disable_peer_access(&'static self, peer: c_int) -> Outcome {
        self.check_device(peer)?;
        self.api.disable_access(peer)
    }

    fn set_limit(&'static self, limit: c_uint, value: usize) -> Outcome {
        // SAFETY: a context is current.
        Ok(unsafe { self.api.set_limit(limit, value) }?)
    }

    fn limit(&'static self, limit: c_uint) -> Outcome<usize> {
        let mut value = 0;
        // SAFETY: a context is current; the function writes one number.
        unsafe { self.api.read_limit(&raw mut value, limit) }?;
        Ok(value)
    }

    unsafe fn create_pool(&'static self, properties: *const c_void) -> Outcome<PoolHandle> {
        let mut pool = ptr::null_mut();
        // SAFETY: by the contract; the structure is the library's own, and the function writes one handle.
        unsafe { self.api.create_pool(&raw mut pool, properties.cast()) }?;
        Ok(pool.cast())
    }

    unsafe fn destroy_pool(&'static self, pool: PoolHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.destroy_pool(pool.cast()) }?)
    }

    unsafe fn set_pool_access(
        &'static self,
        pool: PoolHandle,
        accesses: *const c_void,
        count: usize,
    ) -> Outcome {
        // SAFETY: by the contract; the structure is the library's own.
        Ok(unsafe { self.api.set_pool_access(pool.cast(), accesses.cast(), count) }?)
    }

    unsafe fn trim_pool(&'static self, pool: PoolHandle, kept: usize) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.trim_pool(pool.cast(), kept) }?)
    }

    unsafe fn pool_attribute(
        &'static self,
        pool: PoolHandle,
        attribute: c_uint,
        value: *mut c_void,
    ) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.pool_attribute(pool.cast(), attribute, value) }?)
    }

    unsafe fn allocate_from_pool(
        &'static self,
        size: usize,
        pool: PoolHandle,
        stream: StreamHandle,
    ) -> Outcome<*mut c_void> {
        let mut address = 0;
        // SAFETY: by the contract; the function writes one number.
        unsafe { self.api.allocate_from_pool(&raw mut address, size, pool.cast(), stream.cast()) }?;
        Ok(pointer(address))
    }

    fn pool(&'static self, number: c_int) -> Outcome<PoolHandle> {
        self.check_device(number)?;
        Ok(self.api.device_pool(number)?.cast())
    }

    fn default_pool(&'static self, number: c_int) -> Outcome<PoolHandle> {
        self.check_device(number)?;
        Ok(self.api.default_device_pool(number)?.cast())
    }

    unsafe fn set_pool_attribute(
        &'static self,
        pool: PoolHandle,
        attribute: c_uint,
        value: *mut c_void,
    ) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.set_pool_attribute(pool.cast(), attribute, value) }?)
    }

    fn synchronize(&'static self) -> Outcome {
        // SAFETY: a context is current.
        Ok(unsafe { self.api.synchronize() }?)
    }

    fn create_stream(&'static self, flags: c_uint) -> Outcome<StreamHandle> {
        let mut stream = ptr::null_mut();
        // SAFETY: a context is current; the function writes one handle.
        unsafe { self.api.create_stream_with(&raw mut stream, flags) }?;
        Ok(stream.cast())
    }

    unsafe fn destroy_stream(&'static self, stream: StreamHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.destroy_stream(stream.cast()) }?)
    }

    unsafe fn synchronize_stream(&'static self, stream: StreamHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.synchronize_stream(stream.cast()) }?)
    }

    unsafe fn query_stream(&'static self, stream: StreamHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.query_stream(stream.cast()) }?)
    }

    unsafe fn stream_flags(&'static self, stream: StreamHandle) -> Outcome<c_uint> {
        let mut flags = 0;
        // SAFETY: by the contract; the function writes one number.
        unsafe { self.api.read_stream_flags(stream.cast(), &raw mut flags) }?;
        Ok(flags)
    }

    unsafe fn call_in_order(
        &'static self,
        stream: StreamHandle,
        function: RawHostFunction,
        data: *mut c_void,
    ) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.add_host_node(stream.cast(), function, data) }?)
    }

    unsafe fn wait_event(&'static self, stream: StreamHandle, event: EventHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.wait_event(stream.cast(), event.cast()) }?)
    }

    fn create_event(&'static self, flags: c_uint) -> Outcome<EventHandle> {
        let mut event = ptr::null_mut();
        // SAFETY: a context is current; the function writes one handle.
        unsafe { self.api.create_event_with(&raw mut event, flags) }?;
        Ok(event.cast())
    }

    unsafe fn destroy_event(&'static self, event: EventHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.destroy_event(event.cast()) }?)
    }

    unsafe fn record_event(&'static self, event: EventHandle, stream: StreamHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.record_event(event.cast(), stream.cast()) }?)
    }

    unsafe fn query_event(&'static self, event: EventHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.query_event(event.cast()) }?)
    }

    unsafe fn synchronize_event(&'static self, event: EventHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.synchronize_event(event.cast()) }?)
    }

    unsafe fn elapsed_time(&'static self, start: EventHandle, end: EventHandle) -> Outcome<f32> {
        let mut milliseconds = 0.0;
        // SAFETY: by the contract; the function writes one number.
        unsafe { self.api.elapsed_time(&raw mut milliseconds, start.cast(), end.cast()) }?;
        Ok(milliseconds)
    }

    unsafe fn begin_capture(&'static self, stream: StreamHandle, mode: c_uint) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.begin_capture_in(stream.cast(), mode) }?)
    }

    unsafe fn end_capture(&'static self, stream: StreamHandle) -> Outcome<GraphHandle> {
        let mut graph = ptr::null_mut();
        // SAFETY: by the contract; the function writes one handle.
        unsafe { self.api.end_capture(stream.cast(), &raw mut graph) }?;
        Ok(graph.cast())
    }

    unsafe fn capture_status(&'static self, stream: StreamHandle) -> Outcome<c_uint> {
        let mut info = CaptureInfo::empty();
        // SAFETY: by the contract; the function writes all of `info`.
        unsafe { self.api.capture_info(stream.cast(), &mut info) }?;
        Ok(info.status)
    }

    fn exchange_capture_mode(&'static self, mode: c_uint) -> Outcome<c_uint> {
        let mut exchanged = mode;
        // SAFETY: the function writes one number.
        unsafe { self.api.exchange_capture_mode(&raw mut exchanged) }?;
        Ok(exchanged)
    }

    unsafe fn instantiate_graph(
        &'static self,
        graph: GraphHandle,
        flags: c_ulonglong,
    ) -> Outcome<GraphExecHandle> {
        let mut executable = ptr::null_mut();
        // SAFETY: by the contract; the function writes one handle.
        unsafe { self.api.instantiate_graph_with(&raw mut executable, graph.cast(), flags) }?;
        Ok(executable.cast())
    }

    /// Without the function, and after its error, programs instantiate again.
    unsafe fn update_graph(
        &'static self,
        executable: GraphExecHandle,
        graph: GraphHandle,
    ) -> Outcome<GraphUpdate> {
        let mut update = GraphUpdate::with_result(UPDATE_SUCCESS);
        // SAFETY: by the contract.
        match unsafe { self.api.update_executable(executable.cast(), graph.cast(), &mut update) } {
            Ok(()) => Ok(update),
            Err(ApiError::Lacks(..)) => Ok(GraphUpdate::with_result(UPDATE_NOT_SUPPORTED)),
            Err(_) if update.result != UPDATE_SUCCESS => Ok(update),
            Err(error) => Err(error.into()),
        }
    }

    unsafe fn launch_graph(&'static self, executable: GraphExecHandle, stream: StreamHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.launch_graph(executable.cast(), stream.cast()) }?)
    }

    unsafe fn destroy_graph(&'static self, graph: GraphHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.destroy_graph(graph.cast()) }?)
    }

    unsafe fn destroy_graph_exec(&'static self, executable: GraphExecHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.destroy_graph_exec(executable.cast()) }?)
    }

    fn memory_info(&'static self) -> Outcome<MemoryInfo> {
        let mut info = MemoryInfo { free: 0, total: 0 };
        // SAFETY: a context is current; the function writes two numbers.
        unsafe { self.api.memory_info(&raw mut info.free, &raw mut info.total) }?;
        Ok(info)
    }

    fn allocate(&'static self, size: usize) -> Outcome<*mut c_void> {
        let mut address = 0;
        // SAFETY: a context is current; the function writes one number.
        unsafe { self.api.allocate(&raw mut address, size) }?;
        Ok(pointer(address))
    }

    unsafe fn allocate_in_order(&'static self, size: usize, stream: StreamHandle) -> Outcome<*mut c_void> {
        let mut address = 0;
        // SAFETY: by the contract; the function writes one number.
        unsafe { self.api.allocate_in_order(&raw mut address, size, stream.cast()) }?;
        Ok(pointer(address))
    }

    fn allocate_managed(&'static self, size: usize, flags: c_uint) -> Outcome<*mut c_void> {
        let mut address = 0;
        // SAFETY: a context is current; the function writes one number.
        unsafe { self.api.allocate_managed(&raw mut address, size, flags) }?;
        Ok(pointer(address))
    }

    unsafe fn free(&'static self, memory: *mut c_void) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.free(address(memory)) }?)
    }

    unsafe fn free_in_order(&'static self, memory: *mut c_void, stream: StreamHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.free_in_order(address(memory), stream.cast()) }?)
    }

    fn allocate_host(&'static self, size: usize) -> Outcome<*mut c_void> {
        let mut memory = ptr::null_mut();
        // SAFETY: a context is current; the function writes one pointer.
        unsafe { self.api.allocate_host(&raw mut memory, size) }?;
        Ok(memory)
    }

    unsafe fn free_host(&'static self, memory: *mut c_void) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.free_host(memory) }?)
    }

    unsafe fn lock_host(&'static self, memory: *mut c_void, size: usize, flags: c_uint) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.lock_memory(memory, size, flags) }?)
    }

    unsafe fn unlock_host(&'static self, memory: *mut c_void) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.unlock_memory(memory) }?)
    }

    fn pointer_attributes(&'static self, memory: *mut c_void) -> Outcome<PointerAttributes> {
        self.api.pointer_attributes(memory)
    }

    unsafe fn copy(&'static self, copy: Copy) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.copy_any(copy) }?)
    }

    unsafe fn copy_in_order(&'static self, copy: Copy, stream: StreamHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.copy_any_in_order(copy, stream.cast()) }?)
    }

    unsafe fn copy_rows_in_order(&'static self, copy: RowsCopy, stream: StreamHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.copy_rows_in_order(copy, stream.cast()) }?)
    }

    unsafe fn fill_in_order(&'static self, fill: Fill, stream: StreamHandle) -> Outcome {
        let Fill { to, value, size } = fill;
        // SAFETY: by the contract.
        Ok(unsafe { self.api.fill_u8(address(to), value, size, stream.cast()) }?)
    }

    fn create_array(&'static self, form: &ArrayForm) -> Outcome<ArrayHandle> {
        let TextureFormat { channels, code, .. } = texture_format(form.format)?;
        let Extent { width, height, depth } = form.extent;
        let descriptor = ArrayDescriptor { width, height, depth, format: code, channels, flags: form.flags };
        let mut array = ptr::null_mut();
        // SAFETY: a context is current; the function reads the descriptor, and writes one handle.
        unsafe { self.api.create_array(&raw mut array, &descriptor) }?;
        Ok(array.cast())
    }

    unsafe fn destroy_array(&'static self, array: ArrayHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.destroy_array(array.cast()) }?)
    }

    unsafe fn copy_box_in_order(&'static self, copy: &BoxCopy, stream: StreamHandle) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.copy_box(copy, stream.cast()) }?)
    }

    unsafe fn create_texture(
        &'static self,
        source: &TextureSource,
        settings: &TextureSettings,
    ) -> Outcome<u64> {
        let format = texture_format(source.format)?;
        let resource = match source.elements {
            TextureElements::Array { array, .. } => ResourceDescriptor::for_array(array.cast()),
            TextureElements::Linear { start, size } => {
                ResourceDescriptor::for_memory(address(start), size, format)
            }
            TextureElements::Pitched { start, width, height, pitch } => {
                let rows = PitchedResource {
                    address: address(start),
                    format: format.code,
                    channels: format.channels,
                    width,
                    height,
                    pitch,
                };
                ResourceDescriptor::for_rows(rows)
            }
        };
        let mut texture = 0;
        // SAFETY: by the contract; the function writes one number.
        unsafe {
            self.api.create_texture(&raw mut texture, &resource, &TextureDescriptor::new(settings, format))
        }?;
        Ok(texture)
    }

    unsafe fn destroy_texture(&'static self, texture: u64) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.destroy_texture(texture) }?)
    }

    unsafe fn create_surface(&'static self, array: ArrayHandle, _: &ArrayForm) -> Outcome<u64> {
        let mut surface = 0;
        let resource = ResourceDescriptor::for_array(array.cast());
        // SAFETY: by the contract; the function writes one number.
        unsafe { self.api.create_surface(&raw mut surface, &resource) }?;
        Ok(surface)
    }

    unsafe fn destroy_surface(&'static self, surface: u64) -> Outcome {
        // SAFETY: by the contract.
        Ok(unsafe { self.api.destroy_surface(surface) }?)
    }

    fn function_attribute(&'static self, kernel: &Kernel, attribute: c_uint) -> Outcome<c_int> {
        let function = function::<A>(kernel)?;
        let mut value = 0;
        // SAFETY: the kernel is loaded in the current context; the function writes one number.
        unsafe { self.api.function_attribute(&raw mut value, attribute, function) }?;
        Ok(value)
    }

    fn set_function_attribute(&'static self, kernel: &Kernel, attribute: c_uint, value: c_int) -> Outcome {
        let function = function::<A>(kernel)?;
        // SAFETY: the kernel is loaded in the current context.
        Ok(unsafe { self.api.set_function_attribute(function, attribute, value) }?)
    }

    fn set_cache(&'static self, kernel: &Kernel, cache: c_uint) -> Outcome {
        let function = function::<A>(kernel)?;
        // SAFETY: the kernel is loaded in the current context.
        Ok(unsafe { self.api.set_cache(function, cache) }?)
    }

    fn occupancy(&'static self, kernel: &Kernel, block: Block, flags: c_uint) -> Outcome<c_int> {
        let function = function::<A>(kernel)?;
        let mut blocks = 0;
        // SAFETY: the kernel is loaded in the current context; the function writes one number.
        unsafe { self.api.occupancy(&raw mut blocks, function, block, flags) }?;
        Ok(blocks)
    }

    unsafe fn launch(
        &'static self,
        kernel: &Kernel,
        configuration: &Configuration,
        arguments: *mut *mut c_void,
    ) -> Outcome {
        let function = function::<A>(kernel)?;
        // SAFETY: by the contract.
        Ok(unsafe {
            self.api.launch(function, &shape(configuration), configuration.stream.cast(), arguments)
        }?)
    }

    unsafe fn launch_cooperative(
        &'static self,
        kernel: &Kernel,
        configuration: &Configuration,
        arguments: *mut *mut c_void,
    ) -> Outcome {
        let function = function::<A>(kernel)?;
        // SAFETY: by the contract.
        Ok(unsafe { self.api.launch_cooperative(function, configuration, arguments) }?)
    }

    fn result_name(&'static self, code: CudaError) -> Option<String> {
        self.api.name(u32::try_from(code).ok()?)
    }

    fn result_text(&'static self, code: CudaError) -> Option<String> {
        self.api.text(u32::try_from(code).ok()?)
    }
}

fn texture_format(format: ImageFormat) -> Outcome<TextureFormat> {
    TextureFormat::new(format)
        .map_err(|problem| Failure::with_error(INVALID_VALUE, Error::from_device("launchers", problem)))
}

/// A pointer in the library's form.
fn address(memory: *const c_void) -> u64 {
    memory.expose_provenance() as u64
}

fn pointer(address: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0))
}
